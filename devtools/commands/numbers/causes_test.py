# SPDX-License-Identifier: BSD-3-Clause
"""Each cause of other numbers, planted in a small model: `bisect` names it first, with its layer and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.export import export
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from executorch.devtools import commands
from executorch.devtools.commands.numbers.overflow import SATURATED, UNDERFLOW, _of_halves
from executorch.devtools.commands.program_file import ProgramFile
from executorch.exir import to_edge_transform_and_lower

XNNPACK = [XnnpackPartitioner()]


class Layers(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = torch.nn.Linear(16, 16), torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(self.first(x))
        return self.second(hidden)


class Squares(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + x
        return y * y


def inputs(scale: float, count: int = 8) -> torch.Tensor:
    return scale * torch.randn(count, 16, generator=torch.Generator().manual_seed(1))


def quantized(model: torch.nn.Module, seen: list[torch.Tensor]) -> torch.nn.Module:
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
    prepared = prepare_pt2e(export(model.eval(), (inputs(1.0),)).module(), quantizer)
    for x in seen:
        prepared(x)
    return convert_pt2e(prepared)


def saved(folder: Path, model: torch.nn.Module, x: torch.Tensor, partitioner: Any) -> list[str]:
    if not isinstance(model, torch.fx.GraphModule):
        model.eval()
    exported = export(model, (x,))
    lowered = to_edge_transform_and_lower(exported, partitioner=partitioner, generate_etrecord=True)
    program = lowered.to_executorch()
    program.save(folder / "model.pte")
    program.get_etrecord().save(folder / "model.etrecord")
    return [str(folder / "model.etrecord"), str(folder / "model.pte")]


def bisect(capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 1) -> Any:
    assert commands.main(["bisect", *arguments, "--json"]) == status
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("partitioner", [None, XNNPACK], ids=["kernels", "xnnpack"])
def test_nothing_where_nothing_is(
    partitioner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = saved(tmp_path, quantized(Layers(), [inputs(1.0)]), inputs(1.0), partitioner)
    found = bisect(capsys, *files, status=0)
    assert found["cause"] is None and found["causes"] == []


@pytest.mark.parametrize("scale", [20.0, 0.01])
def test_inputs_unlike_those_of_the_calibration(
    scale: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = saved(tmp_path, quantized(Layers(), [inputs(1.0)]), inputs(1.0), XNNPACK)
    torch.save((inputs(scale),), tmp_path / "inputs")
    found = bisect(capsys, *files, "--inputs", str(tmp_path / "inputs"))
    cause = found["cause"]
    assert cause["cause"] == "inputs" and "input x goes from" in cause["why"]
    assert (
        "of the values are cut" in cause["why"] if scale > 1 else "steps are used" in cause["why"]
    )
    assert "hidden = torch.relu(self.first(x))" in cause["line"]
    assert "inputs unlike those of the calibration" in found["summary"][0]
    assert found["wrong"] == []  # the program is what the quantized model is


def test_an_observer_that_saw_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(UserWarning, match="without a range of their own"):
        files = saved(tmp_path, quantized(Layers(), [torch.zeros(8, 16)]), inputs(1.0), XNNPACK)
    cause = bisect(capsys, *files)["cause"]
    assert cause["cause"] == "uncalibrated" and "input x goes from" in cause["why"]
    assert "convert_pt2e" in cause["next step"] and "self.first(x)" in cause["line"]


def test_a_layer_whose_values_are_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The range of the first layer's output is halved in the quantized model; that of the input is right."""
    model = quantized(Layers(), [inputs(1.0)])
    calls = [node for node in model.graph.nodes if "quantize_per_tensor" in str(node.target)]
    relu = next(node for node in calls if "relu" in node.args[0].name)
    for node in (relu, *relu.users):
        node.args = (node.args[0], node.args[1] / 4, *node.args[2:])
    model.recompile()
    found = bisect(capsys, *saved(tmp_path, model, inputs(1.0), XNNPACK))
    cause = found["cause"]
    assert cause["operator"] == "aten_relu_default"
    assert cause["cause"] == "clipped" and "of the values are cut" in cause["why"]
    assert "hidden = torch.relu(self.first(x))" in cause["line"], cause
    assert found["wrong"] == []


def test_an_overflow_is_named_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = saved(tmp_path, Squares(), torch.full((2, 16), 200.0).half(), XNNPACK)
    cause = bisect(capsys, *files)["cause"]
    assert cause["cause"] == "overflow" and "return y * y" in cause["line"]
    assert "1.6e+05" in cause["why"] and "65504" in cause["why"]  # (200 + 200) ** 2 = 160000


def test_an_underflow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """(2e-5 + 2e-5) ** 2 = 1.6e-9, and float16 has nothing between 0 and 6e-8."""
    files = saved(tmp_path, Squares(), torch.full((2, 16), 2e-5).half(), XNNPACK)
    cause = bisect(capsys, *files)["cause"]
    assert cause["cause"] == "underflow" and "return y * y" in cause["line"]
    assert "32 of 32 elements are 0" in cause["why"] and "float32" in cause["next step"]


def test_numbers_that_stop_at_the_end_of_the_type() -> None:
    end = torch.tensor([65504.0, 1.0], dtype=torch.float16)
    kind, where = _of_halves(end, torch.tensor([90000.0, 1.0], dtype=torch.float64))
    assert kind == SATURATED and where.tolist() == [True, False]
    kind, _ = _of_halves(end, end.double())
    assert kind is None
    softmax = torch.tensor([1.0, 0.0], dtype=torch.float16)
    kind, _ = _of_halves(softmax, torch.tensor([1.0, 1e-9], dtype=torch.float64))
    assert kind is None
    assert _of_halves(softmax * 0, torch.tensor([1e-9, 0.0], dtype=torch.float64))[0] == UNDERFLOW


def test_an_operator_that_differs_comes_behind_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record, path = saved(tmp_path, Layers(), inputs(1.0), None)
    file = ProgramFile(Path(path))
    weight = max(file.constants, key=lambda each: each.num_bytes)
    data = bytearray(file.data)
    end = weight.offset + weight.num_bytes
    data[weight.offset : end] = bytes(weight.num_bytes)
    Path(path).write_bytes(data)
    found = bisect(capsys, record, path)
    cause = found["cause"]
    assert cause["cause"] == "operator" and cause["operator"] == found["first"]["operator"]
    assert "self.first(x)" in cause["line"] and cause["layer"] == "first"


def test_a_model_of_python_beside_its_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "import torch\nmodel = (torch.nn.Sequential(torch.nn.ReLU()), (torch.ones(2, 16),))\n"
    (tmp_path / "relu_model.py").write_text(source)
    _, path = saved(tmp_path, torch.nn.Sequential(torch.nn.ReLU()), torch.ones(2, 16), None)
    spec = f"{tmp_path / 'relu_model.py'}:model"
    found = bisect(capsys, spec, path, status=0)
    assert found["cause"] is None and len(found["operators"]) == 1
