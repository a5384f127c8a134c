# SPDX-License-Identifier: BSD-3-Clause
"""A program with dynamic dimensions has to do what one exported at the sizes of its inputs has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.costs.estimate import estimates
from executorch.devtools.costs.machine import KERNELS, Engine, Machine
from executorch.devtools.costs.sizes import has_open_sizes, set_sizes
from executorch.devtools.costs.work import CONTRACTIONS, multiply_adds_of, works_of
from executorch.exir import to_edge, to_edge_transform_and_lower


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Softmax(-1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layers(x)
        y = torch.cond(y.sum() > 0, lambda y: y.cumsum(0) * 2, lambda y: torch.exp(y), (y,))
        return y @ y.T


def calls(program: ExportedProgram) -> list[Any]:
    return [
        node
        for module in program.graph_module.modules()
        for node in module.graph.nodes
        if node.op == "call_function"
    ]


@pytest.mark.parametrize("dim", [Dim("b", max=64), 2 * Dim("h", max=32), Dim.AUTO])
def test_works_are_those_of_the_static_program(dim: Any) -> None:
    rows = 6
    static, dynamic = (
        to_edge(export(Model(), (torch.ones(each, 4),), dynamic_shapes=shapes)).exported_program()
        for each, shapes in ((rows, None), (8, {"x": {0: dim}}))
    )
    assert not works_of(calls(dynamic)) or len(works_of(calls(dynamic))) < len(
        works_of(calls(static))
    )
    assert any(map(has_open_sizes, ([node] for node in calls(dynamic))))
    set_sizes(dynamic, (torch.ones(rows, 4),))
    assert sorted(works_of(calls(dynamic))) == sorted(works_of(calls(static)))
    adds = sorted(filter(None, map(multiply_adds_of, calls(dynamic))))
    assert adds == sorted([rows * 4 * 8, rows * rows * 8])
    assert not has_open_sizes(calls(dynamic))


def test_sizes_that_a_run_tells_stay_open() -> None:
    class Nonzero(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return x.nonzero() * 2, x @ x.T

    program = to_edge(
        export(Nonzero(), (torch.ones(8, 4),), dynamic_shapes={"x": {0: Dim("b", max=64)}})
    ).exported_program()
    set_sizes(program, (torch.ones(3, 4),))
    found = {node.name: has_open_sizes([node]) for node in calls(program)}
    assert found["aten_nonzero_default"] and found["aten_mul_tensor"]
    assert not found["aten_mm_default"]
    assert [w.amount for w in works_of(calls(program)) if w.kind in CONTRACTIONS] == [3 * 3 * 4]


def test_an_estimate_is_of_the_sizes_that_ran() -> None:
    seconds = []
    module = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4)).eval()
    here = Machine({KERNELS: Engine(1.0, 1.0, 0.0, {"matmul": 1.0})})
    for shapes in (None, {"input": {0: Dim("b", max=64)}}):
        x = torch.ones(16, 4)
        lowered = to_edge_transform_and_lower(
            export(module, (x,), dynamic_shapes=shapes),
            partitioner=[XnnpackPartitioner()],
            generate_etrecord=True,
        ).to_executorch()
        record = lowered.get_etrecord()
        set_sizes(record.edge_dialect_program, (x,))
        file = ProgramFile(Path("model.pte"), bytes(lowered.buffer))
        seconds.append([each.seconds for each in estimates(file, "forward", record, here)])
    assert seconds[0] == seconds[1] and sum(seconds[0]) >= 2 * 16 * 4 * 8
