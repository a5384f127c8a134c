# SPDX-License-Identifier: BSD-3-Clause
"""Programs in half precision: bisect compares their values, and the operator that overflows is named, by bisect and by
doctor. What reaches 65504 in float16 is arithmetic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.test.needs_runtime import computes_halves
from executorch.devtools import Inspector, commands
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime

HOLDS_MORE = not computes_halves()  # delegates compute in float32, and round arguments
KERNELS, XNNPACK = None, [XnnpackPartitioner()]


class Square(torch.nn.Module):
    """Of 300 the square is 90000; the output is finite all the same, and 0 instead of 1/300."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        z = y * y
        return y / z


class Layers(torch.nn.Module):
    def __init__(self, weight: float) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(64, 64, bias=False) for _ in range(3)])
        for layer in self.layers:
            torch.nn.init.constant_(layer.weight, weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


class Masked(torch.nn.Module):
    """Infinities that are meant, which softmax makes zeros of."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = torch.ones(8, 8, dtype=torch.bool).triu(1)
        return torch.softmax((x @ x.T).masked_fill(mask, float("-inf")), -1)


class NotANumber(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sqrt(x - 10) + 1


class Saturates(torch.nn.Module):
    """exp overflows; what is made of it is 0, as it should be."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 / torch.exp(x * 20)


class FromFloat(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.float() * 70000).half() - 1


def saved(
    folder: Path, model: torch.nn.Module, x: torch.Tensor, partitioner: Any = KERNELS
) -> tuple[Path, Path]:
    exported = export(model.eval().to(x.dtype), (x,))
    lowered = to_edge_transform_and_lower(exported, partitioner=partitioner, generate_etrecord=True)
    program = lowered.to_executorch()
    program.save(folder / "model.pte")
    program.get_etrecord().save(folder / "model.etrecord")
    return folder / "model.etrecord", folder / "model.pte"


def bisect(capsys: pytest.CaptureFixture[str], record: Path, file: Path, status: int) -> Any:
    assert commands.main(["bisect", str(record), str(file), "--json"]) == status
    return json.loads(capsys.readouterr().out)


def doctor(capsys: pytest.CaptureFixture[str], record: Path, file: Path, status: int) -> Any:
    command = ["doctor", str(file), "--etrecord", str(record), "--json"]
    assert commands.main(command) == status
    found = json.loads(capsys.readouterr().out)
    return [row for row in found["findings"] if row["kind"] in ("stops", "numbers")]


def halves(*numbers: float) -> torch.Tensor:
    return torch.tensor([numbers] * 4, dtype=torch.float16)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_values_of_half_types_are_recorded_and_compared(
    dtype: torch.dtype, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = torch.linspace(0.5, 2, 32).reshape(4, 8).to(dtype)
    files = saved(tmp_path, Square(), x)
    found = bisect(capsys, *files, status=0)
    assert [row["runs as"] for row in found["operators"]] == [
        "aten::relu.out",
        "aten::mul.out",
        "aten::div.out",
    ]
    loaded = Runtime.get().load_program(
        files[1].read_bytes(), enable_etdump=True, debug_buffer_size=1 << 16
    )
    loaded.load_method("forward").execute([x])
    loaded.write_etdump_result_to_file(str(tmp_path / "dump"), str(tmp_path / "values"))
    inspector = Inspector(
        etdump_path=str(tmp_path / "dump"), debug_buffer_path=str(tmp_path / "values")
    )
    recorded = [
        event.debug_data[-1]
        for block in inspector.event_blocks
        for event in block.events
        if event.debug_data and event.name == "OPERATOR_CALL"
    ]
    assert recorded and all(value.dtype == dtype for value in recorded)
    assert any(torch.equal(value, x * x) for value in recorded)


@pytest.mark.parametrize("partitioner", [KERNELS, XNNPACK], ids=["kernels", "xnnpack"])
def test_the_operator_that_overflows(
    partitioner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = saved(tmp_path, Square(), halves(256, 300, 300, 260), partitioner)
    found = bisect(capsys, *files, status=1)
    assert found["wrong"] == []  # float16 overflows in PyTorch, too
    (row,) = found["infinite"]
    assert (row["kind"], row["elements"]) == ("overflow", 16)
    assert row["delegated"] == (partitioner is not None)
    assert "z = y * y" in row["line"] and "reach 9e+04, float16 ends at 65504" in row["why"]
    if partitioner is not None and HOLDS_MORE:
        (harmless,) = doctor(capsys, *files, status=0)
        assert harmless["kind"] == "numbers" and "within 2% all the same" in harmless["why"]
        return
    (stops,) = doctor(capsys, *files, status=1)
    assert stops["kind"] == "stops" and "overflow" in stops["finding"]
    assert "z = y * y" in stops["line"] and "outputs are wrong" in stops["why"]
    assert "float32" in stops["next step"]


@pytest.mark.parametrize("partitioner", [KERNELS, XNNPACK], ids=["kernels", "xnnpack"])
def test_the_first_of_several_layers(
    partitioner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """64 x 64 = 4096, 262144: the second layer is the first that float16 cannot hold."""
    files = saved(tmp_path, Layers(1.0), torch.full((2, 64), 64.0).half(), partitioner)
    (row,) = bisect(capsys, *files, status=1)["infinite"]
    assert row["kind"] == "overflow" and "2.62e+05" in row["why"] and row["elements"] == 128
    (stops,) = doctor(capsys, *files, status=1)
    assert stops["kind"] == "stops"


def test_bfloat16_and_float32_hold_what_float16_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for dtype in (torch.bfloat16, torch.float32):
        files = saved(tmp_path, Square(), halves(1, 2, 300, 200).to(dtype))
        assert bisect(capsys, *files, status=0)["infinite"] == []
        assert doctor(capsys, *files, status=0) == []


def test_infinities_that_are_meant_are_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for dtype in (torch.float16, torch.float32):
        files = saved(tmp_path, Masked(), torch.eye(8, dtype=dtype))
        assert bisect(capsys, *files, status=0)["infinite"] == []
        assert doctor(capsys, *files, status=0) == []


def test_an_overflow_that_does_no_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = saved(tmp_path, Saturates(), halves(1, 2, 3))
    (row,) = doctor(capsys, *files, status=0)
    assert row["kind"] == "numbers" and "outputs are within 2% all the same" in row["why"]


def test_a_conversion_overflows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = saved(tmp_path, FromFloat(), halves(1, 0.5))
    (row,) = bisect(capsys, *files, status=1)["infinite"]
    assert "7e+04" in row["why"] and ".half() - 1" in row["line"]
    assert doctor(capsys, *files, status=1)[0]["kind"] == "stops"


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_the_first_nan(
    dtype: torch.dtype, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The square root of -9, of float32 as well; float64 has none, so that the outputs are those of the model."""
    files = saved(tmp_path, NotANumber(), halves(1, 11).to(dtype))
    (row,) = bisect(capsys, *files, status=0)["infinite"]
    assert (row["kind"], row["elements"]) == ("NaN", 4) and "torch.sqrt(x - 10)" in row["line"]
    assert doctor(capsys, *files, status=0) == []
