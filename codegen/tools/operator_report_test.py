# SPDX-License-Identifier: BSD-3-Clause
"""Reports about what programs call, and selections of several programs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml
from torch import nn

from executorch.codegen.tools import gen_oplist
from executorch.codegen.tools.operator_report import main
from executorch.exir import to_edge
from executorch.test.e2e.build_tree import ROOT, binary


class Sums(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x + x) + torch.relu(x)


class Products(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x + x


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """sums.pte calls add.out twice and relu.out on floats; products.pte mul.out and add.out on longs."""
    folder = tmp_path_factory.mktemp("models")
    for name, module, x in (
        ("sums", Sums(), torch.ones(2)),
        ("products", Products(), torch.ones(3, dtype=torch.long)),
    ):
        program = to_edge(torch.export.export(module, (x,))).to_executorch()
        program.save(str(folder / f"{name}.pte"))
    return folder / "sums.pte", folder / "products.pte"


def test_operators_of_several_programs(
    models: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(path) for path in models]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "aten::add.out  calls: products.pte 1, sums.pte 2  dtypes: Float, Long" in lines
    assert "aten::relu.out  calls: sums.pte 1  dtypes: Float" in lines
    assert "aten::mul.out  calls: products.pte 1  dtypes: Long" in lines and len(lines) == 3


def test_why_an_operator_is_in(
    models: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(path) for path in models]
    for name in ("mul.out", "aten::mul.out"):
        assert main([*arguments, "--why", name]) == 0
        output = capsys.readouterr().out
        assert output == (
            "aten::mul.out: products.pte, method forward: 1 calls with Long, Long, Long, Long\n"
        )
    assert main([*arguments, "--why", "aten::tanh.out"]) == 1
    output = capsys.readouterr().err
    assert "none of the 2 programs calls aten::tanh.out; they call aten::add.out, " in output


def test_what_operators_cost_in_a_binary(
    models: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Of relu: the sizes that nm prints for functions of its name, here in the archive of portable kernels."""
    archive = binary("executor_runner").parent / "kernels/portable/libportable_kernels.a"
    assert main([str(models[0]), "--binary", str(archive)]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = {line.split()[1]: int(line.split()[0]) for line in lines[:-1]}
    text = subprocess.run(
        ["nm", "-C", "-S", archive], check=True, capture_output=True, text=True
    ).stdout
    sizes = re.findall(r"^\w+ (\w+) T torch::executor::native::relu_out\(", text, re.M)
    assert listed["aten::relu.out"] >= int(sizes[0], 16) > 0
    assert list(listed.values()) == sorted(listed.values(), reverse=True)
    assert lines[-1].split()[0] == str(sum(listed.values()))


def test_files_that_cannot_be_read_are_named(
    models: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.pte"
    text.write_text("not a program, only text that is long enough")
    assert main([str(text)]) == 1
    assert "expected a program with identifier ET12" in capsys.readouterr().err
    assert main([str(models[0]), "--binary", str(text)]) == 1
    assert f"{text}: " in capsys.readouterr().err


@pytest.mark.req("KS-032", "KS-031")
@pytest.mark.parametrize("form", ["command", "CMake"])
def test_a_selection_of_several_models(
    models: tuple[Path, Path], tmp_path: Path, form: str
) -> None:
    """Operators of both, and of an operator in both the dtypes of both."""
    path, listed = tmp_path / "ops.yaml", ",".join(map(str, models))
    if form == "command":
        gen_oplist.main([f"--output_path={path}", f"--model_file_path={listed}"])
    else:
        (tmp_path / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.24)\nproject(user NONE)\n"
            f'include("{ROOT}/tools/cmake/Codegen.cmake")\n'
            f'gen_selected_ops(LIB_NAME lib OPS_FROM_MODEL "{listed}")\n'
        )
        command = ["cmake", "-S", tmp_path, "-B", tmp_path / "b"]
        command += [f"-DPYTHON_EXECUTABLE={sys.executable}"]
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
        path = tmp_path / "b/lib/selected_operators.yaml"
    selection = yaml.safe_load(path.read_text())
    assert set(selection["operators"]) == {"aten::add.out", "aten::mul.out", "aten::relu.out"}
    keys = selection["et_kernel_metadata"]["aten::add.out"]
    assert keys == ["v1/6;0|6;0|6;0|6;0", "v1/4;0|4;0|4;0|4;0"]
