# SPDX-License-Identifier: BSD-3-Clause
"""The table of a backend: a row for an operator, or for a pattern of several calls, with the conditions under which it
is taken. The partitioner, the backend's compiler, the reasons why a call is not delegated and the page of operators all
read it."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar

import torch
from torch.fx import Graph, Node

from executorch.exir.backend.lowering.annotation import NOT_QUANTIZED, Annotation
from executorch.exir.backend.lowering.layout import Candidates
from executorch.exir.backend.lowering.patterns import HEAD, Call, Found, find
from executorch.exir.backend.lowering.quantized import form_of_operator
from executorch.exir.backend.lowering.steps import Step, first_item, nodes_of, sources_of
from executorch.exir.graph_facts import argument, call_name, is_shape_dynamic, only_user, op_name
from executorch.exir.tensor import dim_order_of

Constants = Collection[Node]
TensorTest = Callable[[Node, Node], bool]  # of a tensor that a call reads or gives, and the call
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
    """`test` holds for a call that is taken, or for the Step of a row of several calls; `reason`, in terms of what is
    expected, is why any other is not delegated. Later conditions of a row may rely on earlier ones. `detail`: what else
    is said of a call for which it does not hold, as by a vendor's validator."""

    test: Callable[[Any, Constants], bool]
    reason: str
    detail: Callable[[Any, Constants], str] | None = None

    def why_not(self, call: Any, constants: Constants) -> str:
        """Empty where it holds."""
        if self.test(call, constants):
            return ""
        return (
            self.reason if self.detail is None else f"{self.reason}: {self.detail(call, constants)}"
        )


def _reads_a_value(node: Node, constants: Constants) -> bool:
    sources = node.all_input_nodes
    return not sources or any(each not in constants for each in sources)


# A call that reads nothing at all makes a constant: its row says whether it is taken.
COMPUTED_AHEAD = Condition(_reads_a_value, "all operands are static: it is computed ahead of time")


def when(test: Callable[[Any], bool], reason: str) -> Condition:
    """A condition of the call alone."""
    return Condition(lambda call, constants: test(call), reason)


def has_rank(*ranks: int) -> Condition:
    """Of a call's first operand."""
    names = " or ".join(map(str, ranks))
    return when(
        lambda node: node.args[0].meta["val"].dim() in ranks, f"{names} dimensions are expected"
    )


def is_constant(*names: str) -> Callable[[Node, Constants], bool]:
    """Whether these arguments of a call are static, or left out."""

    def test(node: Node, constants: Constants) -> bool:
        found = [argument(node, name) for name in names]
        return all(each is None or each in constants for each in found)

    return test


NO_FACTOR = when(lambda node: argument(node, "alpha", 1) == 1, "alpha must be 1")
ONLY_FIRST = when(
    lambda node: all(user.args[1] == 0 for user in node.users), "only the first result may be read"
)


@dataclass(frozen=True)
class TensorCondition:
    """`test` holds for each tensor that a call reads or gives, and the call; `reason` says what is expected of one, and
    `found` what it is. No names of nodes: calls that are not delegated for one reason are one finding."""

    test: TensorTest
    reason: str
    found: Callable[[Node], str] = tensor_text

    def why_not(self, tensor: Node) -> str:
        return f"{self.reason}, found {self.found(tensor)}"


# What most backends ask of each tensor; what is no tensor is asked by the first alone.


def _of_value(test: Callable[[Any], bool]) -> TensorTest:
    return lambda tensor, call: test(tensor.meta.get("val"))


# Booleans and floats of the program's own are none of a delegate's arguments.
is_tensor_or_size = _of_value(lambda value: isinstance(value, torch.Tensor | torch.SymInt | int))
# As far as sizes are known.
has_elements = _of_value(
    lambda value: not any(type(size) is int and size == 0 for size in getattr(value, "shape", ()))
)


def has_dtype_of(dtypes: Collection[torch.dtype]) -> TensorTest:
    return _of_value(lambda value: not isinstance(value, torch.Tensor) or value.dtype in dtypes)


