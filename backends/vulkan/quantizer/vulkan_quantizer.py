# SPDX-License-Identifier: BSD-3-Clause
"""`VulkanQuantizer`: what the annotations of the table of ops make 8-bit. Linear layers with weights of 8 or 4 bits
and inputs that are float or quantized while running; with calibration also convolutions and what lies between."""

from __future__ import annotations

import functools

from torchao.quantization.pt2e.quantizer import QuantizationConfig

from executorch.backends.vulkan.aot.ops import TABLE
from executorch.exir.backend.lowering.quantizer.configs import limits_of, quantization_config
from executorch.exir.backend.lowering.quantizer.table_quantizer import TableQuantizer

__all__ = [
    "VulkanQuantizer",
    "get_static_quantization_config",
    "get_symmetric_quantization_config",
]

WEIGHT_BITS = (8, 4)
ACTIVATION_BITS = (8,)


@functools.lru_cache
def get_symmetric_quantization_config(
    is_dynamic: bool = False,
    weight_bits: int = 8,
    act_bits: int = 8,
    act_qmin: int | None = None,
    act_qmax: int | None = None,
    weight_qmin: int | None = None,
    weight_qmax: int | None = None,
) -> QuantizationConfig:
    """Weights with one scale per output channel. `is_dynamic`: inputs are quantized with what each run finds, otherwise
    they stay float. The least and largest stored values are those of the bits unless given."""
    _check("weight_bits", weight_bits, WEIGHT_BITS)
    _check("act_bits", act_bits, ACTIVATION_BITS)
    activation = _limits(act_bits, act_qmin, act_qmax) if is_dynamic else None
    weight = _limits(weight_bits, weight_qmin, weight_qmax)
    return quantization_config(activation, weight, is_per_channel=True, is_dynamic=is_dynamic)


@functools.lru_cache
def get_static_quantization_config(is_per_channel: bool = True) -> QuantizationConfig:
    """Weights and activations in 8 bits, by calibration: linear layers, convolutions, sums, and what lies between."""
    return quantization_config(is_per_channel=is_per_channel)


def _check(name: str, bits: int, known: tuple[int, ...]) -> None:
    if bits not in known:
        raise AssertionError(f"{name}: expected {' or '.join(map(str, known))}, found {bits}")


def _limits(bits: int, least: int | None, largest: int | None) -> tuple[int, int]:
    whole = limits_of(bits)
    return whole[0] if least is None else least, whole[1] if largest is None else largest


class VulkanQuantizer(TableQuantizer):
    """`set_global(get_symmetric_quantization_config())` for linear layers alone, of get_static_quantization_config()
    for whole networks."""

    table = TABLE

    @classmethod
    def get_supported_quantization_configs(cls) -> list[QuantizationConfig]:
        linear = [
            get_symmetric_quantization_config(is_dynamic=is_dynamic, weight_bits=bits)
            for is_dynamic in (False, True)
            for bits in WEIGHT_BITS
        ]
        return [*linear, *map(get_static_quantization_config, (True, False))]
