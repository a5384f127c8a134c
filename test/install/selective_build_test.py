# SPDX-License-Identifier: BSD-3-Clause
"""Programs built with only the operators, and only the dtypes, that were selected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.codegen.tools import gen_oplist
from executorch.examples.models import make_example
from executorch.exir import to_edge, to_edge_transform_and_lower
from executorch.test.e2e.build_tree import ROOT
from executorch.test.install.commands import beside, command
from executorch.test.install.options_test import configure

EXAMPLES = ROOT / "examples" / "selective_build"


def build(name: str, example: str, *options: str) -> Path:
    folder = beside(f"selective-{name}")
    words = ["cmake", "-S", EXAMPLES / example, "-B", folder, "-G", "Ninja"]
    command(*words, f"-DPYTHON_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release", *options)
    command("cmake", "--build", folder, "--target", "selective_build_test")
    return folder / "selective_build_test"


def save(name: str, folder: Path) -> Path:
    path = folder / f"{name}.pte"
    to_edge(make_example(name).export()).to_executorch().save(str(path))
    return path


def run(program: Path, model: Path, output: Path) -> subprocess.CompletedProcess[str]:
    command = [str(program), f"--model_path={model}", f"--output_file={output}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check_equals_eager(program: Path, model: Path, folder: Path) -> None:
    """Runs on ones, as executor_runner does without inputs."""
    done = run(program, model, folder / "out")
    assert done.returncode == 0, done.stderr
    forward = make_example(model.stem).forward
    with torch.no_grad():
        expected = forward.module(*(torch.ones_like(x) for x in forward.inputs))
    data = bytearray((folder / "out-0.bin").read_bytes())
    actual = torch.frombuffer(data, dtype=expected.dtype).reshape(expected.shape)
    torch.testing.assert_close(actual, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.full
@pytest.mark.req("KS-019", "KS-033", "KS-031", "KS-C02", "KS-C05")
def test_operators_from_a_list(tmp_path: Path) -> None:
    option = "-DEXECUTORCH_SELECT_OPS_LIST=aten::add.out,aten::mul.out"
    program = build("list", "advanced", option)
    check_equals_eager(program, save("mul", tmp_path), tmp_path)
    refused = run(program, save("softmax", tmp_path), tmp_path / "out")
    assert refused.returncode != 0
    assert "aten::_softmax.out" in refused.stderr and "0x14" in refused.stderr


@pytest.mark.full
@pytest.mark.req("KS-028", "KS-033", "KS-019")
def test_operators_from_a_table_of_custom_ones(tmp_path: Path) -> None:
    program = build("table", "advanced", "-DEXECUTORCH_SELECT_OPS_YAML=ON")
    refused = run(program, save("mul", tmp_path), tmp_path / "out")
    assert "aten::mul" in refused.stderr and "0x14" in refused.stderr
    names = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True)
    assert "custom::native::mul3_out_impl" in names.stdout


@pytest.fixture(scope="module")
def everything() -> Path:
    return build("all", "advanced", "-DEXECUTORCH_SELECT_ALL_OPS=ON")


@pytest.mark.full
@pytest.mark.req("KS-029", "KS-030", "KS-033", "KS-035", "BLD-055")
@pytest.mark.parametrize("name", ["llama_kv", "mv2"])
def test_a_model_decides_operators_and_dtypes(name: str, everything: Path, tmp_path: Path) -> None:
    model = save(name, tmp_path)
    option = f"-DEXECUTORCH_SELECT_OPS_FROM_MODEL={model}"
    by_dtype = build(f"{name}-dtypes", "advanced", option, "-DEXECUTORCH_DTYPE_SELECTIVE_BUILD=ON")
    by_operator = build(f"{name}-operators", "advanced", option)
    by_option = build(f"{name}-option", "basic", f"-DEXECUTORCH_SELECT_OPS_MODEL={model}")
    for program in (by_dtype, by_operator, by_option, everything):
        if name == "mv2":
            check_equals_eager(program, model, tmp_path)
        assert run(program, model, tmp_path / "out").returncode == 0
    sizes = []
    for program in (by_dtype, by_operator, everything):
        subprocess.run(["strip", "-o", tmp_path / "stripped", program], check=True)
        sizes.append((tmp_path / "stripped").stat().st_size)
    print(
        f"{name}, stripped: its dtypes {sizes[0]}, its operators {sizes[1]}, all {sizes[2]} bytes"
    )
    assert sizes[0] < sizes[1] < sizes[2]


class _Tangent(torch.nn.Module):
    """A linear layer for XNNPACK, and a tangent, which it does not have."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x).tan()