def has_rank_up_to(most: int) -> TensorTest:
    return _of_value(lambda value: not isinstance(value, torch.Tensor) or value.dim() <= most)


def _is_static(tensor: Node, call: Node) -> bool:
    return isinstance(tensor.meta.get("val"), torch.Tensor) and not is_shape_dynamic(tensor)


def has_default_dim_order(tensor: Node) -> bool:
    """Of what is no tensor, too."""
    value = tensor.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return True
    order = [int(dim) for dim in dim_order_of(value)]
    return order == sorted(order)


# Of formats that have no other order of dimensions in memory.
CONTIGUOUS = TensorCondition(
    lambda tensor, call: has_default_dim_order(tensor), "a contiguous tensor is expected"
)


STATIC = TensorCondition(_is_static, "a tensor of sizes that are known is expected")


def of_static_tensors(max_rank: int) -> tuple[TensorCondition, ...]:
    """Of backends whose formats have sizes that are known."""
    return (
        STATIC,
        TensorCondition(has_rank_up_to(max_rank), f"at most {max_rank} dimensions are expected"),
        TensorCondition(has_elements, "a tensor with elements is expected"),
    )


@dataclass(frozen=True)
class Row:
    """`lower(writer, step)` writes a step, as one operation or several. `preserved`: an edge program has it, or what a
    pattern computes, in pieces unless it is asked not to. `tail`: what may run with the call, a pattern behind HEAD.
    `layouts(step, operands)`: the candidates to run it, where it takes or gives other layouts than the plain one.
    `annotation`: how its calls are quantized. Backends that need more derive."""

    lower: Callable[..., None]
    conditions: tuple[Condition, ...] = ()
    preserved: bool = False
    annotation: Annotation = field(default=NOT_QUANTIZED, kw_only=True)
    tail: Call | None = field(default=None, kw_only=True)
    layouts: Callable[[Step, Sequence[Node]], Candidates] | None = field(default=None, kw_only=True)


AnyRow = TypeVar("AnyRow", bound=Row)
_LONGEST_TAIL = 8  # calls and items


