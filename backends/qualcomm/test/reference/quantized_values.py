# SPDX-License-Identifier: BSD-3-Clause
"""Values of tensors as they are stored, and as the numbers that encodings say they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import torch

from executorch.backends.qualcomm.aot.graph import DataType, Encoding, EncodingType, Tensor
from executorch.backends.test.graph_run import InvalidGraph

STORED = {
    DataType.INT_8: torch.int8,
    DataType.INT_16: torch.int16,
    DataType.INT_32: torch.int32,
    DataType.INT_64: torch.int64,
    DataType.UINT_8: torch.uint8,
    DataType.UINT_16: torch.uint16,
    DataType.UINT_32: torch.uint32,
    DataType.UINT_64: torch.uint64,
    DataType.FLOAT_16: torch.float16,
    DataType.FLOAT_32: torch.float32,
    DataType.SFIXED_POINT_8: torch.int8,
    DataType.SFIXED_POINT_16: torch.int16,
    DataType.SFIXED_POINT_32: torch.int32,
    DataType.UFIXED_POINT_8: torch.uint8,
    DataType.UFIXED_POINT_16: torch.uint16,
    DataType.UFIXED_POINT_32: torch.uint32,
    DataType.BOOL_8: torch.bool,
}
_BLOCKS = EncodingType.BLOCKWISE_EXPANSION
_PER_AXIS = (EncodingType.AXIS_SCALE_OFFSET, EncodingType.BW_AXIS_SCALE_OFFSET, _BLOCKS)
_FEWER_BITS = (EncodingType.BW_SCALE_OFFSET, EncodingType.BW_AXIS_SCALE_OFFSET)


@dataclass(frozen=True)
class Factored:
    """values * scale, where values are integers if an encoding says how: a product of two such is exact before it is
    scaled."""

    values: torch.Tensor
    scale: torch.Tensor | float = 1.0


def kind(dtype: DataType) -> str:
    """Quantized values are numbers of floats."""
    if dtype is DataType.BOOL_8:
        return "bool"
    return "float" if dtype.is_quantized or dtype.name.startswith("FLOAT") else "integer"


def limits(dtype: DataType, encoding: Encoding | None = None) -> tuple[int, int]:
    bits = 8 * dtype.num_bytes
    if encoding is not None and encoding.type in _FEWER_BITS:
        bits = encoding.bitwidth
    signed = dtype.name.startswith(("S", "I"))
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def check_encoding(tensor: Tensor) -> None:
    """That the tensor has the encoding that its type asks for, and that all of it can be used."""
    encoding, where = tensor.encoding, f"tensor {tensor.name}"
    if tensor.dtype.is_quantized != (encoding is not None):
        wanted = "an encoding" if tensor.dtype.is_quantized else "no encoding"
        raise InvalidGraph(where, f"{wanted} of {tensor.dtype.name}", encoding)
    if encoding is None:
        return
    if encoding.type not in (EncodingType.SCALE_OFFSET, *_PER_AXIS, *_FEWER_BITS):
        raise InvalidGraph(where, "an encoding by scale and offset", encoding.type.name)
    count, axis = 1, encoding.axis
    if encoding.type in _PER_AXIS:
        if axis is None or not 0 <= axis < len(tensor.dims):
            raise InvalidGraph(f"{where}: encoding", f"an axis of {tensor.dims}", axis)
        count = tensor.dims[axis]
    elif axis is not None:
        raise InvalidGraph(f"{where}: encoding", f"no axis of {encoding.type.name}", axis)
    for name, found in (("scales", encoding.scales), ("offsets", encoding.offsets)):
        if len(found) != count:
            raise InvalidGraph(f"{where}: encoding", f"{count} {name}", len(found))
    if not all(0 < scale < float("inf") for scale in encoding.scales):
        raise InvalidGraph(f"{where}: encoding", "scales above 0", encoding.scales)
    if encoding.type is _BLOCKS:
        _check_blocks(where, tensor)
        return
    most = 8 * tensor.dtype.num_bytes
    bits = encoding.bitwidth
    if not (1 < bits < most if encoding.type in _FEWER_BITS else bits == 0):
        raise InvalidGraph(f"{where}: bits of {encoding.type.name}", f"2 to {most - 1}, or 0", bits)


def _check_blocks(where: str, tensor: Tensor) -> None:
    """Multiples of a channel's scale, of as many bits as the encoding says that they have, 0 for none."""
    encoding = tensor.encoding
    along = prod(tensor.dims) // tensor.dims[encoding.axis]
    found = len(encoding.block_scales)
    if found == 0 or found % len(encoding.scales) or along % (found // len(encoding.scales)):
        raise InvalidGraph(
            f"{where}: encoding", f"blocks of one size in {along} values", f"{found} scales"
        )
    most = 1 << encoding.bitwidth
    if not all(1 <= each <= most for each in encoding.block_scales):
        raise InvalidGraph(f"{where}: scales of blocks", f"1 to {most}", max(encoding.block_scales))


def number_of(tensor: Tensor, stored: torch.Tensor, real: torch.dtype) -> torch.Tensor:
    """What the stored values stand for: int64, bool, or floats of type `real`."""
    if tensor.encoding is not None:
        scale, offset = scale_and_offset(tensor)
        return ((_integers(tensor, stored) + offset).double() * scale).to(real)
    return stored.to(
        {"bool": torch.bool, "integer": torch.int64, "float": real}[kind(tensor.dtype)]
    )


def factored(tensor: Tensor, stored: torch.Tensor, real: torch.dtype, axis: int) -> Factored:
    """`axis`: the one along which scales may differ and the product can still be scaled last."""
    encoding = tensor.encoding
    is_common = encoding is not None and encoding.axis in (None, axis % len(tensor.dims))
    if not is_common or encoding.type is _BLOCKS:
        return Factored(number_of(tensor, stored, real))
    _, offset = scale_and_offset(tensor)
    scales = torch.tensor(encoding.scales, dtype=torch.float64)
    return Factored((_integers(tensor, stored) + offset).to(real), scales)


def stored_of(tensor: Tensor, numbers: torch.Tensor) -> torch.Tensor:
    """The nearest that the tensor can hold; of two as near, the even one."""
    dtype = STORED[tensor.dtype]
    if tensor.encoding is None:
        return numbers.to(dtype)
    scale, offset = scale_and_offset(tensor)
    nearest = torch.round(numbers.double() / scale) - offset
    return nearest.clamp(*limits(tensor.dtype, tensor.encoding)).to(torch.int64).to(dtype)


def scale_and_offset(tensor: Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Of shapes that broadcast to the tensor's."""
    encoding = tensor.encoding
    shape = [1] * len(tensor.dims)
    if encoding.axis is not None:
        shape[encoding.axis] = -1
    scales = torch.tensor(encoding.scales, dtype=torch.float64)
    offsets = torch.tensor(encoding.offsets).reshape(shape)
    if encoding.type is not _BLOCKS:
        return scales.reshape(shape), offsets
    # Blocks follow one another along all that an index of the axis has.
    multiples = torch.frombuffer(bytearray(encoding.block_scales), dtype=torch.uint8)
    each = scales[:, None] * multiples.reshape(len(scales), -1)
    others = [size for dim, size in enumerate(tensor.dims) if dim != encoding.axis]
    each = each.repeat_interleave(prod(others) // each.shape[1], 1)
    return each.reshape(-1, *others).movedim(0, encoding.axis), offsets


def _integers(tensor: Tensor, stored: torch.Tensor) -> torch.Tensor:
    """Those in fewer bits have their sign at the top of these."""
    integers, encoding = stored.to(torch.int64), tensor.encoding
    if encoding.type not in _FEWER_BITS:
        return integers
    least, _ = limits(tensor.dtype, encoding)
    low = integers & ((1 << encoding.bitwidth) - 1)
    return ((low - least) & ((1 << encoding.bitwidth) - 1)) + least if least else low
