# SPDX-License-Identifier: BSD-3-Clause
"""Runs a TOSA graph in NumPy, as the specification's text of 1.0 defines its operators: integers bit for bit.

What the specification leaves unpredictable (REQUIRE: a sum beyond 32 bits, a shift out of its range) is an error here,
so that no graph is called right by what one implementation happens to do. Floats are computed in float64 and rounded to
the declared type after each operator; how near they come is the caller's question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from executorch.backends.arm.aot.schema import SCHEMA
from executorch.backends.arm.test.tosa import convolution_and_pooling, data_movement, elementwise
from executorch.backends.arm.test.tosa.arithmetic import Unpredictable, integer_range, wrap

Array = np.ndarray[Any, Any]
_FLOATS = {"FP32": np.float32, "FP16": np.float16}
_GIVEN = {"BOOL": np.bool_, "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, **_FLOATS}
_STORED = {
    "BOOL": "i1",
    "INT8": "i1",
    "INT16": "<i2",
    "INT32": "<i4",
    "FP32": "<f4",
    "FP16": "<f2",
    "SHAPE": "<i8",
}


@dataclass(frozen=True)
class Call:
    """One operator with its operands: integers as int64, floats as float64, truth values as bool."""

    inputs: list[Array]
    types: list[str]
    attribute: Any
    out_shape: tuple[int, ...]
    out_type: str

    def __getitem__(self, index: int) -> Array:
        return self.inputs[index]

    @property
    def is_float(self) -> bool:
        return self.types[0] in _FLOATS


OPERATORS: dict[str, Callable[[Call], Array]] = {
    **elementwise.OPERATORS,
    **data_movement.OPERATORS,
    **convolution_and_pooling.OPERATORS,
}


def evaluate(payload: bytes, inputs: Sequence[Array]) -> list[Array]:
    """The outputs of a graph, in its types: 8 bits without a sign as the signed ones of the same bits."""
    regions = {region.name: region.blocks[0] for region in SCHEMA.unpack(payload).regions}
    main = next(iter(regions.values()))
    kinds = {each.name: each.type.name for each in main.tensors}
    found = _Region(main, regions).run([_held(each) for each in inputs])
    pairs = zip(found, main.outputs, strict=True)
    return [each.astype(_GIVEN.get(kinds[name], np.int64)) for each, name in pairs]


def operators_of(payload: bytes) -> set[str]:
    """The names of the operators in a graph, constants left out."""
    blocks = [block for region in SCHEMA.unpack(payload).regions for block in region.blocks]
    return {each.op.name for block in blocks for each in block.operators} - {"CONST", "CONST_SHAPE"}


def _held(values: Array) -> Array:
    if values.dtype == np.uint8:
        return values.view(np.int8).astype(np.int64)
    if values.dtype.kind == "b":
        return values
    return values.astype(np.float64 if values.dtype.kind == "f" else np.int64)


class _Region:
    def __init__(self, block: Any, regions: Mapping[str, Any]) -> None:
        self._block, self._regions = block, regions
        self._tensors = {each.name: each for each in block.tensors}
        self._values: dict[str, Array] = {
            each.name: np.frombuffer(bytes(each.data), "<i8") for each in block.shapes or []
        }
        for each in block.tensors:
            if each.data is not None and len(each.data):
                self._values[each.name] = stored_values(
                    bytes(each.data), each.type.name, tuple(each.shape or [])
                )

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        names = list(self._block.inputs or [])
        if len(names) != len(inputs):
            raise ValueError(f"expected {len(names)} inputs, got {len(inputs)}")
        for name, values in zip(names, inputs, strict=True):
            self._keep(name, values.reshape(self._shape(name)))
        for each in self._block.operators:
            self._step(each)
        return [self._values[name] for name in self._block.outputs or []]

    def _step(self, node: Any) -> None:
        name = node.op.name
        if name in ("CONST", "CONST_SHAPE"):
            return
        inputs = [self._values[each] for each in node.inputs or []]
        if name in ("COND_IF", "WHILE_LOOP"):
            results = self._controlled(name, node.attribute, inputs)
        else:
            results = [self._computed(name, node, inputs)]
        for out, values in zip(node.outputs, results, strict=True):
            self._keep(out, values)

    def _computed(self, name: str, node: Any, inputs: list[Array]) -> Array:
        out = self._tensors[node.outputs[0]]
        types = [
            self._tensors[each].type.name if each in self._tensors else "SHAPE"
            for each in node.inputs or []
        ]
        call = Call(inputs, types, node.attribute, self._shape(out.name), out.type.name)
        try:
            return OPERATORS[name](call)
        except Unpredictable as found:
            raise Unpredictable(f"{name} that makes {out.name}: {found}") from None

    def _controlled(self, name: str, attribute: Any, inputs: list[Array]) -> list[Array]:
        if name == "COND_IF":
            taken = attribute.then_graph if bool(inputs[0].reshape(())) else attribute.else_graph
            return self._inner(taken, inputs[1:])
        while bool(self._inner(attribute.cond_graph, inputs)[0].reshape(())):
            inputs = self._inner(attribute.body_graph, inputs)
        return inputs

    def _inner(self, region: Any, inputs: list[Array]) -> list[Array]:
        name = region.decode() if isinstance(region, bytes) else region
        return _Region(self._regions[name], self._regions).run(inputs)

    def _shape(self, name: str) -> tuple[int, ...]:
        return tuple(self._tensors[name].shape or [])

    def _keep(self, name: str, values: Array) -> None:
        declared = self._tensors[name]
        kind, shape = declared.type.name, self._shape(name)
        if values.shape != shape:
            raise Unpredictable(f"{name} is declared {shape}, and computed {values.shape}")
        if kind in _FLOATS:
            with np.errstate(over="ignore"):
                values = values.astype(_FLOATS[kind]).astype(np.float64)
        elif kind == "BOOL":
            values = values.astype(bool)
        else:
            low, high = integer_range(kind)
            if values.size and (values.min() < low or values.max() > high):
                raise Unpredictable(f"{name} leaves {kind}: {values.min()} to {values.max()}")
        self._values[name] = values


def stored_values(data: bytes, kind: str, shape: tuple[int, ...]) -> Array:
    """Of a constant: INT4 two to a byte, the first in its low half; INT48 in six bytes; bytes behind are padding."""
    count = int(np.prod(shape, dtype=np.int64))
    if kind == "INT4":
        pairs = np.frombuffer(data, np.uint8).astype(np.int64)
        values = wrap(np.stack([pairs & 15, pairs >> 4], axis=-1).reshape(-1)[:count], 4)
    elif kind == "INT48":
        six = np.frombuffer(data, np.uint8)[: count * 6].reshape(count, 6).astype(np.int64)
        values = wrap((six << (8 * np.arange(6))).sum(axis=-1), 48)
    else:
        values = np.frombuffer(data, _STORED[kind], count)
        values = values.astype(
            bool if kind == "BOOL" else np.float64 if kind in _FLOATS else np.int64
        )
    return values.reshape(shape)
