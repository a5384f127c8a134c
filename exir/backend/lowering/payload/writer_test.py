# SPDX-License-Identifier: BSD-3-Clause
"""`Writer` with a format of text lines: values in layouts, constants, outputs, and errors that name the call."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.export import ExportedProgram, export
from torch.fx import Node

from executorch.exir import to_edge
from executorch.exir.backend.lowering.constants import Constants
from executorch.exir.backend.lowering.layout import NHWC, PLAIN, Layout, LayoutCandidate
from executorch.exir.backend.lowering.op_table import Condition, OpTable, Row
from executorch.exir.backend.lowering.payload.writer import NotCompiled, Writer, narrowed
from executorch.exir.backend.lowering.steps import Step
from executorch.exir.error import InternalError


class Lines(Writer[str, str]):
    """A line for each operation: %2 = relu %0. Values are said by what they are."""

    backend, partitioner = "LinesBackend", "LinesPartitioner"

    def make_value(self, node: Node, layout: Layout) -> int:
        return self.add_value(f"{layout}")

    def make_input(self, node: Node, place: int) -> tuple[int, Layout]:
        return self.add_value(f"input {place}"), PLAIN

    def make_output(self, node: Node, place: int) -> int:
        return self.add_value(f"output {place}")

    def read_constant(self, node: Node, layout: Layout, rank: int) -> int:
        key = self.store.file(node, self.constants[node]).key
        return self.constant_once((key, layout), lambda: self.add_value(f"constant {layout}"))

    def copy(self, node: Node, source: int, target: int) -> None:
        self.operations.append(f"%{target} = copy %{source}")

    def transpose(
        self, node: Node, source: int, target: int, before: Layout, after: Layout
    ) -> None:
        self.operations.append(f"%{target} = {before} to {after} %{source}")

    def result_of(self, step: Step, name: str) -> None:
        reads = " ".join(
            f"%{self.read(arg, self.layout)}" for arg in step.head.args if isinstance(arg, Node)
        )
        self.handle(step.head)
        self.operations.append(f"%{self.write(step.result, self.layout)} = {name} {reads}")


def _written(name: str) -> Callable[[Lines, Step], None]:
    return lambda writer, step: writer.result_of(step, name)


def _last(step: Step, operands: list[Node]) -> dict[Layout, LayoutCandidate]:
    return {NHWC: LayoutCandidate((NHWC,) * len(operands), NHWC)}


def _either(step: Step, operands: list[Node]) -> dict[Layout, LayoutCandidate]:
    return {each: LayoutCandidate((each,) * len(operands), each) for each in (NHWC, PLAIN)}


def _fails(writer: Lines, step: Step) -> None:
    raise KeyError("scale")


TABLE = OpTable(
    {
        "aten.convolution.default": Row(_written("conv"), layouts=_last),
        "aten.add.Tensor": Row(_written("add"), layouts=_either),
        "aten.relu.default": Row(_written("relu"), layouts=_either),
        "aten.exp.default": Row(_fails),
        "aten.neg.default": Row(_fails, (Condition(lambda node, constants: False, "never"),)),
    }
)
IMAGE = torch.randn(1, 3, 4, 4)


def _program(module: nn.Module | Callable[..., object], *inputs: Tensor) -> ExportedProgram:
    if not isinstance(module, nn.Module):

        class Model(nn.Module):
            def forward(self, *args: Tensor) -> object:
                return module(*args)

        return _program(Model(), *inputs)
    return to_edge(export(module.eval(), inputs or (IMAGE,))).exported_program()


def _lines(module: nn.Module | Callable[..., object], *inputs: Tensor) -> tuple[Lines, list[str]]:
    program = _program(module, *inputs)
    writer = Lines(TABLE, Constants(program))
    writer.lower(program)
    return writer, writer.operations


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 3, 1, bias=False), nn.Conv2d(3, 3, 1, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.first(x))
        return torch.relu(self.second(y) + y)


def test_a_network_is_transposed_where_it_begins_and_ends() -> None:
    writer, lines = _lines(Residual())
    text = "\n".join(lines)
    assert text.count(" to ") == 2, text
    assert "plain to nhwc %0" in lines[0] and "nhwc to plain" in lines[-1]
    assert [each for each in writer.values if "constant" in each] == ["constant nhwc"]
    assert len(writer.result(b"").data_store_output.pte_data) == 1, "equal constants are one"


def test_a_value_is_transposed_once_for_all_its_readers() -> None:
    conv = nn.Conv2d(3, 3, 1)
    _, lines = _lines(Both(conv))
    assert sum("plain to nhwc %0" in line for line in lines) == 1


class Both(nn.Module):
    def __init__(self, conv: nn.Module) -> None:
        super().__init__()
        self.conv = conv

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return self.conv(x), self.conv(torch.relu(x)), self.conv(x + x), x + x


def test_outputs_are_written_where_they_are_and_else_copied() -> None:
    writer, lines = _lines(lambda x, y: ((s := x + y), s, x), torch.ones(2), torch.ones(2))
    assert writer.values == ["input 0", "input 1", "output 0", "output 1", "output 2"]
    assert lines == ["%2 = add %0 %1", "%3 = copy %2", "%4 = copy %0"]


def test_formats_may_name_their_outputs() -> None:
    class Named(Lines):
        names_outputs = True

    program = _program(lambda x, y: (x + y, x), torch.ones(2), torch.ones(2))
    writer = Named(TABLE, Constants(program))
    writer.lower(program)
    assert writer.operations == ["%2 = add %0 %1"] and writer.output_ids() == [2, 0]


def test_what_a_row_does_not_take_is_refused_by_name() -> None:
    with pytest.raises(
        NotCompiled,
        match=r"LinesBackend cannot compile this program: aten_neg_default \(aten.neg.default\): never. Use "
        "LinesPartitioner, which leaves out what it does not take",
    ):
        _lines(lambda x: -x, torch.ones(2))
    with pytest.raises(
        NotCompiled, match=r"aten_abs_default \(aten.abs.default\): the backend has no"
    ):
        _lines(lambda x: x.abs(), torch.ones(2))


def test_an_error_of_a_row_names_the_call() -> None:
    with pytest.raises(
        InternalError,
        match=r"cannot write aten_exp_default \(aten.exp.default\).*: KeyError: 'scale'",
    ):
        _lines(lambda x: x.exp(), torch.ones(2))


def test_events_are_known_by_what_a_step_joins() -> None:
    program = _program(lambda x: torch.relu(x + x), torch.ones(2))
    for number, node in enumerate(program.graph.nodes):
        node.meta["debug_handle"] = number
    writer = Lines(TABLE, Constants(program))
    writer.lower(program)
    assert sorted(writer.result(b"").debug_handle_map.values()) == [(1,), (2,)]


def test_programs_that_write_buffers_are_refused() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(2))

        def forward(self, x: Tensor) -> Tensor:
            self.count.add_(1)
            return x + x

    with pytest.raises(NotCompiled, match="it writes buffers"):
        _lines(Counts(), torch.ones(2))


def test_narrowed_constants() -> None:
    """The largest number of 16 bits is 65504; of int32 2**31 - 1."""
    inf, nan = torch.inf, torch.nan
    floats = torch.tensor([-inf, -3.4e38, -1e9, -65504.0, 0.1, 65519.0, 1e5, inf, nan])
    found = narrowed(floats, torch.float16)
    assert found.dtype == torch.float16
    largest = 65504.0
    expected = [-inf, -largest, -largest, -largest, 0.0999755859375, largest, largest, inf]
    assert found[:-1].tolist() == expected and found[-1].isnan()
    assert narrowed(torch.tensor([1e300, inf], dtype=torch.float64), torch.float32).tolist() == [
        torch.finfo(torch.float32).max,
        inf,
    ]
    wide = torch.tensor([-(2**40), 7, 2**40])
    assert narrowed(wide, torch.int32).tolist() == [-(2**31), 7, 2**31 - 1]
    same = torch.tensor([True])
    assert narrowed(same, torch.bool) is same
