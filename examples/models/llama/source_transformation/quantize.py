# SPDX-License-Identifier: BSD-3-Clause
"""Weights in few bits under the names that other code imports; they live in extension/llm/quantization."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from torch import nn

from executorch.extension.llm.export.builder import DType
from executorch.extension.llm.formats.weight_bits import BY_TEXT, embedding_bits, linear_bits
from executorch.extension.llm.quantization.group_layers import (
    EmbeddingQuantHandler,
    QuantHandler,
    QuantizedGroupEmbedding,
    dynamically_quantize_per_channel,
)
from executorch.extension.llm.quantization.weights import quantize_embeddings, quantize_linears

__all__ = [
    "EmbeddingQuantHandler",
    "QuantHandler",
    "QuantizedGroupEmbedding",
    "dynamically_quantize_per_channel",
    "get_quant_embedding_transform",
    "get_quant_weight_transform",
]

Transform = Callable[[nn.Module], nn.Module]


def get_quant_weight_transform(
    quantization_mode: str,
    group_size: int | None = None,
    computation_dtype: DType | None = None,
    checkpoint_dtype: DType | None = None,
    checkpoint_path: Path | None = None,
    tokenizer_path: Path | None = None,
    calibration_tasks: list | None = None,
    calibration_limit: int | None = None,
    calibration_seq_length: int | None = None,
    quantize_with_hqq: bool = True,
) -> Transform:
    """Quantizes the linear layers of a model, as `quantization.qmode` does. Raises ValueError for an unknown mode, and
    for one that rounds by a text: `export_llm` has the text."""
    if quantization_mode.endswith(BY_TEXT):
        raise ValueError(
            f"{quantization_mode}: weights are rounded by a text; expected export_llm with quantization.qmode, "
            "which reads it"
        )
    wanted = linear_bits(quantization_mode, group_size)
    quantize = partial(quantize_linears, wanted=wanted, use_hqq=quantize_with_hqq)
    if computation_dtype is None:
        return quantize
    return lambda model: quantize(model.to(computation_dtype.to_torch_dtype()))


def get_quant_embedding_transform(
    embedding_quantize: str, use_shared_embedding: bool = False, quantize_with_hqq: bool = True
) -> Transform:
    """Quantizes the tables of embeddings, as `quantization.embedding_quantize` (`bits,group`) does."""
    if use_shared_embedding:
        raise ValueError(
            "use_shared_embedding: expected export_llm with model.use_shared_embedding, which packs the output "
            "layer with the table"
        )
    wanted = embedding_bits(embedding_quantize)
    return partial(quantize_embeddings, wanted=wanted, use_hqq=quantize_with_hqq)
