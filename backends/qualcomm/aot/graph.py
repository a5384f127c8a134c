# SPDX-License-Identifier: BSD-3-Clause
"""The boundary: a graph as plain data, of the operators, parameters, tensors and encodings of QNN's public documents.

Rows write it; the SDK's binding, a recorder or an evaluator reads it. Numbers of enums are those of the SDK."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import torch

PACKAGE = "qti.aisw"  # of the operators that come with the SDK


class DataType(IntEnum):
    INT_8 = 8
    INT_16 = 22
    INT_32 = 50
    INT_64 = 100
    UINT_8 = 264
    UINT_16 = 278
    UINT_32 = 306
    UINT_64 = 356
    FLOAT_16 = 534
    FLOAT_32 = 562
    SFIXED_POINT_8 = 776
    SFIXED_POINT_16 = 790
    SFIXED_POINT_32 = 818
    UFIXED_POINT_8 = 1032
    UFIXED_POINT_16 = 1046
    UFIXED_POINT_32 = 1074
    BOOL_8 = 1288
    UNDEFINED = 0x7FFFFFFF

    @property
    def num_bytes(self) -> int:
        """Of one value."""
        return int(self.name.rpartition("_")[2]) // 8

    @property
    def is_quantized(self) -> bool:
        return "FIXED_POINT" in self.name


class TensorType(IntEnum):
    APP_WRITE = 0  # an input of the graph
    APP_READ = 1  # an output
    APP_READWRITE = 2
    NATIVE = 3  # between operators
    STATIC = 4  # a constant
    NULL = 5


class EncodingType(IntEnum):
    SCALE_OFFSET = 0
    AXIS_SCALE_OFFSET = 1
    BW_SCALE_OFFSET = 2  # fewer bits than the type has
    BW_AXIS_SCALE_OFFSET = 3
    BLOCKWISE_EXPANSION = 5


@dataclass(frozen=True)
class Encoding:
    """value = scale * (quantized + offset), with one scale and offset, or one for each index of `axis`. `bitwidth`: of
    the BW types; 0 for all that the tensor's type has.

    Of BLOCKWISE_EXPANSION what an index of the axis has is cut into blocks of as many values, and `block_scales` are
    bytes by which the scale is multiplied, one for each block, index by index."""

    type: EncodingType
    scales: tuple[float, ...]
    offsets: tuple[int, ...]
    axis: int | None = None
    bitwidth: int = 0
    block_scales: bytes = b""

    @property
    def num_blocks(self) -> int:
        """Of an index of the axis."""
        return len(self.block_scales) // len(self.scales)


@dataclass(frozen=True)
class Tensor:
    """`data`: of STATIC ones, dense in the order of `dims`, with one value in each element, of BW encodings in its low
    bits."""

    name: str
    type: TensorType
    dtype: DataType
    dims: tuple[int, ...]
    encoding: Encoding | None = None
    data: torch.Tensor | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Scalar:
    dtype: DataType
    value: int | float | bool


@dataclass(frozen=True)
class Array:
    """Dense, of `dims`; `values` in their order."""

    dtype: DataType
    dims: tuple[int, ...]
    values: tuple[int | float, ...]


Parameter = Scalar | Array


@dataclass(frozen=True)
class Operator:
    """`type`: such as Conv2d; `inputs`, `outputs`: places in the graph's tensors."""

    name: str
    type: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    package: str = PACKAGE


@dataclass(frozen=True)
class Graph:
    """Operators in an order in which they can run."""

    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    def of(self, places: Iterable[int]) -> list[Tensor]:
        return [self.tensors[place] for place in places]


def uint32(value: int) -> Scalar:
    return Scalar(DataType.UINT_32, value)


def int32(value: int) -> Scalar:
    return Scalar(DataType.INT_32, value)


def flag(value: bool) -> Scalar:
    return Scalar(DataType.BOOL_8, bool(value))


def float32(value: float) -> Scalar:
    return Scalar(DataType.FLOAT_32, float(value))


def uints(values: Iterable[int], *dims: int) -> Array:
    """Of one dimension unless `dims` says more."""
    found = tuple(map(int, values))
    return Array(DataType.UINT_32, dims or (len(found),), found)


def ints(values: Iterable[int], *dims: int) -> Array:
    found = tuple(map(int, values))
    return Array(DataType.INT_32, dims or (len(found),), found)
