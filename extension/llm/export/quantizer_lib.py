# SPDX-License-Identifier: BSD-3-Clause
"""Quantizers of captured graphs that an export asks for (`quantization.pt2e_quantize`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from executorch.extension.llm.export.config.llm_config import LlmConfig
from executorch.extension.llm.export.config.rules import pt2e_backend
from executorch.extension.llm.export.partitioner_lib import language_models


@dataclass
class EmbeddingQuantOptions:
    is_per_channel: bool = True
    group_size: int = -1

    def __post_init__(self) -> None:
        if self.group_size != -1 or not self.is_per_channel:
            raise RuntimeError(
                "embeddings of captured graphs are quantized per channel; quantization.embedding_quantize takes groups"
            )


@dataclass
class DynamicQuantLinearOptions:
    """`is_qc4`: weights of 4 bits, else of 8."""

    is_per_channel: bool = True
    is_qc4: bool = False


@dataclass
class PT2EQuantOptions:
    quantize_embedding: EmbeddingQuantOptions | None = None
    quantize_linear: DynamicQuantLinearOptions | None = None


def get_pt2e_quantization_params(
    pt2e_quantize: str | None = None, quantization_mode: str | None = None
) -> PT2EQuantOptions | None:
    """None where nothing is asked for. Raises ValueError for both ways at once, and for unknown names."""
    if pt2e_quantize is None:
        return None
    if quantization_mode:
        raise ValueError("give quantization.pt2e_quantize or quantization.qmode, not both")
    if pt2e_quantize not in ("xnnpack_dynamic", "xnnpack_dynamic_qc4"):
        raise ValueError(
            f"quantization.pt2e_quantize: expected xnnpack_dynamic or xnnpack_dynamic_qc4, found {pt2e_quantize!r}"
        )
    linear = DynamicQuantLinearOptions(is_qc4=pt2e_quantize.endswith("_qc4"))
    return PT2EQuantOptions(quantize_linear=linear)


def get_pt2e_quantizers(
    quant_params: PT2EQuantOptions | None, so_library: str | None = None
) -> list[Any]:
    """Dynamic quantization of linear layers for XNNPACK."""
    _check_no_library(so_library)
    if quant_params is None or quant_params.quantize_linear is None:
        return []
    if quant_params.quantize_embedding is not None:
        raise ValueError(
            "embeddings of captured graphs stay in float; give quantization.embedding_quantize"
        )
    wanted = quant_params.quantize_linear
    return language_models("xnnpack").linear_quantizers(wanted.is_per_channel, wanted.is_qc4)


def quantizers_for(config: LlmConfig) -> list[Any]:
    """Those of the backend whose name `quantization.pt2e_quantize` begins with."""
    _check_no_library(config.export.so_library)
    name = str(config.quantization.pt2e_quantize)
    return language_models(pt2e_backend(name)).quantizers(name)


def get_ov_quantizer(pt2e_quantize: str, group_size: int | None = 128) -> Any:
    """OpenVINO's: weights of 4 bits in groups along a row (-1: a whole row), or of 8 bits by row."""
    return language_models("openvino").weight_quantizer(pt2e_quantize, group_size)


def get_coreml_quantizer(pt2e_quantize: str) -> Any:
    """Core ML's of 8 bits (coreml_8a_c8w), or XNNPACK's for comparison (coreml_baseline_8a_c8w, ..._c4w)."""
    return language_models("coreml").quantizers(pt2e_quantize)[0]


def get_vulkan_quantizer(pt2e_quantize: str) -> Any:
    """Vulkan's: weights of 8 bits (vulkan_8w)."""
    return language_models("vulkan").quantizers(pt2e_quantize)[0]


def quantize(config: LlmConfig, manager: Any) -> None:
    """The captured graph, by the way of the backend whose quantizer is named, else by torchao's."""
    backend = language_models(pt2e_backend(str(config.quantization.pt2e_quantize)))
    if hasattr(backend, "quantize"):
        _check_no_library(config.export.so_library)
        backend.quantize(config, manager)
    else:
        manager.pt2e_quantize(quantizers_for(config))


def _check_no_library(so_library: str | None) -> None:
    if so_library is not None:
        raise ValueError(
            "export.so_library: no library is needed here: operators are registered from Python; leave it out"
        )
