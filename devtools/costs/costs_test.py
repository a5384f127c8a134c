# SPDX-License-Identifier: BSD-3-Clause
"""What operators have to do, and how long a machine of known rates needs for it: by arithmetic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.devtools.commands.program_file import ProgramFile
from executorch.devtools.costs import machine, probes, rates, work
from executorch.devtools.costs.estimate import Estimated, estimates
from executorch.devtools.costs.machine import KERNELS, Engine, Machine
from executorch.devtools.costs.work import Work, multiply_adds_of, work_of
from executorch.devtools.inspector._graphs import one_method
from executorch.exir import ExecutorchProgramManager, to_edge_transform_and_lower

XNNPACK = "XnnpackBackend"


def lowered(module: nn.Module, *inputs: torch.Tensor, xnnpack: bool) -> ExecutorchProgramManager:
    exported = torch.export.export(module.eval(), inputs)
    partitioner = [XnnpackPartitioner()] if xnnpack else None
    edge = to_edge_transform_and_lower(exported, partitioner=partitioner, generate_etrecord=True)
    return edge.to_executorch()


def works(module: nn.Module, *inputs: torch.Tensor) -> list[Work]:
    record = lowered(module, *inputs, xnnpack=False).get_etrecord()
    nodes = one_method(record.edge_dialect_program).graph.nodes
    calls = [node for node in nodes if node.op == "call_function"]
    return [found for node in calls if (found := work_of(node)) is not None]


def estimated(module: nn.Module, *inputs: torch.Tensor, here: Machine) -> list[Estimated]:
    program = lowered(module, *inputs, xnnpack=True)
    file = ProgramFile(Path("model.pte"), bytes(program.buffer))
    return estimates(file, "forward", program.get_etrecord(), here)


class Matmuls(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv2d(4, 6, 3, groups=2)
        self.linear = nn.Linear(5, 7)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.convolution(x), self.linear(y), torch.bmm(x[0], x[0].transpose(1, 2))


def test_multiply_adds_are_counted() -> None:
    record = lowered(Matmuls(), torch.ones(1, 4, 8, 8), torch.ones(3, 5), xnnpack=False)
    graph = one_method(record.get_etrecord().edge_dialect_program).graph
    counted = [multiply_adds_of(node) for node in graph.nodes if node.op == "call_function"]
    # 6 x 6 x 6 outputs of 2 x 3 x 3 each; 3 x 7 of 5; 4 matrices, 8 x 8 of 8
    assert sorted(filter(None, counted)) == sorted([6 * 6 * 6 * 18, 3 * 7 * 5, 4 * 8 * 8 * 8])


@pytest.mark.parametrize(
    "module, kind, amount",
    [
        (nn.Conv2d(4, 8, 1), work.MATMUL, 8 * 10 * 10 * 4),
        (nn.Conv2d(4, 8, 3), work.WINOGRAD, 8 * 8 * 8 * 36),
        (nn.Conv2d(4, 8, 3, stride=2), work.CONVOLUTION, 8 * 4 * 4 * 36),
        (nn.Conv2d(4, 8, 3, groups=2), work.CONVOLUTION, 8 * 8 * 8 * 18),
        (nn.Conv2d(4, 8, 3, groups=4), work.DEPTHWISE, 8 * 8 * 8 * 9),
        (nn.ConvTranspose2d(4, 8, 2, 2), work.CONVOLUTION, 4 * 10 * 10 * 32),
        (nn.GELU(), work.FUNCTION, 400),
        (nn.LayerNorm(10), work.NORM, 400 + 2 * 40),
        (nn.AvgPool2d(2), work.REDUCTION, 400),
        (probes.Calls(lambda x: x.permute(0, 2, 3, 1).contiguous()), work.ARRANGE, 400),
        (nn.Upsample(scale_factor=2), work.RESAMPLE, 1600),
        (nn.ReLU(), work.ELEMENTWISE, 400),
    ],
)
def test_each_kind_has_its_amount(module: nn.Module, kind: str, amount: int) -> None:
    """Of a [1, 4, 10, 10] input. A norm writes means and deviations, too."""
    assert Work(kind, amount) in works(module, torch.ones(1, 4, 10, 10))


def test_a_view_does_nothing() -> None:
    assert works(nn.Flatten(), torch.ones(1, 4, 10, 10)) == []


def test_seconds_are_the_larger_of_computing_and_moving() -> None:
    engines = {KERNELS: Engine(1e6, 1e6, 0.5, {work.MATMUL: 1e3}), "other": Engine(2e6, 2e6, 0.25)}
    here = Machine(engines)
    assert here.seconds(KERNELS, [Work(work.MATMUL, 2000)], 1000) == 0.5 + 2.0
    assert here.seconds(KERNELS, [Work(work.MATMUL, 2000)], 3_000_000) == 0.5 + 3.0
    # An engine without a rate takes the kernels', and moves as fast as it does itself.
    assert here.seconds("other", [Work(work.MATMUL, 2000)], 3_000_000) == 0.25 + 2.0
    assert here.seconds("unknown", [], 3_000_000) == 0.5 + 3.0


def test_bandwidth_goes_from_near_to_far() -> None:
    engine = Engine(64.0, 1.0, 0.0)
    assert engine.bytes_per_second(machine.NEAR_BYTES // 2) == 64.0
    assert engine.bytes_per_second(machine.FAR_BYTES * 2) == 1.0
    middle = int((machine.NEAR_BYTES * machine.FAR_BYTES) ** 0.5)
    assert engine.bytes_per_second(middle) == pytest.approx(8.0, rel=1e-3)


def test_a_delegate_goes_over_values_it_has_just_computed() -> None:
    """relu belongs to the matmul; softmax of two readers' values stands alone, in the kernels or in the delegate."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            y = torch.relu(self.first(x))
            return y, torch.cumsum(self.second(y), 1)

    per_second = {work.MATMUL: 1e3}
    here = Machine({KERNELS: Engine(1.0, 1.0, 0.0), XNNPACK: Engine(1e9, 1e9, 0.0, per_second)})
    found = estimated(Model(), torch.ones(3, 8), here=here)
    assert [each.engine for each in found] == [XNNPACK, XNNPACK, KERNELS]
    names = [{work.name_of(node) for node in each.nodes} for each in found]
    assert "relu" in names[0] and names[2] == {"cumsum"}
    assert found[0].seconds == 3 * 16 * 8 / 1e3 and found[1].seconds == 3 * 4 * 16 / 1e3
    assert found[2].seconds == 2 * 3 * 4 * 4  # bytes read and written, one a second