class OpTable(Mapping[str, AnyRow], Generic[AnyRow]):
    """Rows by the operator's name, such as `aten.add.Tensor` or `operator.add`, or by a pattern. Of patterns earlier
    ones choose first, and all choose before the rows of single calls. Conditions of every row, before its own:
    `of_tensors`, then, of single calls, `of_calls`. As a mapping, it has the rows of single calls. `step`: what the
    backend's steps are."""

    def __init__(
        self,
        rows: Mapping[str | Call, AnyRow],
        of_tensors: tuple[TensorCondition, ...] = (),
        of_calls: tuple[Condition, ...] = (),
        step: Callable[..., Step] = Step,
    ) -> None:
        self._rows = {key: row for key, row in rows.items() if isinstance(key, str)}
        self._patterns = {key: row for key, row in rows.items() if isinstance(key, Call)}
        self._of_tensors = of_tensors
        self._of_calls = of_calls
        self._step = step

    def __getitem__(self, name: str) -> AnyRow:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def rows_of_patterns(self) -> Mapping[Call, AnyRow]:
        return self._patterns

    @property
    def of_tensors(self) -> tuple[TensorCondition, ...]:
        return self._of_tensors

    @property
    def of_calls(self) -> tuple[Condition, ...]:
        return self._of_calls

    def row(self, node: Node) -> AnyRow:
        """Of a call that has one."""
        return self._rows[call_name(node)]

    def row_of(self, step: Step) -> AnyRow:
        """Of a step that has one."""
        return self.row(step.head) if step.pattern is None else self._patterns[step.pattern]

    def step_at(self, head: Node) -> Any:
        """A call with the tail that runs with it, if its row has one; nothing is asked of conditions."""
        row = self._rows.get(call_name(head))
        if row is not None and row.tail is not None:
            for result in reversed(list(islice(_followers(head), _LONGEST_TAIL))):
                found = find(row.tail, result, head)
                if found is not None:
                    return self._step(head, result, found.calls, found.named)
        return self._step(head, first_item(head) or head)

    def patterns(self, graph: Graph, constants: Constants) -> list[Any]:
        """Where the graph has patterns that a row takes; none shares a call with another."""
        taken: set[Node] = set()
        steps = []
        for pattern in self._patterns:
            for node in graph.nodes:
                found = find(pattern, node) if _may_result(pattern, node) else None
                if found is None or not taken.isdisjoint(found.calls):
                    continue
                step = self._step_of(pattern, found, node)
                if not self.step_why_not(step, constants):
                    steps.append(step)
                    taken.update(found.calls)
        return steps

    def _step_of(self, pattern: Call, found: Found, result: Node) -> Any:
        head = found.named.get(HEAD.name, result)
        return self._step(head, result, found.calls, found.named, pattern)

    def steps(self, graph: Graph, constants: Constants) -> list[Any]:
        """All calls of a graph, each in one step, in the order of the results; what is computed ahead is in none."""
        steps = self.patterns(graph, constants)
        taken = {node for step in steps for node in step.calls}
        for node in graph.nodes:
            if node.op == "call_function" and node not in taken and node not in constants:
                step = self.step_at(node)
                taken.update(nodes_of(step))
                steps.append(step)
        place = {node: index for index, node in enumerate(graph.nodes)}
        return sorted(steps, key=lambda step: place[step.result])

    def why_not(self, node: Node, constants: Constants) -> str:
        """The first reason why a call is not taken; empty when it is."""
        row = self._rows.get(call_name(node))
        if row is None:
            return self._pattern_why_not(node, constants) or NO_ROW
        reason = self.tensors_why_not(node)
        return reason or _first(node, constants, (*self._of_calls, *row.conditions))

    def _pattern_why_not(self, node: Node, constants: Constants) -> str:
        """Of a call that is in a pattern which no row takes."""
        for pattern in self._patterns:
            for result in islice(_followers(node), _LONGEST_TAIL):
                found = find(pattern, result) if _may_result(pattern, result) else None
                if found is not None and node in found.calls:
                    return self.step_why_not(self._step_of(pattern, found, result), constants)
        return ""

    def step_why_not(self, step: Step, constants: Constants) -> str:
        """The first reason why a step is not taken; empty when it is."""
        if step.pattern is None:
            return self.why_not(step.head, constants)
        reason = self._tensors_why_not([*sources_of(step), step.result], step.result)
        return reason or _first(step, constants, self._patterns[step.pattern].conditions)

    def tensors_why_not(self, node: Node) -> str:
        """The first reason why the tensors of a call are not taken, whatever it computes."""
        return self._tensors_why_not(tensors_of(node), node)

    def _tensors_why_not(self, tensors: list[Node], call: Node) -> str:
        for condition in self._of_tensors:
            for each in tensors:
                if not condition.test(each, call):
                    return condition.why_not(each)
        return ""

    def preserved(self) -> list[torch._ops.OpOverload]:
        """Operators that no decomposition may take apart."""
        names = [name for name, row in self._rows.items() if row.preserved]
        for pattern, row in self._patterns.items():
            of_pattern = pattern.operators() if row.preserved else ()
            names += [name for name in of_pattern if not form_of_operator(name)]
        return [functools.reduce(getattr, name.split("."), torch.ops) for name in names]


def _first(call: Any, constants: Constants, conditions: tuple[Condition, ...]) -> str:
    """The reason of the first condition that does not hold; empty where all do."""
    reasons = (each.why_not(call, constants) for each in conditions)
    return next(filter(None, reasons), "")


def _may_result(pattern: Call, node: Node) -> bool:
    call = node.args[0] if node.target is operator.getitem else node
    return op_name(call) in pattern.results()


def _followers(node: Node) -> Iterator[Node]:
    """A call, the one that alone reads it, and so on."""
    found: Node | None = node
    while found is not None:
        yield found
        found = only_user(found)


def tensors_of(node: Node) -> list[Node]:
    """What a call reads and gives; for a call of several results, their items."""
    nodes = (*node.all_input_nodes, node)
    if isinstance(node.meta["val"], tuple | list):
        nodes = (*node.all_input_nodes, *node.users)
    return [each for each in nodes if not isinstance(each.meta.get("val"), tuple | list)]
