# SPDX-License-Identifier: BSD-3-Clause
"""Programs built with only the operators, and only the dtypes, that were selected."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import yaml

from executorch.examples.models import make_example
from executorch.exir import to_edge
from executorch.test.e2e.build_tree import ROOT
from executorch.test.install.options_test import configure

EXAMPLES = ROOT / "examples" / "selective_build"


def build(folder: Path, example: str, *options: str) -> Path:
    launcher = shutil.which("ccache")
    command = ["cmake", "-S", EXAMPLES / example, "-B", folder, "-G", "Ninja"]
    command += [f"-DPYTHON_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Release", *options]
    if launcher:
        command += [f"-DCMAKE_{language}_COMPILER_LAUNCHER={launcher}" for language in ("C", "CXX")]
    for words in (command, ["cmake", "--build", folder, "--target", "selective_build_test"]):
        done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
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
    program = build(tmp_path / "b", "advanced", option)
    check_equals_eager(program, save("mul", tmp_path), tmp_path)
    refused = run(program, save("softmax", tmp_path), tmp_path / "out")
    assert refused.returncode != 0
    assert "aten::_softmax.out" in refused.stderr and "0x14" in refused.stderr


@pytest.mark.full
@pytest.mark.req("KS-028", "KS-033", "KS-019")
def test_operators_from_a_table_of_custom_ones(tmp_path: Path) -> None:
    program = build(tmp_path / "b", "advanced", "-DEXECUTORCH_SELECT_OPS_YAML=ON")
    refused = run(program, save("mul", tmp_path), tmp_path / "out")
    assert "aten::mul" in refused.stderr and "0x14" in refused.stderr
    names = subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True)
    assert "custom::native::mul3_out_impl" in names.stdout


@pytest.mark.full
@pytest.mark.req("KS-029", "KS-030", "KS-033", "KS-035", "BLD-055")
def test_a_model_decides_operators_and_dtypes(tmp_path: Path) -> None:
    model = save("llama_kv", tmp_path)
    option = f"-DEXECUTORCH_SELECT_OPS_FROM_MODEL={model}"
    by_dtype = build(tmp_path / "d", "advanced", option, "-DEXECUTORCH_DTYPE_SELECTIVE_BUILD=ON")
    by_operator = build(tmp_path / "o", "advanced", option)
    by_option = build(tmp_path / "b", "basic", f"-DEXECUTORCH_SELECT_OPS_MODEL={model}")
    everything = build(tmp_path / "a", "advanced", "-DEXECUTORCH_SELECT_ALL_OPS=ON")
    for program in (by_dtype, by_operator, by_option, everything):
        assert run(program, model, tmp_path / "out").returncode == 0
    sizes = []
    for program in (by_dtype, by_operator, everything):
        subprocess.run(["strip", program], check=True)
        sizes.append(program.stat().st_size)
    print(
        f"stripped bytes: dtypes of the model {sizes[0]}, its operators {sizes[1]}, all {sizes[2]}"
    )
    assert sizes[0] < sizes[1] < sizes[2]


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
