# SPDX-License-Identifier: BSD-3-Clause
"""`Emitter`: TOSA operators, one after the other. Values are numbers of tensors; shapes of results are known."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import isinf, prod
from typing import Any

import numpy as np
import torch

from executorch.backends.arm.aot.schema import SCHEMA, attribute_classes

Shape = tuple[int, ...]
TYPES = {
    torch.bool: "BOOL",
    torch.int8: "INT8",
    torch.uint8: "INT8",
    torch.int16: "INT16",
    torch.int32: "INT32",
    torch.float32: "FP32",
    torch.float16: "FP16",
}
_NUMPY = {
    "BOOL": np.bool_,
    "INT4": np.int8,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT48": np.int64,
    "FP32": np.float32,
    "FP16": np.float16,
}
FLOATS = ("FP32", "FP16")
_WITH_NAN = frozenset({"ARGMAX", "MAXIMUM", "MINIMUM", "REDUCE_MAX", "REDUCE_MIN"})


@dataclass
class Tensor:
    name: str
    shape: Shape
    dtype: str
    data: bytes | None = None


@dataclass
class ShapeConstant:
    name: str
    sizes: tuple[int, ...]


def bytes_of(array: np.ndarray, dtype: str) -> bytes:
    """As a file has them; INT48 in six bytes, INT4 two in one byte, the first one low."""
    made = np.ascontiguousarray(array.astype(_NUMPY[dtype]))
    if dtype == "INT4":
        halves = (made.reshape(-1) & 15).astype(np.uint8)
        pairs = np.append(halves, np.zeros(made.size % 2, np.uint8)).reshape(-1, 2)
        return (pairs[:, 0] | pairs[:, 1] << 4).tobytes()
    if dtype == "INT48":
        return made.astype("<i8").reshape(-1, 1).view(np.uint8)[:, :6].tobytes()
    return made.tobytes()


class Emitter:
    """`self.values` has tensors, `self.operations` operators in their order."""

    values: list[Tensor]
    operations: list[Any]

    def _begin(self) -> None:
        self.shapes: list[ShapeConstant] = []
        self._names: dict[str, int] = {}
        self._shape_constants: dict[tuple[int, ...], ShapeConstant] = {}
        self._tensor_constants: dict[Hashable, int] = {}

    # ---- Tensors ----

    def name_for(self) -> str:
        """Of a new tensor, from what is being lowered."""
        return self.unique("t")

    def unique(self, base: str) -> str:
        count = self._names.get(base, 0)
        self._names[base] = count + 1
        return f"{base}__{count}" if count else base

    def tensor(self, shape: Sequence[int], dtype: str, name: str = "") -> int:
        made = Tensor(name or self.name_for(), tuple(int(size) for size in shape), dtype)
        self.values.append(made)
        return len(self.values) - 1

    def shape(self, value: int) -> Shape:
        return self.values[value].shape

    def dtype(self, value: int) -> str:
        return self.values[value].dtype

    def rank(self, value: int) -> int:
        return len(self.values[value].shape)

    def const(self, array: Any, dtype: str, name: str = "") -> int:
        """One tensor for equal constants."""
        values = array.detach().cpu().numpy() if isinstance(array, torch.Tensor) else array
        values = np.asarray(values)
        data = bytes_of(values, dtype)
        key = (dtype, values.shape, data)
        if key not in self._tensor_constants:
            made = self.tensor(values.shape, dtype, self.unique(name or "constant"))
            self.values[made].data = data
            self._operator("CONST", [], [self.values[made].name])
            self._tensor_constants[key] = made
        return self._tensor_constants[key]

    def full(self, number: float, dtype: str, rank: int) -> int:
        """One number that broadcasts with `rank` dimensions."""
        return self.const(np.full((1,) * rank, number), dtype)

    def one(self, number: float, dtype: str) -> int:
        return self.const(np.array([number]), dtype)

    def sizes(self, sizes: Sequence[int]) -> str:
        """The name of a constant shape."""
        key = tuple(int(size) for size in sizes)
        if key not in self._shape_constants:
            made = ShapeConstant(self.unique("shape"), key)
            self.shapes.append(made)
            self._shape_constants[key] = made
            self._operator("CONST_SHAPE", [], [made.name])
        return self._shape_constants[key].name

    # ---- Operators ----

    def emit(
        self,
        op: str,
        inputs: Sequence[int | str],
        shape: Sequence[int],
        dtype: str,
        **attributes: Any,
    ) -> int:
        """`inputs`: tensors, or names of shapes."""
        made = self.tensor(shape, dtype)
        names = [self.values[each].name if isinstance(each, int) else each for each in inputs]
        self._operator(op, names, [self.values[made].name], **attributes)
        return made

    def _operator(self, op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        classes = SCHEMA.classes
        if op in _WITH_NAN or op in ("CLAMP", "MAX_POOL2D"):
            attributes["nan_mode"] = classes["NanPropagationMode"].PROPAGATE
        self.operations.append(
            SCHEMA.make(
                "TosaOperator",
                op=classes["Op"][op],
                attribute=attribute_classes()[op](**attributes),
                inputs=inputs,
                outputs=outputs,
            )
        )

    def accumulator(self, dtype: str) -> tuple[str, Any]:
        """The type in which products of `dtype` are summed, and as an attribute."""
        name = {"INT8": "INT32", "INT16": "INT48"}.get(dtype, "FP32")
        return name, SCHEMA.classes["DType"][name]

    def resize_mode(self, name: str) -> Any:
        return SCHEMA.classes["ResizeMode"][name]

    # ---- Element by element ----

    def unary(self, op: str, x: int, dtype: str = "") -> int:
        return self.emit(op, [x], self.shape(x), dtype or self.dtype(x))

    def binary(self, op: str, x: int, y: int, dtype: str = "", down: int = 0) -> int:
        x, y = self.same_rank(x, y)
        shape = np.broadcast_shapes(self.shape(x), self.shape(y))
        more = [self.one(down, "INT8")] if op == "MUL" else []
        return self.emit(op, [x, y, *more], shape, dtype or self.dtype(x))

    def with_number(self, op: str, x: int, number: float) -> int:
        return self.binary(op, x, self.full(number, self.dtype(x), self.rank(x)))

    def number_with(self, op: str, number: float, x: int) -> int:
        return self.binary(op, self.full(number, self.dtype(x), self.rank(x)), x)

    def number_with_compare(self, op: str, number: float, x: int) -> int:
        return self.binary(op, self.full(number, self.dtype(x), self.rank(x)), x, "BOOL")

    def mul32(self, x: int, y: int, down: int = 0) -> int:
        """Of integers: the product as INT32, of which `down` bits are rounded away."""
        return self.binary("MUL", x, y, "INT32" if self.dtype(x) not in FLOATS else "", down)

    def shifted_right(self, x: int, by: int, is_rounded: bool = True) -> int:
        """INT32 by up to 31."""
        both = self.same_rank(x, by)
        shape = np.broadcast_shapes(*map(self.shape, both))
        return self.emit("ARITHMETIC_RIGHT_SHIFT", both, shape, "INT32", round=is_rounded)

    def same_rank(self, *values: int) -> list[int]:
        """All with as many dimensions as the one that has most, ones in front."""
        rank = max(map(self.rank, values))
        return [self.with_rank(each, rank) for each in values]

    def with_rank(self, x: int, rank: int) -> int:
        missing = rank - self.rank(x)
        return self.reshape(x, (*(1,) * missing, *self.shape(x))) if missing > 0 else x

    def negate(self, x: int) -> int:
        zero = self.one(0, self.dtype(x))
        return self.emit("NEGATE", [x, zero, zero], self.shape(x), self.dtype(x))

    def clamp(self, x: int, low: float, high: float) -> int:
        """To limits, infinite ones are the type's."""
        dtype = self.dtype(x)
        if dtype == "INT32":  # of which there is no CLAMP
            x = x if isinf(low) else self.with_number("MAXIMUM", x, low)
            return x if isinf(high) else self.with_number("MINIMUM", x, high)
        kind = _NUMPY[dtype]
        info = np.finfo(kind) if dtype in FLOATS else np.iinfo(kind)
        limits = [np.array(min(max(each, info.min), info.max)).astype(kind) for each in (low, high)]
        low_bytes, high_bytes = (each.tobytes() for each in limits)
        return self.emit("CLAMP", [x], self.shape(x), dtype, min_val=low_bytes, max_val=high_bytes)

    def least(self, x: int) -> float:
        """The least value of its type."""
        dtype = self.dtype(x)
        kind = _NUMPY[dtype]
        return float((np.finfo if dtype in FLOATS else np.iinfo)(kind).min)

    def select(self, condition: int, x: int, y: int) -> int:
        condition, x, y = self.same_rank(condition, x, y)
        shape = np.broadcast_shapes(self.shape(condition), self.shape(x), self.shape(y))
        return self.emit("SELECT", [condition, x, y], shape, self.dtype(x))

    def cast(self, x: int, dtype: str) -> int:
        return x if self.dtype(x) == dtype else self.emit("CAST", [x], self.shape(x), dtype)

    # ---- Moves ----

    def reshape(self, x: int, shape: Sequence[int]) -> int:
        if tuple(shape) == self.shape(x):
            return x
        return self.emit("RESHAPE", [x, self.sizes(shape)], shape, self.dtype(x))

    def permute(self, x: int, dims: Sequence[int]) -> int:
        if list(dims) == sorted(dims):
            return x
        shape = [self.shape(x)[dim] for dim in dims]
        moved = [dim for dim in dims if self.shape(x)[dim] > 1]
        if moved == sorted(moved):
            return self.reshape(x, shape)
        return self.emit("TRANSPOSE", [x], shape, self.dtype(x), perms=[int(d) for d in dims])

    def slice(self, x: int, start: Sequence[int], sizes: Sequence[int]) -> int:
        if tuple(sizes) == self.shape(x):
            return x
        return self.emit("SLICE", [x, self.sizes(start), self.sizes(sizes)], sizes, self.dtype(x))

    def slice_axis(self, x: int, axis: int, start: int, size: int) -> int:
        starts, sizes = [0] * self.rank(x), list(self.shape(x))
        starts[axis], sizes[axis] = start, size
        return self.slice(x, starts, sizes)

    def concat(self, parts: Sequence[int], axis: int) -> int:
        if len(parts) == 1:
            return parts[0]
        shape = list(self.shape(parts[0]))
        shape[axis] = sum(self.shape(each)[axis] for each in parts)
        return self.emit("CONCAT", list(parts), shape, self.dtype(parts[0]), axis=axis)

    def pad(self, x: int, ends: Sequence[tuple[int, int]], number: float) -> int:
        if not any(map(any, ends)):
            return x
        shape = [size + sum(end) for size, end in zip(self.shape(x), ends, strict=True)]
        dtype = self.dtype(x)
        flat = [size for end in ends for size in end]
        return self.emit("PAD", [x, self.sizes(flat), self.one(number, dtype)], shape, dtype)

    def tile(self, x: int, times: Sequence[int]) -> int:
        if all(each == 1 for each in times):
            return x
        shape = [size * each for size, each in zip(self.shape(x), times, strict=True)]
        return self.emit("TILE", [x, self.sizes(times)], shape, self.dtype(x))

    def reverse(self, x: int, axis: int) -> int:
        return self.emit("REVERSE", [x], self.shape(x), self.dtype(x), axis=axis)

    def gather(self, x: int, indices: int) -> int:
        """x [N, K, C], indices [N, W] -> [N, W, C]."""
        batch, _, channels = self.shape(x)
        width = self.shape(indices)[1]
        return self.emit("GATHER", [x, indices], (batch, width, channels), self.dtype(x))

    # ---- Along axes ----

    def reduce(self, op: str, x: int, axes: Sequence[int]) -> int:
        """One axis after the other; they stay, of size 1."""
        for axis in axes:
            shape = list(self.shape(x))
            if shape[axis] != 1:
                shape[axis] = 1
                x = self.emit(op, [x], shape, self.dtype(x), axis=axis)
        return x

    def matmul(self, x: int, y: int, x_zero: int = 0, y_zero: int = 0) -> int:
        """Of rank 3."""
        (batch, rows, _), (_, _, columns) = self.shape(x), self.shape(y)
        name, _ = self.accumulator(self.dtype(x))
        result = self.dtype(x) if self.dtype(x) in FLOATS else name
        zeros = [self.one(x_zero, self.dtype(x)), self.one(y_zero, self.dtype(y))]
        return self.emit("MATMUL", [x, y, *zeros], (batch, rows, columns), result)

    def lookup(self, x: int, numbers: np.ndarray) -> int:
        """256 results of 8 bits, or 513 of 16 bits, between which INT16 values are interpolated to 23 bits."""
        small = self.dtype(x) == "INT8"
        kind, result = ("INT8", "INT8") if small else ("INT16", "INT32")
        return self.emit("TABLE", [x, self.const(numbers, kind)], self.shape(x), result)

    # ---- The whole ----

    def num_elements(self, value: int) -> int:
        return prod(self.shape(value))
