# SPDX-License-Identifier: BSD-3-Clause
"""What `export_llm` asks of OpenVINO (LANGUAGE_MODELS of exir/backend/lowering/manifest.py)."""

from __future__ import annotations

from typing import Any

from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.exir.backend.compile_spec_schema import CompileSpec

PREFIX = "openvino_"  # of the file's name


def partitioner(device: str = "CPU") -> OpenvinoPartitioner:
    return OpenvinoPartitioner([CompileSpec("device", device.encode())])


def partitioners(config: Any) -> list[Any]:
    return [partitioner(str(config.backend.openvino.device))]


def weight_quantizer(pt2e_quantize: str, group_size: int | None = 128) -> Any:
    """Weights of 4 bits in groups along a row (-1: a whole row), or of 8 bits by row."""
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


def quantizers(name: str) -> list[Any]:
    return [weight_quantizer(name)]


def quantize(config: Any, manager: Any) -> None:
    """By NNCF's flow, which may look at text."""
    from executorch.backends.openvino.quantizer import apply_nncf_data_aware_compression

    openvino = config.backend.openvino
    group = config.quantization.group_size or openvino.nncf_compression_group_size
    apply_nncf_data_aware_compression(
        manager,
        weight_quantizer(str(config.quantization.pt2e_quantize), group),
        openvino.openvino_awq,
        openvino.openvino_scale_estimation,
    )
    manager.model = manager.pre_autograd_graph_module
    manager.quantized = True
    manager.export()
