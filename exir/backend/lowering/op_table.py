# SPDX-License-Identifier: BSD-3-Clause
"""The table of a backend: one row per operator, with the conditions under which it is taken. The partitioner, the
backend's compiler, the reasons why a call is not delegated and the page of operators all read it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import torch
from torch.fx import Node

from executorch.exir.backend.lowering.annotation import NOT_QUANTIZED, Annotation
from executorch.exir.graph_facts import op_name

Constants = Collection[Node]
NO_ROW = "the backend has no such operator"


def dtype_text(tensor: Node) -> str:
    """Such as float32; of what is no tensor, its type."""
    value = tensor.meta.get("val")
    is_tensor = isinstance(value, torch.Tensor)
    return str(value.dtype).removeprefix("torch.") if is_tensor else type(value).__name__


def tensor_text(tensor: Node) -> str:
    """Such as float32 [2, 3]."""
    sizes = getattr(tensor.meta.get("val"), "shape", ())
    return f"{dtype_text(tensor)} [{', '.join(map(str, sizes))}]"


@dataclass(frozen=True)
class Condition:
    """`test` holds for a call that is taken; `reason`, in terms of what is expected, is why any other is not delegated.
    Later conditions of a row may rely on earlier ones."""

    test: Callable[[Node, Constants], bool]
    reason: str


@dataclass(frozen=True)
class TensorCondition:
    """`test` holds for each tensor that a call reads or gives, and the call; `reason` says what is expected of one, and
    `found` what it is. No names of nodes: calls that are not delegated for one reason are one finding."""

    test: Callable[[Node, Node], bool]
    reason: str
    found: Callable[[Node], str] = tensor_text

    def why_not(self, tensor: Node) -> str:
        return f"{self.reason}, found {self.found(tensor)}"


@dataclass(frozen=True)
class Row:
    """`lower` writes a call; what it is given is the backend's choice. `preserved`: an edge program has it in pieces
    unless it is asked not to. `annotation`: how its calls are quantized. Backends that need more derive."""

    lower: Callable[..., None]
    conditions: tuple[Condition, ...] = ()
    preserved: bool = False
    annotation: Annotation = field(default=NOT_QUANTIZED, kw_only=True)


AnyRow = TypeVar("AnyRow", bound=Row)


class OpTable(Mapping[str, AnyRow], Generic[AnyRow]):
    """Rows by the operator's name, such as `aten.add.Tensor`. Conditions of every row, before its own: `of_tensors`,
    then `of_calls`."""

    def __init__(
        self,
        rows: Mapping[str, AnyRow],
        of_tensors: tuple[TensorCondition, ...] = (),
        of_calls: tuple[Condition, ...] = (),
    ) -> None:
        self._rows = dict(rows)
        self._of_tensors = of_tensors
        self._of_calls = of_calls

    def __getitem__(self, name: str) -> AnyRow:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, node: Node) -> AnyRow:
        """Of a call that has one."""
        return self._rows[op_name(node)]

    def why_not(self, node: Node, constants: Constants) -> str:
        """The first reason why a call is not taken; empty when it is."""
        row = self._rows.get(op_name(node))
        if row is None:
            return NO_ROW
        reason = self.tensors_why_not(node)
        if reason:
            return reason
        conditions = (*self._of_calls, *row.conditions)
        return next((each.reason for each in conditions if not each.test(node, constants)), "")

    def tensors_why_not(self, node: Node) -> str:
        """The first reason why the tensors of a call are not taken, whatever it computes."""
        tensors = tensors_of(node)
        for condition in self._of_tensors:
            for each in tensors:
                if not condition.test(each, node):
                    return condition.why_not(each)
        return ""

    def preserved(self) -> list[torch._ops.OpOverload]:
        """Operators that no decomposition may take apart."""
        names = [name for name, row in self._rows.items() if row.preserved]
        return [functools.reduce(getattr, name.split("."), torch.ops) for name in names]


def tensors_of(node: Node) -> list[Node]:
    """What a call reads and gives; for a call of several results, their items."""
    nodes = (*node.all_input_nodes, node)
    if isinstance(node.meta["val"], tuple | list):
        nodes = (*node.all_input_nodes, *node.users)
    return [each for each in nodes if not isinstance(each.meta.get("val"), tuple | list)]
