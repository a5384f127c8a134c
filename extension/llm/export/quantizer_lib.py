# SPDX-License-Identifier: BSD-3-Clause
"""Quantizers of captured graphs that an export asks for (`quantization.pt2e_quantize`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
    if so_library is not None:
        raise ValueError(
            "export.so_library: no library is needed here: operators are registered from Python; leave it out"
        )
    if quant_params is None or quant_params.quantize_linear is None:
        return []
    if quant_params.quantize_embedding is not None:
        raise ValueError(
            "embeddings of captured graphs stay in float; give quantization.embedding_quantize"
        )
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    wanted = quant_params.quantize_linear
    low = {"weight_qmin": -8, "weight_qmax": 7} if wanted.is_qc4 else {}
    config = get_symmetric_quantization_config(
        is_per_channel=wanted.is_per_channel, is_dynamic=True, **low
    )
    return [XNNPACKQuantizer().set_global(config)]


def get_ov_quantizer(pt2e_quantize: str, group_size: int | None = 128) -> Any:
    """OpenVINO's: weights of 4 bits in groups along a row (-1: a whole row), or of 8 bits by row."""
    from executorch.backends.openvino.quantizer import OpenVINOQuantizer, QuantizationMode

    if pt2e_quantize == "openvino_8wo":
        return OpenVINOQuantizer(mode=QuantizationMode.INT8WO_ASYM, group_size=-1)
    if pt2e_quantize != "openvino_4wo":
        raise ValueError(
            f"quantization.pt2e_quantize: expected openvino_4wo or openvino_8wo, found {pt2e_quantize!r}"
        )
    if group_size is None:
        raise ValueError(
            "quantization.group_size: expected a number of weights, -1 for a whole row"
        )
    return OpenVINOQuantizer(mode=QuantizationMode.INT4WO_SYM, group_size=group_size, ratio=1)
