# SPDX-License-Identifier: BSD-3-Clause
"""The inputs and outputs of a method as its file declares them, and which sizes they may have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from executorch.exir import schema
from executorch.exir.scalar_type import ScalarType

Sizes = tuple[int, ...]
# Numbers are what the model was exported with: another one does not fit.
_VALUES = {
    schema.Int: "int_val",
    schema.Double: "double_val",
    schema.Bool: "bool_val",
    schema.String: "string_val",
}


@dataclass(frozen=True)
class Dimension:
    """From `low` to `high`, and scale * n + offset for a whole n, which all dimensions of one `group` share."""

    low: int
    high: int
    scale: int = 1
    offset: int = 0
    group: int | None = None

    def problem(self, place: int, size: int) -> str | None:
        """What was expected of dimension `place`, where that is another size."""
        if self.low == self.high != size:
            return f"size {self.high} in dimension {place}, which the export fixed (dynamic_shapes lets it vary)"
        if not self.low <= size <= self.high:
            return f"a size from {self.low} to {self.high} in dimension {place}"
        if (size - self.offset) % self.scale:
            return f"{self.scale} * n + {self.offset} for a whole number n in dimension {place}"
        return None

    def number(self, size: int) -> int:
        return (size - self.offset) // self.scale

    def size(self, number: int) -> int:
        return self.scale * number + self.offset


@dataclass(frozen=True)
class Declared:
    """`dtype`: None for what is no tensor, whose `value` stands in the file. `name`: empty where the file has none.
    `dim_order`: how the method wants it in memory."""

    number: int
    name: str = ""
    dtype: ScalarType | None = None
    dimensions: Sequence[Dimension] = ()
    value: Any = None
    dim_order: Sequence[int] = ()

    @property
    def title(self) -> str:
        return f"input {self.number}" + (f" ({self.name})" if self.name else "")

    @property
    def largest(self) -> Sizes:
        return tuple(dimension.high for dimension in self.dimensions)


def declared(plan: schema.ExecutionPlan, names: Sequence[str] = ()) -> list[Declared]:
    """`names`: of the inputs, where the file has none."""
    own = plan.input_names
    known = own if any(own) else names
    named = list(known) if len(known) == len(plan.inputs) else [""] * len(plan.inputs)
    rows = plan.input_dimension_rows
    found = []
    for number, (index, name) in enumerate(zip(plan.inputs, named, strict=True)):
        value = plan.values[index].val
        if isinstance(value, schema.Tensor):
            dimensions, order = _dimensions(number, value, rows), tuple(value.dim_order)
            dtype = ScalarType(value.scalar_type)
            found.append(Declared(number, name, dtype, dimensions, dim_order=order))
        else:
            field_name = _VALUES.get(type(value))
            held = None if field_name is None else getattr(value, field_name)
            found.append(Declared(number, name, value=held))
    return found


def declared_outputs(plan: schema.ExecutionPlan) -> list[Declared]:
    """`value` of what is no tensor is the value's start in the file, of its kind."""
    found = []
    rows = plan.output_dimension_rows
    for number, (index, name) in enumerate(zip(plan.outputs, plan.output_names, strict=True)):
        value = plan.values[index].val
        if isinstance(value, schema.Tensor):
            is_open = value.shape_dynamism != schema.TensorShapeDynamism.STATIC and not rows
            least = {place: low for of, place, low in rows if of == number}
            dimensions = [
                Dimension(least.get(place, 0 if is_open else size), size)
                for place, size in enumerate(value.sizes)
            ]
            order, dtype = tuple(value.dim_order), ScalarType(value.scalar_type)
            found.append(Declared(number, name, dtype, dimensions, dim_order=order))
        else:
            field_name = _VALUES.get(type(value))
            held = None if field_name is None else getattr(value, field_name)
            found.append(Declared(number, name, value=held))
    return found


def _dimensions(
    number: int, tensor: schema.Tensor, rows: Sequence[Sequence[int]]
) -> list[Dimension]:
    """Dynamic tensors of a file without rows may have all sizes up to theirs."""
    is_open = tensor.shape_dynamism != schema.TensorShapeDynamism.STATIC and not rows
    found = [Dimension(0 if is_open else size, size) for size in tensor.sizes]
    for index, (of, place, low, scale, offset, same) in enumerate(rows):
        if of == number:
            group = same if same >= 0 else index
            found[place] = Dimension(low, tensor.sizes[place], scale, offset, group)
    return found


def chosen(inputs: Sequence[Declared], asked: str) -> Declared:
    """By its name or its number. ValueError with a list of what there is."""
    for each in inputs:
        if asked in (each.name or None, str(each.number)):
            return each
    there = [f"{each.number} ({each.name})" if each.name else str(each.number) for each in inputs]
    raise ValueError(f"{asked}: expected an input of {', '.join(there) or 'none'}")


def sizes_of(inputs: Sequence[Declared], asked: Mapping[int, Sizes]) -> dict[int, Sizes]:
    """Of all tensors: those asked for by number, else the largest that go with them. ValueError for sizes that the
    method does not take, with input, dimension and limit."""
    shared: dict[
        int, tuple[int, Declared]
    ] = {}  # what the dimensions of a group have for n, and whose that is
    for each in inputs:
        if each.number in asked:
            _check(each, asked[each.number], shared)
    found = dict(asked)
    for each in inputs:
        if each.dtype is not None and each.number not in found:
            found[each.number] = tuple(
                dimension.size(shared[dimension.group][0])
                if dimension.group in shared
                else dimension.high
                for dimension in each.dimensions
            )
            _check(each, found[each.number], shared)
    return found


def _check(each: Declared, sizes: Sizes, shared: dict[int, tuple[int, Declared]]) -> None:
    if each.dtype is None:
        raise ValueError(f"{each.title}: it has no sizes: it is {each.value!r}, as exported")
    if len(sizes) != len(each.dimensions):
        raise ValueError(
            f"{each.title}: expected {len(each.dimensions)} dimensions, at most {text_of(each.largest)}, found "
            f"{text_of(sizes)}"
        )
    for place, (size, dimension) in enumerate(zip(sizes, each.dimensions, strict=True)):
        expected = dimension.problem(place, size)
        if expected is not None:
            raise ValueError(f"{each.title}: expected {expected}, found {size}")
        if dimension.group is None:
            continue
        number, other = shared.setdefault(dimension.group, (dimension.number(size), each))
        if dimension.size(number) != size:
            raise ValueError(
                f"{each.title}: expected {dimension.size(number)} in dimension {place}, to go with {other.title}, "
                f"found {size}"
            )


def text_of(sizes: Sizes) -> str:
    """As --shape takes them."""
    return "x".join(map(str, sizes)) if sizes else "no dimensions"


def num_bytes(tensor: schema.Tensor) -> int:
    """Of the largest sizes."""
    return prod(tensor.sizes) * ScalarType(tensor.scalar_type).itemsize
