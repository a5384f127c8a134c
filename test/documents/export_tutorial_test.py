# SPDX-License-Identifier: BSD-3-Clause
"""The export tutorial with today's torch.export, and the smaller promises around it."""

from __future__ import annotations

import importlib
import warnings
from pathlib import Path

import pytest
import tomllib
import torch
from torch.export import Dim, export

from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from executorch.exir._warnings import ExperimentalWarning, deprecated, experimental
from executorch.exir.passes.sym_shape_eval_pass import (
    ConstraintBasedSymShapeEvalPass,
    HintBasedSymShapeEvalPass,
)
from executorch.extension.export_util import export_to_exec_prog
from executorch.extension.export_util.utils import save_pte_program
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import ROOT


class SimpleConv(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(in_channels=3, out_channels=16, kernel_size=3, padding=1)
        self.relu = torch.nn.ReLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.conv(x)
        return self.relu(a)


def run(path: Path | str, *inputs: torch.Tensor) -> torch.Tensor:
    return Runtime.get().load_program(str(path)).load_method("forward").execute(inputs)[0]


@pytest.mark.req("CMP-012", "CMP-062", "CMP-C01")
@pytest.mark.parametrize("strict", [True, False])
def test_the_tutorial_from_export_to_model_pte(tmp_path: Path, strict: bool) -> None:
    example_args = (torch.randn(1, 3, 256, 256),)
    model = SimpleConv().eval()
    aten_dialect = export(model, example_args, strict=strict)
    edge_program = to_edge(aten_dialect, compile_config=EdgeCompileConfig(_check_ir_validity=True))
    executorch_program = edge_program.to_executorch(ExecutorchBackendConfig(passes=[]))
    path = tmp_path / "model.pte"
    with open(path, "wb") as file:
        file.write(executorch_program.buffer)
    torch.testing.assert_close(run(path, *example_args), model(*example_args))


@pytest.mark.req("CMP-062", "CMP-C01")
def test_the_tutorial_with_dynamic_shapes(tmp_path: Path) -> None:
    class Basic(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x + y

    dim = Dim("dim_x", min=1, max=10)
    x, y = torch.randn(3, 3), torch.randn(3, 3)
    program = export(Basic(), (x, y), dynamic_shapes={"x": {0: dim}, "y": {0: dim}})
    path = tmp_path / "basic.pte"
    to_edge(program).to_executorch().save(str(path))
    for rows in (1, 4, 10):
        x, y = torch.randn(rows, 3), torch.randn(rows, 3)
        torch.testing.assert_close(run(path, x, y), x + y)


@pytest.mark.req("CMP-C13")
def test_a_bound_method_prints_as_such() -> None:
    edge = to_edge(export(SimpleConv(), (torch.randn(1, 3, 8, 8),)))
    assert "EdgeProgramManager.exported_program" in str(edge.exported_program)


@pytest.mark.req("CMP-011")
@pytest.mark.parametrize("name", ["x.pte", "x"])
def test_save_pte_program(tmp_path: Path, name: str) -> None:
    x = torch.randn(2, 3)
    module = torch.nn.Linear(3, 3).eval()
    written = save_pte_program(export_to_exec_prog(module, (x,)), name, str(tmp_path))
    assert Path(written) == tmp_path / "x.pte"
    torch.testing.assert_close(run(written, x), module(x))


@pytest.mark.req("BLD-C07", "CMP-012")
def test_versions_that_the_package_admits() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    from packaging.specifiers import SpecifierSet

    wanted = SpecifierSet(project["requires-python"])
    admitted = [f"3.{minor}" for minor in range(8, 16) if f"3.{minor}" in wanted]
    assert admitted == ["3.10", "3.11", "3.12", "3.13"]
    assert tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 9)


@pytest.mark.req("CMP-058", "PY-016")
def test_decorators_of_the_api_life_cycle() -> None:
    @deprecated("Please use `new_call` instead; this will be removed in 1.6.")
    def old_call() -> int:
        """.. warning:: deprecated"""
        return 1

    @experimental("This API is experimental and may change without notice.")
    class Trial:
        pass

    with pytest.warns(DeprecationWarning, match=r"`new_call` instead.*removed in 1\.6"):
        assert old_call() == 1
    with pytest.warns(ExperimentalWarning, match="may change"):
        Trial()
    assert old_call.__doc__ == ".. warning:: deprecated" and old_call.__name__ == "old_call"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ExperimentalWarning):
            Trial()


FOLDERS = {
    "_serialize": ("_serialize._program", "serialize_pte_binary"),
    "backend": ("backend.backend_api", "to_backend"),
    "capture": ("capture", "CaptureConfig"),
    "dialects": ("dialects._ops", "ops"),
    "emit": ("emit", "emit_program"),
    "operator": ("operator.convert", "to_out_variant"),
    "passes": ("passes", "MemoryPlanningPass"),
    "program": ("program", "to_edge"),
    "serde": ("serde.serialize", "serialize"),
    "verification": ("verification.verifier", "EXIREdgeDialectVerifier"),
}


@pytest.mark.req("CMP-061")
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_documented_folders_are_packages_that_hold_their_subject(folder: str) -> None:
    package = importlib.import_module(f"executorch.exir.{folder}")
    assert Path(package.__file__ or "").name == "__init__.py"
    module, name = FOLDERS[folder]
    assert hasattr(importlib.import_module(f"executorch.exir.{module}"), name)


@pytest.mark.req("CMP-C12")
def test_a_call_with_the_wrong_number_of_channels_says_which_size_is_expected(
    tmp_path: Path,
) -> None:
    model = torch.nn.Conv2d(1, 4, kernel_size=3).eval()
    x = torch.randn(1, 1, 32, 32)
    path = tmp_path / "model.pte"
    to_edge(export(model, (x,))).to_executorch().save(str(path))
    torch.testing.assert_close(run(path, x), model(x))
    with pytest.raises(
        RuntimeError, match=r"Expected shape \(1, 1, 32, 32\), but received \(1, 3, 32, 32\)"
    ):
        run(path, torch.randn(1, 3, 32, 32))


@pytest.mark.req("CMP-C14")
def test_memory_is_planned_for_the_upper_bound_and_not_for_the_example(tmp_path: Path) -> None:
    class Sum(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (x * 2).exp() + x

    program = export(Sum(), (torch.randn(3, 4),), dynamic_shapes=({0: Dim("rows", max=10)},))
    default = ExecutorchBackendConfig()
    assert isinstance(default.sym_shape_eval_pass, ConstraintBasedSymShapeEvalPass)
    path, small = tmp_path / "bound.pte", tmp_path / "hint.pte"
    to_edge(program).to_executorch(default).save(str(path))
    with pytest.warns(FutureWarning, match="HintBasedSymShapeEvalPass is deprecated"):
        hint = ExecutorchBackendConfig(sym_shape_eval_pass=HintBasedSymShapeEvalPass())
    to_edge(program).to_executorch(hint).save(str(small))
    for rows in (1, 3, 10):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(run(path, x), Sum()(x))
    torch.testing.assert_close(run(small, x[:3]), Sum()(x[:3]))
    with pytest.raises(RuntimeError):
        run(small, x)
