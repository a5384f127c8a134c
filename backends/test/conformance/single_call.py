# SPDX-License-Identifier: BSD-3-Clause
"""An edge program of one call, without an export: of floats, or of stored values.

add(x, y, alpha=2)     stored: quantize, dequantize before each operand and behind the result"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.utils import _pytree as pytree

from executorch.backends.test.program_builder import ProgramBuilder
from executorch.exir.dialects.edge._ops import edge_op_of
from executorch.exir.pass_base import ProxyValue

_QD = torch.ops.quantized_decomposed
Numbers = tuple[float, int, int, int, torch.dtype]  # of a quantize
OPERAND: Numbers = (0.05, 3, -128, 127, torch.int8)
RESULT: Numbers = (0.04, -9, -128, 127, torch.int8)


@dataclass(frozen=True, eq=False)
class Data:
    """A tensor that is a parameter of the program; with `scale`, stored values of which it is given what they are.
    Several scales are one for each index of `axis`."""

    tensor: Tensor
    scale: float | tuple[float, ...] | None = None
    axis: int = 0


@dataclass(frozen=True, eq=False)
class Call:
    """`varied`: the argument that differs from another call's, where that is said."""

    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    varied: str = ""

    @property
    def op(self) -> torch._ops.OpOverload:
        return functools.reduce(getattr, self.name.split("."), torch.ops)

    def eager(self) -> list[Any]:
        """With data as it is."""
        args, kwargs = pytree.tree_map_only(
            Data, lambda each: each.tensor, (self.args, dict(self.kwargs))
        )
        return pytree.tree_leaves(self.op(*args, **kwargs))

    def is_finite(self) -> bool:
        tensors = [each for each in pytree.tree_leaves(self.args) if isinstance(each, Tensor)]
        return all(bool(each.isfinite().all()) for each in tensors)

    def __str__(self) -> str:
        given = [*self.args, *(f"{key}={value}" for key, value in self.kwargs.items())]
        return (
            f"{self.name}({', '.join('..' if has_tensor(each) else str(each) for each in given)})"
        )


def has_tensor(value: Any) -> bool:
    return any(isinstance(each, Tensor | Data) for each in pytree.tree_leaves(value))


def program_of(
    call: Call, operand: Numbers | None = None, result: Numbers | None = None
) -> ExportedProgram:
    """Stored values with these numbers; of floats where there are none. Of several results, the first is given."""
    return _Builder(operand, result).of(call)


class _Builder(ProgramBuilder):
    def __init__(self, operand: Numbers | None, result: Numbers | None) -> None:
        super().__init__()
        self._operand, self._result = operand, result

    def of(self, call: Call) -> ExportedProgram:
        given = call.args, dict(call.kwargs)
        data = [each for each in pytree.tree_leaves(given) if isinstance(each, Data)]
        places = {id(each): self._placed(each, place) for place, each in enumerate(data)}
        known = {id(each): self._dequantized(each, places[id(each)]) for each in data}
        args, kwargs = pytree.tree_map(lambda each: self._value(each, known), given)
        made = self.call_operator(edge_op_of(call.op), args, kwargs)
        is_many = isinstance(made.data, tuple | list)
        self.output([self._stored(self.call_getitem(made, 0) if is_many else made, self._result)])
        return self.get_program()

    def _placed(self, data: Data, place: int | str) -> ProxyValue:
        kind = InputKind.PARAMETER if data.tensor.is_floating_point() else InputKind.CONSTANT_TENSOR
        return self.placeholder(f"p_{place}", data.tensor, kind)

    def _dequantized(self, data: Data, value: ProxyValue) -> ProxyValue:
        if data.scale is None:
            return value
        info = torch.iinfo(data.tensor.dtype)
        bounds = (info.min, info.max, data.tensor.dtype)
        if not isinstance(data.scale, tuple):
            op = edge_op_of(_QD.dequantize_per_tensor.default)
            return self.call_operator(op, (value, data.scale, 0, *bounds))
        scales = torch.tensor(data.scale, dtype=torch.float64)
        points = torch.zeros_like(scales, dtype=torch.int64)
        numbers = [self._placed(Data(each), f"{value.node.name}_{name}")
                   for name, each in (("scales", scales), ("points", points))]  # fmt: skip
        op = edge_op_of(_QD.dequantize_per_channel.default)
        return self.call_operator(op, (value, *numbers, data.axis, *bounds))

    def _value(self, given: Any, known: Mapping[int, ProxyValue]) -> Any:
        if isinstance(given, Data):
            return known[id(given)]
        if not isinstance(given, Tensor):
            return given
        name = f"x_{len(self.input_specs)}"
        return self._stored(self.placeholder(name, given), self._operand)

    def _stored(self, value: ProxyValue, numbers: Numbers | None) -> ProxyValue:
        if numbers is None or value.data.dtype != torch.float32:
            return value
        stored = self.call_operator(edge_op_of(_QD.quantize_per_tensor.default), (value, *numbers))
        return self.call_operator(edge_op_of(_QD.dequantize_per_tensor.default), (stored, *numbers))
