# SPDX-License-Identifier: BSD-3-Clause
"""`Writer`: collects what one payload holds while rows lower a program: values by node, constants, operations.

    class MyWriter(Writer[Value, Operation]):
        backend, partitioner = "MyBackend", "MyPartitioner"
        ... what a value, an argument and a constant of the format are ...

    def add(writer: MyWriter, step: Step) -> None:  # a row's `lower`
        left, right = map(writer.read, step.head.args)
        writer.operations.append(Operation("Add", left, right, writer.write(step.result)))

A value may exist in several layouts. A row reads what it needs in the layout of its way (`writer.layout`, chosen for
the whole program by layout.py); a transpose is made at the first such request and shared."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx import Node

from executorch.exir.backend.backend_details import PreprocessResult
from executorch.exir.backend.lowering.layout import PLAIN, Layout, LayoutCandidate, Ports, solve
from executorch.exir.backend.lowering.op_table import OpTable, tensor_text
from executorch.exir.backend.lowering.payload.constant_store import ConstantStore
from executorch.exir.backend.lowering.steps import Step, nodes_of, sources_of
from executorch.exir.backend.lowering.wide_values import wide_calls
from executorch.exir.backend.payload import operator_key
from executorch.exir.error import ExportError, ExportErrorType, InternalError, source_line
from executorch.exir.graph_facts import call_name, written_placeholders
from executorch.exir.sym_util import eval_shape_upper_bound

Value = TypeVar("Value")
Operation = TypeVar("Operation")


def narrowed(tensor: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """As `dtype`, which may hold less. Infinities stay, as a mask means them; a finite number beyond the range becomes
    the nearest one."""
    is_real = dtype.is_floating_point
    if dtype == torch.bool or tensor.dtype == torch.bool or is_real != tensor.is_floating_point():
        return tensor.to(dtype)
    limits = torch.finfo(dtype) if is_real else torch.iinfo(dtype)
    near = tensor.clamp(limits.min, limits.max)
    return torch.where(tensor.isinf(), tensor, near).to(dtype)


class NotCompiled(ExportError, RuntimeError):
    """A program that a backend has no form for."""


class Writer(ABC, Generic[Value, Operation]):
    """`constants`: what the program's data placeholders hold. An id is a place in `values`, unless a format counts
    otherwise. `names_outputs`: outputs are values like others, which the payload names; else each is a value of its
    own, which an operation writes."""

    backend: ClassVar[str]
    partitioner: ClassVar[str]
    alignment: ClassVar[int] = 16  # of constants
    names_outputs: ClassVar[bool] = False
    in_halves: bool = False  # what is float32 in the program
    writes_buffers: ClassVar[bool] = False  # in `write_back`

    def __init__(self, table: OpTable[Any], constants: Mapping[Node, torch.Tensor]) -> None:
        self.table = table
        self.constants = constants
        self.store = ConstantStore(self.alignment)
        self.values: list[Value] = []
        self.operations: list[Operation] = []
        self.handles: dict[
            str, tuple[int, ...]
        ] = {}  # in names of operators -> what they stand for
        self.step: Step | None = None  # that is being lowered
        self._wide: set[Node] = set()  # calls and inputs that are in float32 with `in_halves`
        self._input: Node | None = None  # that is being made
        self.layout: Layout = PLAIN  # around it
        self.candidate = LayoutCandidate(())  # that its row runs in that
        self._ids: dict[Node, dict[Layout, int]] = {}  # by the layouts in which it exists
        self._constant_ids: dict[Hashable, int] = {}
        self.num_inputs = 0
        self._outputs: list[Node] = []
        self._places: dict[Node, int] = {}  # of outputs, the first where one is given several times
        self._written: set[Node] = set()  # outputs that an operation writes itself
        self._written_back: list[tuple[Node, Node]] = []  # new values, with their buffers

    # ---- What a format says ----

    @abstractmethod
    def make_value(self, node: Node, layout: Layout) -> int:
        """A new value for what `node` computes."""

    @abstractmethod
    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        """The value of an argument, and the layout that it has."""

    @abstractmethod
    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        """The value of what is known ahead; `rank`: of what it broadcasts with."""

    def begin(self) -> None:
        """After the inputs, before the first step."""

    def make_output(self, node: Node, place: int) -> int:
        """The value that the caller finds there, to be written by one operation."""
        raise NotImplementedError

    def copy(self, node: Node, source: int, target: int) -> None:
        """Writes an operation; only where outputs have values of their own."""
        raise NotImplementedError

    def transpose(
        self, node: Node, source: int, target: int, before: Layout, after: Layout
    ) -> None:
        """Writes an operation; only where a row has several layouts."""
        raise NotImplementedError

    def write_back(self, node: Node, buffer: Node) -> None:
        """At the end: `buffer`, which the delegate owns, has the value of `node` from then on."""
        raise NotImplementedError

    def layout_outside(self, node: Node) -> Layout:
        """That an output must have."""
        return PLAIN

    def stored(self, node: Node) -> Node:
        """The node whose value stands for that of `node`: of a step that reads values as they are stored."""
        return node

    def operands(self, step: Step) -> list[Node]:
        """What a step computes on, as it reads it."""
        return [self.stored(each) for each in sources_of(step) if self._is_computed(each)]

    def _is_computed(self, node: Node) -> bool:
        return node not in self.constants and isinstance(node.meta.get("val"), torch.Tensor)

    def dtype_inside(self, dtype: torch.dtype) -> torch.dtype:
        """In which the payload has what is of `dtype` in the program, for the step that is being lowered."""
        is_narrow = self.in_halves and not self.is_wide
        return torch.float16 if is_narrow and dtype == torch.float32 else dtype

    @property
    def is_wide(self) -> bool:
        """Whether the step that is being lowered is in float32 although others are in halves."""
        return (self._input if self.step is None else self.step.head) in self._wide

    def narrowed(self, tensor: torch.Tensor) -> torch.Tensor:
        """A constant as the payload has it."""
        return narrowed(tensor.detach(), self.dtype_inside(tensor.dtype))

    def why_not_taken(self, node: Node) -> str:
        """Of an argument or result, why the format has no type for it."""
        return "" if isinstance(node.meta.get("val"), torch.Tensor) else "a tensor is expected"

    # ---- For rows ----

    def read(self, node: Node, layout: Layout = PLAIN, rank: int = 4) -> int:
        """The value of a node or constant, transposed if need be."""
        source = self.stored(node)
        if source in self.constants:
            return self.read_constant(node, layout, rank)
        ids = self._ids[source]
        if layout not in ids:
            there = self.layout_of(node)
            made = self.make_value(source, layout)
            self.transpose(source, ids[there], made, there, layout)
            ids[layout] = made
        return ids[layout]

    def write(self, node: Node, layout: Layout = PLAIN) -> int:
        """A new value for what `node` computes; the output itself when it is one in this layout."""
        if not self.names_outputs and self.layout_of_output(node) == layout:
            made = self.make_output(node, self._places[node])
            self._written.add(node)
        else:
            made = self.make_value(node, layout)
        self.define(node, made, layout)
        return made

    def rename(self, node: Node, layout: Layout, source: Node, of: Layout) -> None:
        """`node` is, in `layout`, what `source` is in the layout `of`."""
        self.define(node, self.read(source, of), layout)

    def define(self, node: Node, value: int, layout: Layout = PLAIN) -> None:
        """`value` is what `node` computes, in the layout."""
        self._ids.setdefault(node, {})[layout] = value

    def known(self, node: Node, layout: Layout = PLAIN) -> int:
        """The value that was defined."""
        return self._ids[node][layout]

    def add_value(self, value: Value) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def constant_once(self, key: Hashable, make: Callable[[], int]) -> int:
        """The value of a constant; `make` gives it at the first call with an equal `key`."""
        if key not in self._constant_ids:
            self._constant_ids[key] = make()
        return self._constant_ids[key]

    def layout_of(self, node: Node) -> Layout:
        """One in which the value exists; of several, not the plain one."""
        there = self._ids.get(self.stored(node), ())
        return next((each for each in there if each != PLAIN), PLAIN)

    def layout_of_output(self, node: Node) -> Layout | None:
        """The one it must have as an output; None for what is none."""
        return self.layout_outside(node) if node in self._places else None

    def handle(self, node: Node) -> int | None:
        """The debug handle of the step that is being lowered, else of `node`; what the step joins is noted under it."""
        head = node if self.step is None else self.step.head
        handle = head.meta.get("debug_handle")
        if not isinstance(handle, int):
            return None
        joined = [head] if self.step is None else self.joined(self.step)
        found = (each.meta.get("debug_handle") for each in joined)
        known = self.handles.get(operator_key(handle), ())
        several = (*known, *(each for each in found if isinstance(each, int)))
        self.handles[operator_key(handle)] = tuple(dict.fromkeys(several))
        return handle

    def joined(self, step: Step) -> list[Node]:
        """The calls that the operations of a step stand for."""
        return nodes_of(step)

    # ---- A program ----

    def lower(self, program: ExportedProgram, steps: Sequence[Step] | None = None) -> None:
        """Writes all of it; `steps` are those of the table unless given."""
        steps = self.table.steps(program.graph, self.constants) if steps is None else steps
        self._wide = wide_calls(steps, self.constants) if self.in_halves else set()
        self._record_arguments(program)
        self.begin()
        chosen = self._chosen_ways(steps)
        for step, (layout, candidate) in zip(steps, chosen, strict=True):
            self.layout, self.candidate = layout, candidate
            self.lower_step(step)
        for node, buffer in self._written_back:
            self.write_back(node, buffer)
        if not self.names_outputs:
            for place, node in enumerate(self._outputs):
                if self._places[node] != place or node not in self._written:
                    self.write_output(node, place)

    def lower_step(self, step: Step) -> None:
        """Items are written by the row of the call that gives them."""
        if step.head.target is operator.getitem:
            return
        reason = self.table.step_why_not(step, self.constants)
        if reason:
            raise self.refused(f"{_named(step.head)}: {reason}")
        self.step = step
        try:
            self.table.row_of(step).lower(self, step)
        except (LookupError, TypeError, ValueError) as error:
            what = f"{self.backend} cannot write {_named(step.head)}{source_line(step.head)}"
            raise InternalError(f"{what}: {type(error).__name__}: {error}") from error
        finally:
            self.step = None

    def output_ids(self) -> list[int]:
        """Of the outputs, as values."""
        return [self.read(node, self.layout_outside(node)) for node in self._outputs]

    def result(self, payload: bytes) -> PreprocessResult:
        return PreprocessResult(payload, self.handles or None, self.store.output())

    def refused(self, reason: str) -> Exception:
        return NotCompiled(
            ExportErrorType.NOT_SUPPORTED,
            f"{self.backend} cannot compile this program: {reason}. Use {self.partitioner}, which leaves out what it "
            "does not take",
        )

    def write_output(self, node: Node, place: int) -> None:
        """What no operation wrote where, and as, the caller wants it."""
        wanted, there = self.layout_outside(node), self.layout_of(node)
        source, target = self.read(node, there), self.make_output(node, place)
        if there == wanted:
            self.copy(node, source, target)
        else:
            self.transpose(node, source, target, there, wanted)

    def _record_arguments(self, program: ExportedProgram) -> None:
        """What the delegate gets and gives. Rewrites before may have made an output equal to another, or to an
        input."""
        signature = program.graph_signature
        kinds = {spec.arg.name: spec.kind for spec in signature.input_specs}
        for node in program.graph.find_nodes(op="placeholder"):
            if kinds[node.name] == InputKind.USER_INPUT:
                if reason := self.why_not_taken(node):
                    raise self.refused(f"input {node.name} is {tensor_text(node)}, {reason}")
                self._input = node
                self.define(node, *self.make_input(node, self.num_inputs))
                self._input = None
                self.num_inputs += 1
        kinds_out = {spec.kind for spec in signature.output_specs}
        owned = {OutputKind.BUFFER_MUTATION} if self.writes_buffers else set()
        if not kinds_out <= {OutputKind.USER_OUTPUT, *owned}:
            raise self.refused("it writes buffers")
        self._record_results(program)

    def _record_results(self, program: ExportedProgram) -> None:
        buffers = {each.name: each for each in program.graph.find_nodes(op="placeholder")}
        written = written_placeholders(program.graph_signature)
        for place, node in enumerate(program.graph.output_node().args[0]):
            if place in written:
                self._written_back.append((node, buffers[written[place]]))
                continue
            if not isinstance(node, Node) or self.why_not_taken(node):
                raise self.refused(f"it gives {node}, which is no tensor")
            self._places.setdefault(node, len(self._outputs))
            self._outputs.append(node)

    # ---- Layouts ----

    def _chosen_ways(self, steps: Sequence[Step]) -> list[tuple[Layout, LayoutCandidate]]:
        given = [
            Ports((), node, {layout: LayoutCandidate((), layout)})
            for node, there in self._ids.items()
            if node not in self.constants
            for layout in there
        ]
        taken = [
            Ports((node,), None, {layout: LayoutCandidate((layout,))})
            for node in self._outputs
            if node not in self.constants
            for layout in [self.layout_outside(node)]
        ]
        rows = [self.ports_of(step) for step in steps]
        chosen = solve([*given, *rows, *taken], num_bytes)[len(given) :]
        return [(layout, row.candidates[layout]) for row, layout in zip(rows, chosen, strict=False)]

    def ports_of(self, step: Step) -> Ports:
        """Values and candidates of a step."""
        reads = tuple(self.operands(step))
        has_row = step.pattern or call_name(step.head) in self.table
        row = self.table.row_of(step) if has_row else None
        if row is None or row.layouts is None:
            candidates = {PLAIN: LayoutCandidate((PLAIN,) * len(reads), PLAIN)}
        else:
            candidates = row.layouts(step, reads)
        return Ports(reads, step.result, candidates)


def _named(node: Node) -> str:
    return f"{node.name} ({call_name(node) or node.target})"


def num_bytes(node: Hashable) -> float:
    """Of what a node computes; of several results the first."""
    value = node.meta["val"] if isinstance(node, Node) else None
    value = value[0] if isinstance(value, tuple | list) else value
    if not isinstance(value, torch.Tensor):
        return 0.0
    return float(prod(eval_shape_upper_bound(value.shape)) * value.element_size())
