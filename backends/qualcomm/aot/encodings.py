# SPDX-License-Identifier: BSD-3-Clause
"""Which type and encoding a tensor has: by its dtype, or by the qparams of a quantized value."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.qualcomm.aot.graph import DataType, Encoding, EncodingType
from executorch.exir.backend.lowering.quantized import Quantization

# Of 64 bits there is nothing inside of a graph: integers have 32 there, floats of 64 are not taken.
TYPES = {
    torch.float32: DataType.FLOAT_32,
    torch.float16: DataType.FLOAT_16,
    torch.bool: DataType.BOOL_8,
    torch.int8: DataType.INT_8,
    torch.int16: DataType.INT_16,
    torch.int32: DataType.INT_32,
    torch.int64: DataType.INT_32,
    torch.uint8: DataType.UINT_8,
    torch.uint16: DataType.UINT_16,
}
_STORED = {8: torch.int8, 16: torch.int16, 32: torch.int32}
_STORED_UNSIGNED = {8: torch.uint8, 16: torch.uint16}
_BITS_4, _BITS_2 = 15, 3  # values less one


def quantized_type(qparams: Quantization) -> DataType:
    """Of as many bits as the limits need; signed where one is below 0."""
    sign = "U" if qparams.quant_min >= 0 else "S"
    return DataType[f"{sign}FIXED_POINT_{_bits(qparams)}"]


def _bits(qparams: Quantization) -> int:
    width = qparams.quant_max - qparams.quant_min
    return 8 if width <= 255 else 16 if width <= 65535 else 32


def encoding_of(
    qparams: Quantization, constants: Mapping[Node, Tensor], axis: int | None = None
) -> Encoding:
    """`axis`: where the one of the qparams stands in the tensor that is written, if they have one."""
    scales = _numbers(qparams.scale, constants)
    points = _numbers(qparams.zero_point or 0, constants)
    offsets = tuple(-int(point) for point in points)
    if len(offsets) < len(scales):
        offsets *= len(scales)
    bitwidth = _bitwidth(qparams)
    if qparams.axis is None:
        kind = EncodingType.BW_SCALE_OFFSET if bitwidth else EncodingType.SCALE_OFFSET
        return Encoding(kind, scales, offsets, None, bitwidth)
    kind = EncodingType.BW_AXIS_SCALE_OFFSET if bitwidth else EncodingType.AXIS_SCALE_OFFSET
    return Encoding(kind, scales, offsets, qparams.axis if axis is None else axis, bitwidth)


def _bitwidth(qparams: Quantization) -> int:
    """Of int8 values that need fewer: 4, or with one scale for each channel 2; else 0."""
    if qparams.dtype != torch.int8:
        return 0
    width = qparams.quant_max - qparams.quant_min
    if width <= _BITS_2 and qparams.axis is not None:
        return 2
    return 4 if width <= _BITS_4 else 0


def stored_as(qparams: Quantization, values: Tensor) -> Tensor:
    """Quantized values in the elements of their type; those of fewer bits in the low bits."""
    bitwidth, bits = _bitwidth(qparams), _bits(qparams)
    stored = _STORED_UNSIGNED if qparams.quant_min >= 0 else _STORED
    made = values.to(stored.get(bits, torch.int32))
    return made & ((1 << bitwidth) - 1) if bitwidth else made


def _numbers(
    value: float | int | Node | Tensor, constants: Mapping[Node, Tensor]
) -> tuple[float, ...]:
    found = constants[value] if isinstance(value, Node) else value
    return tuple(torch.as_tensor(found, dtype=torch.float64).flatten().tolist())
