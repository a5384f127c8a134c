# SPDX-License-Identifier: BSD-3-Clause
"""Operators of users, from projects outside the tree that find an installed package: by tables, by C++, by Python."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from executorch.exir import ExecutorchProgramManager, to_edge
from executorch.test.e2e.build_tree import ROOT
from executorch.test.install.commands import attempt, command

CONSUMER = ROOT / "test" / "consumer"


def configure(
    project: str, build: Path, prefix: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    launcher = shutil.which("ccache")
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    found = [str(prefix), torch.utils.cmake_prefix_path]
    return attempt(
        *("cmake", "-S", CONSUMER / project, "-B", build, *generator),
        f"-DCMAKE_PREFIX_PATH={';'.join(found)}",
        f"-DPYTHON_EXECUTABLE={sys.executable}",
        *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else []),
        *options,
    )


torch.library.define("my_table::scale", "(Tensor x, float factor) -> Tensor")
torch.library.define(
    "my_table::scale.out", "(Tensor x, float factor, *, Tensor(a!) out) -> Tensor(a!)"
)
torch.library.impl("my_table::scale", "CompositeExplicitAutograd")(lambda x, factor: x * factor)
torch.library.register_fake("my_table::scale")(lambda x, factor: torch.empty_like(x))


@torch.library.impl("my_table::scale.out", "CompositeExplicitAutograd")
def _scale_out(x: torch.Tensor, factor: float, *, out: torch.Tensor) -> torch.Tensor:
    return out.copy_(x * factor)


class Scaled(torch.nn.Module):
    """On ones: 3 from the table's operator, and the sum with it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.my_table.scale(x, 3.0) + x


def program(module: torch.nn.Module, *inputs: torch.Tensor) -> ExecutorchProgramManager:
    return to_edge(torch.export.export(module.eval(), inputs)).to_executorch()


@pytest.mark.req("KS-016", "KS-017", "KS-019", "KS-021", "KS-031", "KS-032", "KS-036")
def test_operators_of_tables_selected_by_a_model(prefix: Path, tmp_path: Path) -> None:
    """Matrices of floats have a kernel of their own; vectors of floats the general one, which adds 1000."""
    model, vector = tmp_path / "model.pte", tmp_path / "vector.pte"
    program(Scaled(), torch.ones(2, 3)).save(str(model))
    program(Scaled(), torch.ones(3)).save(str(vector))
    done = configure("table_ops", tmp_path / "b", prefix, f"-DMODEL={model}")
    assert done.returncode == 0, done.stderr
    command("cmake", "--build", tmp_path / "b")
    runner = tmp_path / "b" / "table_ops"
    # scale gives 3, or 1003; the user's sum adds the input, 1, and 100.
    assert float(command(runner, model)) == 3 + 1 + 100
    assert float(command(runner, vector)) == 1003 + 1 + 100
    generated = tmp_path / "b/generated_lib/RegisterCodegenUnboxedKernelsEverything.cpp"
    registered = re.findall(r'Kernel\("([\w:.]+)"', generated.read_text())
    assert sorted(set(registered)) == ["aten::add.out", "my_table::scale.out"]
    assert registered.count("my_table::scale.out") == 2
    names = command("nm", "-C", runner)
    assert "my_table::native::opt_add_out" in names
    assert "never_called_out" not in names and "native::add_out" not in names


@pytest.mark.req("KS-031", "KS-020")
def test_one_source_of_selection(prefix: Path, tmp_path: Path) -> None:
    done = configure("table_ops", tmp_path / "b", prefix, "-DROOT_OPS=aten::add.out", "-DALL=ON")
    assert done.returncode != 0
    output = " ".join(done.stderr.split())
    assert "gen_selected_ops(generated_lib)" in output and "CMakeLists.txt:15" in output
    assert "found root_ops, include_all_operators" in output


def test_dtypes_are_not_selected_without_the_sources(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(user CXX)\nfind_package(executorch REQUIRED)\n"
        "generate_bindings_for_kernels(FUNCTIONS_YAML ${EXECUTORCH_ROOT}/kernels/portable/functions.yaml)\n"
        "gen_operators_lib(mine KERNEL_LIBS portable_kernels DTYPE_SELECTIVE_BUILD ON)\n"
    )
    done = attempt("cmake", "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}",
                   f"-DPYTHON_EXECUTABLE={sys.executable}")  # fmt: skip
    assert done.returncode != 0 and "by add_subdirectory, not by find_package" in " ".join(
        done.stderr.split()
    )


IN_PYTORCH = """
import sys, torch
torch.ops.load_library(sys.argv[1])
weight, input, bias = torch.randn(3, 5), torch.randn(2, 3), torch.randn(5)
op = torch.ops.myop.custom_linear.default
torch.testing.assert_close(op(weight, input, bias), input @ weight + bias)
torch.testing.assert_close(op(weight, input, None), input @ weight)
turned = input.t().contiguous().t()
torch.testing.assert_close(op(weight, turned, bias), input @ weight + bias)
out = torch.empty(2, 5).t().contiguous().t()
assert torch.ops.myop.custom_linear.out(weight, input, bias, out=out) is out
torch.testing.assert_close(out, input @ weight + bias)
gather, tensors, out = torch.ops.myop.gather.out, [torch.arange(3.0), torch.arange(5.0)], torch.empty(6)
assert gather(tensors, 3, [1, 3], 4, True, "", out=out).tolist() == [0, 0, 6, 12]
assert gather(tensors, 1.5, [1, 2], None, False, "", out=out).tolist() == [0, 0, 1.5]
try:
    gather(tensors, 3, [1, 3], 5, True, "", out=out)
except RuntimeError as error:
    assert "the kernel failed with error 18" in str(error), error
else:
    raise AssertionError("a kernel that fails did not throw")
print("ok")
"""


@pytest.mark.req("KS-022", "KS-023", "KS-024", "KS-026", "RT-020", "BLD-065", "KS-C07")
@pytest.mark.parametrize(  # half a minute of libtorch's headers each
    "prefix", [pytest.param("cmake --install", marks=pytest.mark.full), "wheel"], indirect=True
)
def test_an_operator_in_c_plus_plus_for_pytorch_and_for_programs(
    prefix: Path, tmp_path: Path
) -> None:
    """The documents' listing. What m.def() is given looks composite to PyTorch, and stays one operator in programs."""
    done = configure("custom_linear", tmp_path / "b", prefix, "-DWITH_TORCH=ON")
    assert done.returncode == 0, done.stderr
    command("cmake", "--build", tmp_path / "b")
    (library,) = (tmp_path / "b").glob("libcustom_linear.*")
    assert command(sys.executable, "-c", IN_PYTORCH, library) == "ok\n"
    model = tmp_path / "model.pte"
    expected = float(command(sys.executable, CONSUMER / "custom_linear/export.py", library, model))
    assert float(command(tmp_path / "b/custom_op_runner", model)) == pytest.approx(
        expected, abs=1e-6
    )
