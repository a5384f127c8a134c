# SPDX-License-Identifier: BSD-3-Clause
# compat
from typing import Any

from executorch.extension.llm.quantization.weights import (
    EMBEDDING,
    LINEAR,
    bits_of,
    quantize_model_,
)

__all__ = ["quantize_model_"]


def _default_group_size(config_name: str | None) -> int:
    """0: a scale for each row."""
    return {**LINEAR, "nvfp4": 16}.get(config_name, 32)


def _make_embedding_config(config_name: str, group_size: int) -> Any:
    """torchao's, of the numbers that quantize_model_ makes."""
    from torchao.quantization.granularity import PerAxis, PerGroup
    from torchao.quantization.quant_api import IntxWeightOnlyConfig

    bits = bits_of("qembedding", EMBEDDING, config_name, group_size)
    return IntxWeightOnlyConfig(
        weight_dtype=bits.dtype,
        granularity=PerGroup(bits.group) if bits.group else PerAxis(0),
        intx_choose_qparams_algorithm="hqq_scale_only",
    )
