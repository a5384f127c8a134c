# SPDX-License-Identifier: BSD-3-Clause
"""What `export_llm` asks of XNNPACK (LANGUAGE_MODELS of exir/backend/lowering/manifest.py)."""

from __future__ import annotations

from typing import Any

from executorch.backends.xnnpack.partition.xnnpack_partitioner import (
    XnnpackDynamicallyQuantizedPartitioner,
    XnnpackPartitioner,
)
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)

KEEPS_BLOCKS = True  # of GGUF: their operators stay on the CPU
# quantization.pt2e_quantize -> whether weights have 4 bits, else 8
_PT2E = {"xnnpack_dynamic": False, "xnnpack_dynamic_qc4": True}


def partitioner(dynamic_quant_only_partitioner: bool = True) -> Any:
    if dynamic_quant_only_partitioner:
        return XnnpackDynamicallyQuantizedPartitioner()
    return XnnpackPartitioner()


def partitioners(config: Any) -> list[Any]:
    """Quantized linear layers, which are none where a GGUF file's quantization is kept; all that it can where
    `extended_ops` asks, or nothing is quantized."""
    quantization = config.quantization
    quantized = not quantization.floats or quantization.pt2e_quantize or config.base.preq_mode
    found = [partitioner()] if quantized and not quantization.own_bits else []
    if config.backend.xnnpack.extended_ops or not quantized:
        found.append(partitioner(dynamic_quant_only_partitioner=False))
    return found


def quantizers(name: str) -> list[Any]:
    if name not in _PT2E:
        raise ValueError(
            f"quantization.pt2e_quantize: expected {' or '.join(_PT2E)}, found {name!r}"
        )
    return linear_quantizers(is_per_channel=True, is_qc4=_PT2E[name])


def linear_quantizers(is_per_channel: bool, is_qc4: bool) -> list[Any]:
    """Linear layers, which quantize their inputs while running."""
    low = {"weight_qmin": -8, "weight_qmax": 7} if is_qc4 else {}
    config = get_symmetric_quantization_config(
        is_per_channel=is_per_channel, is_dynamic=True, **low
    )
    return [XNNPACKQuantizer().set_global(config)]
