# SPDX-License-Identifier: BSD-3-Clause
"""The scripts' files, and what they refuse where there is no Mac."""

from __future__ import annotations

import platform
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

ct = pytest.importorskip("coremltools")

from executorch.backends.apple.coreml.compiler import CoreMLBackend  # noqa: E402
from executorch.backends.apple.coreml.partition import CoreMLPartitioner  # noqa: E402
from executorch.examples.apple.coreml.scripts import (  # noqa: E402
    coreml_compute_plan,
    export,
    extract_coreml_models,
)
from executorch.exir import to_edge_transform_and_lower  # noqa: E402
from executorch.exir.error import ExportError  # noqa: E402

needs_no_mac = pytest.mark.skipif(platform.system() == "Darwin", reason="Core ML is here")


def specification(package: Path) -> Any:
    return ct.models.utils.load_spec(str(package))


@pytest.mark.req("APL-016", "APL-020")
def test_an_example_and_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["--model_name", "linear", "-c", "cpu_only", "-precision", "float32"]
    more = ["--generate_etrecord", "--save_processed_bytes"]
    assert export.main([*words, *more]) == 0
    assert {each.name for each in tmp_path.iterdir()} == {
        "linear_coreml_cpu_only.pte", "linear_coreml_cpu_only.bin", "linear_coreml_etrecord.bin"
    }  # fmt: skip
    payload = Path("linear_coreml_cpu_only.bin").read_bytes()
    assert payload in Path("linear_coreml_cpu_only.pte").read_bytes()
    for _ in range(2):  # over what is there
        extract_coreml_models.main(["-m", "linear_coreml_cpu_only.pte"])
    package = Path("extracted_coreml_models/model_1/lowered_module/model.mlpackage")
    assert "saved to path = extracted_coreml_models" in capsys.readouterr().out
    assert [each.name for each in specification(package).description.input] == ["input_1"]


class Scaled(torch.nn.Module):
    def __init__(self, times: float) -> None:
        super().__init__()
        self.times, self.linear = times, torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * self.times


def program_of(models: dict[str, torch.nn.Module], **how: Any) -> bytes:
    programs = {
        name: torch.export.export(model.eval(), (torch.ones(2, 8),))
        for name, model in models.items()
    }
    partitioners = {name: [CoreMLPartitioner(**how)] for name in models} if how else []
    edge = to_edge_transform_and_lower(programs, partitioner=partitioners)
    return edge.to_executorch().buffer


def test_models_of_breaks_and_of_methods(tmp_path: Path, capsys: Any) -> None:
    """A model for each piece; one that methods share comes once, with their functions."""

    class Broken(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sin(torch.acosh(torch.exp(x)))

    pieces = program_of({"forward": Broken()}, compile_specs=[])
    found = extract_coreml_models.extract_coreml_models(pieces, tmp_path / "pieces")
    assert [each.parent.parent.name for each in found] == ["model_1", "model_2"]

    specs = CoreMLBackend.generate_compile_specs(minimum_deployment_target=ct.target.iOS18)
    methods = program_of({"once": Scaled(1), "twice": Scaled(2)}, compile_specs=specs)
    (shared,) = extract_coreml_models.extract_coreml_models(methods, str(tmp_path / "methods"))
    functions = specification(shared).description.functions
    assert sorted(each.name for each in functions) == ["once", "twice"]

    capsys.readouterr()
    assert extract_coreml_models.extract_coreml_models(program_of({"forward": Scaled(1)})) == []
    assert "The model isn't delegated to Core ML." in capsys.readouterr().out


@needs_no_mac
def test_what_needs_a_mac_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RuntimeError, match="Cannot run with pybindings on this platform"):
        export.main(["-m", "add", "--run_with_pybindings"])
    with pytest.raises(ExportError, match="needs macOS"):
        export.main(["-m", "add", "--compile"])
    assert coreml_compute_plan.main(["--model_path", "model.pte"]) == 1
    assert "which macOS 14.4 or later has" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_plan_is_counted(capsys: Any) -> None:
    """Of coremltools' classes, whose names say which device."""
    devices = {name: type(f"ML{name}ComputeDevice", (), {})() for name in ("NeuralEngine", "CPU")}
    operations = [
        SimpleNamespace(operator_name=name, device=device)
        for name, device in (("const", None), ("conv", "NeuralEngine"), ("relu", "NeuralEngine"), ("topk", "CPU"))
    ]  # fmt: skip

    class Plan:
        model_structure = SimpleNamespace(
            program=SimpleNamespace(
                functions={"main": SimpleNamespace(block=SimpleNamespace(operations=operations))}
            )
        )

        def get_compute_device_usage_for_mlprogram_operation(self, operation: Any) -> Any:
            if operation.device is None:
                return None
            return SimpleNamespace(preferred_compute_device=devices[operation.device])

    coreml_compute_plan.report(Plan(), show_non_ane=True)
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["main:", "ANE: 2 / 3 (66.7%)", "CPU: 1 / 3 (33.3%)", "not on the ANE: topk x1"]