def test_kernels_go_over_the_values_of_each_node() -> None:
    """An operator that is written as several: its values are read and written by each of them."""
    exported = torch.export.export(nn.Hardswish(), (torch.ones(3, 8),))
    program = to_edge_transform_and_lower(exported, generate_etrecord=True).to_executorch()
    file = ProgramFile(Path("model.pte"), bytes(program.buffer))
    here = Machine({KERNELS: Engine(1.0, 1.0, 0.5)})
    (found,) = estimates(file, "forward", program.get_etrecord(), here)
    # x + 3, two bounds, times x, over 6: five calls that write, six reads; two numbers of 4 bytes; one second a byte
    assert found.seconds == 5 * 0.5 + 11 * 3 * 8 * 4 + 2 * 4


def test_rates_are_measured_once_and_in_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = rates.machine([XNNPACK, "NoSuchBackend"])
    (kept,) = (tmp_path / "executorch").iterdir()
    assert set(json.loads(kept.read_text())) == {KERNELS, XNNPACK} == set(first.engines)
    assert set(work.CONTRACTIONS) <= set(first.engines[KERNELS].rates)
    assert "claimed no node" not in caplog.text
    monkeypatch.setattr(probes, "measured", lambda name, device: pytest.fail(f"{name} was known"))
    assert rates.machine([XNNPACK]) == first


@pytest.mark.parametrize("corrupted", ["", "[]", '{"": {"near": 1}}', '{"": 1}'])
def test_a_corrupted_file_of_rates_is_measured_anew(
    corrupted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(
        probes, "measured", lambda name, device: Engine(1.0, 1.0, 0.0, {work.NORM: 2.0})
    )
    rates.machine()
    (kept,) = (tmp_path / "executorch").iterdir()
    kept.write_text(corrupted)
    assert rates.machine().engines == {KERNELS: Engine(1.0, 1.0, 0.0, {work.NORM: 2.0})}
    assert json.loads(kept.read_text())[KERNELS]["rates"] == {work.NORM: 2.0}