def delegated(folder: Path) -> Path:
    path = folder / "tangent.pte"
    exported = torch.export.export(_Tangent().eval(), (torch.ones(2, 4),))
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    lowered.to_executorch().save(str(path))
    return path


def test_operators_of_a_delegated_model_are_those_that_it_calls(tmp_path: Path) -> None:
    output = tmp_path / "selected.yaml"
    arguments = [f"--model_file_path={delegated(tmp_path)}", f"--output_path={output}"]
    assert gen_oplist.main(arguments) in (0, None)
    assert list(yaml.safe_load(output.read_text())["operators"]) == ["aten::tan.out"]


@pytest.mark.full
@pytest.mark.req("KS-034")
def test_a_delegate_beside_selected_operators(tmp_path: Path) -> None:
    """The backend is linked whole; of kernels only what the rest of the model calls."""
    model = delegated(tmp_path)
    options = [f"-DEXECUTORCH_SELECT_OPS_MODEL={model}", "-DEXECUTORCH_BUILD_XNNPACK=ON"]
    folder = beside("selective-delegate")
    words = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options]
    command(*words, f"-DPYTHON_EXECUTABLE={sys.executable}")
    command("cmake", "--build", folder, "--target", "executor_runner")
    program = folder / "executor_runner"
    done = run(program, model, tmp_path / "out")
    assert done.returncode == 0, done.stderr
    with torch.no_grad():
        expected = _Tangent()(torch.ones(2, 4))
    data = bytearray((tmp_path / "out-0.bin").read_bytes())
    actual = torch.frombuffer(data, dtype=torch.float32).reshape(2, 3)
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)
    refused = run(program, save("mul", tmp_path), tmp_path / "out")
    assert refused.returncode != 0 and "aten::mul.out" in refused.stderr
    names = command("nm", "-C", program)
    assert "xnn_create_runtime" in names and "::tan_out(" in names and "softmax_out" not in names


@pytest.mark.req("KS-029", "KS-030", "BLD-055")
@pytest.mark.parametrize(
    "options, complaint",
    [
        (["LIST=aten::add.out", "YAML=x.yaml"], "cannot both be set"),
        (["LIST=aten::add.out", "MODEL=x.pte"], "cannot both be set"),
        (["YAML=x.yaml", "MODEL=x.pte"], "cannot both be set"),
    ],
    ids=["list and yaml", "list and model", "yaml and model"],
)
def test_one_source_only(tmp_path: Path, options: list[str], complaint: str) -> None:
    code, _, text = configure(tmp_path, *(f"-DEXECUTORCH_SELECT_OPS_{o}" for o in options))
    assert code != 0 and complaint in " ".join(text.split())


@pytest.mark.req("KS-030")
def test_dtypes_need_a_model(tmp_path: Path) -> None:
    code, _, text = configure(tmp_path, "-DEXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD=ON")
    assert code != 0 and "needs EXECUTORCH_SELECT_OPS_MODEL" in text


CALLS = {
    "keywords": 'gen_selected_ops(LIB_NAME lib ROOT_OPS "aten::add.out,aten::mm.out")',
    "positions": 'gen_selected_ops("" "aten::add.out,aten::mm.out" "" "" "")',
    "fewer positions": 'gen_selected_ops("" "aten::add.out,aten::mm.out" "")',
}


@pytest.mark.req("KS-C01", "KS-031")
@pytest.mark.parametrize("call", CALLS)
def test_both_forms_of_the_call(tmp_path: Path, call: str) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(selection NONE)\n"
        f'include("{ROOT}/tools/cmake/Codegen.cmake")\n{CALLS[call]}\n'
        'message(STATUS "selection ${gen_selected_ops_output_yaml}")\n'
    )
    command = [
        "cmake",
        "-S",
        tmp_path,
        "-B",
        tmp_path / "b",
        f"-DPYTHON_EXECUTABLE={sys.executable}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (path,) = re.findall(r"-- selection (.*)", done.stdout)
    assert set(yaml.safe_load(Path(path).read_text())["operators"]) == {
        "aten::add.out",
        "aten::mm.out",
    }
