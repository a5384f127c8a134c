# SPDX-License-Identifier: BSD-3-Clause
"""Measured times add up, by operator, by kind and by module; arenas are drawn as the file plans them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.commands.memory import memory_of
from executorch.devtools.commands.origins import Origins
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.commands.times import Execution, execution
from executorch.devtools.costs.timing import traced
from executorch.devtools.devices.job import Job
from executorch.exir import to_edge_transform_and_lower


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(64, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(torch.sigmoid(self.linear(x)), 1)


@pytest.fixture(scope="module", params=["kernels", "xnnpack"])
def ran(request: pytest.FixtureRequest) -> Execution:
    model = torch.nn.Sequential(Block(), Block())
    program = to_edge_transform_and_lower(
        export(model, (torch.randn(8, 64),)),
        partitioner=[XnnpackPartitioner()] if request.param == "xnnpack" else None,
        generate_etrecord=True,
    ).to_executorch()
    file = ProgramFile(Path("model.pte"), bytes(program.buffer))
    record = program.get_etrecord()
    events = traced(Job(file.data, "forward", [torch.randn(8, 64)]), record)
    return execution(file, "forward", events, Origins(record))


def test_an_operator_lies_in_its_call_and_calls_in_the_method(ran: Execution) -> None:
    calls = [each for each in ran.spans if each.is_call]
    assert [each.name for each in calls if not each.engine].count("cumsum.out") == 2
    end = 0.0
    for each in calls:
        assert end <= each.start and each.start + each.seconds <= ran.seconds * 1.001
        end = each.start
    for each in (one for one in ran.spans if not one.is_call):
        assert any(
            call.start <= each.start and each.start + each.seconds <= call.start + call.seconds
            for call in calls
            if call.engine == each.engine
        ), each


def test_tables_have_the_same_sum(ran: Execution) -> None:
    kinds, modules, times = ran.tables()
    whole = 1e3 * sum(each.seconds for each in ran.operators)
    assert sum(row["ms"] for row in kinds.rows) == pytest.approx(whole)
    assert sum(row["ms"] for row in times.rows) == pytest.approx(whole)
    by_module = {row["module"]: row["ms"] for row in modules.rows}
    assert by_module["(the model)"] == pytest.approx(whole)
    assert by_module["0"] + by_module["1"] == pytest.approx(whole)
    assert by_module["0.linear"] < by_module["0"]
    assert any("torch.cumsum" in row["line"] for row in times.rows)


def test_the_timeline_has_all_and_names_lines(ran: Execution) -> None:
    svg = ran.picture().svg
    assert svg.count("<rect") == len(ran.spans) and "times_test.py:" in svg


def test_arenas_are_drawn_as_they_are_planned() -> None:
    """x + 1 lives in calls 0 and 1, its sine in 1 and 2: 4 x 64 x 64 bytes each, which do not overlap."""

    class Waves(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cos(torch.sin(x + 1))

    program = to_edge_transform_and_lower(export(Waves(), (torch.ones(64, 64),))).to_executorch()
    file = ProgramFile(Path("waves.pte"), bytes(program.buffer))
    found = memory_of(file.plan(), None)
    assert found is not None
    made = {each.made_by: each for each in found.tensors}
    one, sine = made["aten::add.Scalar_out"], made["aten::sin.out"]
    assert (one.first, one.last, sine.first, sine.last) == (0, 1, 1, 2)
    assert one.num_bytes == sine.num_bytes == 4 * 64 * 64
    assert abs(one.offset - sine.offset) >= 4 * 64 * 64
    assert found.alive[found.peak] == sum(row["bytes"] for row in found.owners)
    whole, arena = found.pictures()
    drawn = [each for each in found.tensors if each.num_bytes]
    assert whole.svg.count("<rect") == 3 and arena.svg.count("<rect") == 1 + len(drawn)
    assert "float32[64, 64]" in arena.svg and f"at call {found.peak}" in arena.title
