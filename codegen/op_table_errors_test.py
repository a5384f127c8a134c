# SPDX-License-Identifier: BSD-3-Clause
"""What is said about op tables that are wrong: the file, the line of the row, and what was expected."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.codegen import gen
from executorch.codegen.tools import gen_oplist, merge_yaml
from executorch.test.repository.sources import ROOT

GOOD = "- op: add.out\n  kernels:\n    - arg_meta: null\n      kernel_name: k::add_out\n\n"
ALIASED = """- op: add.out
  type_alias: {T0: [Float]}
  dim_order_alias: {D0: [[0, 1]]}
  kernels:
    - arg_meta: {self: [T0, D0], other: [T0, D0], out: [T0, D0]}
      kernel_name: k::one
"""

# The row that is wrong, which stands in line 6 of its file, and what is said of it.
WRONG_ROWS = {
    "unknown key": ("- op: mul.out\n  kernals: []\n", "found kernals; did you mean kernels?"),
    "unknown key of a kernel": (
        "- op: mul.out\n  kernels:\n    - arg_meta: null\n      kernel: k::mul\n",
        "a kernel has arg_meta, kernel_name; found kernel",
    ),
    "no kernel name": (
        "- op: mul.out\n  kernels:\n    - arg_meta: null\n",
        "a kernel of aten::mul.out lacks kernel_name",
    ),
    "no kernels": ("- op: mul.out\n", "mul.out has no kernels"),
    "kernels that are text": ("- op: mul.out\n  kernels: k::mul\n", "expected a list of kernels"),
    "neither op nor func": ("- kernels: []\n", "row has neither `op` nor `func`"),
    "unknown operator": (GOOD.replace("add.out", "ad.out"), "aten::ad.out"),
    "listed twice": (GOOD, "aten::add.out is listed twice; first in"),
    "no out argument": (
        "- func: my::f(Tensor x) -> Tensor\n  kernels:\n    - arg_meta: null\n      kernel_name: f\n",
        "my::f: not an out-variant: no argument is written to",
    ),
    "not a schema": ("- func: my::f\n", "not an operator schema"),
    "two kernels for all": (
        GOOD.replace("add.out", "mul.out").rstrip() + "\n    - kernel_name: k::other\n",
        "aten::mul.out has two kernels for all dtypes and dim orders: k::add_out and k::other",
    ),
    "two kernels for one key": (
        ALIASED.replace("add.out", "mul.out")
        + "    - arg_meta: {self: [T0, D0], other: [T0, D0], out: [T0, D0]}\n"
        "      kernel_name: k::two\n",
        "aten::mul.out has two kernels for v1/6;0,1|6;0,1|6;0,1|6;0,1: k::one and k::two",
    ),
    "unknown alias": (
        ALIASED.replace("add.out", "mul.out").replace("{T0: [Float]}", "{T1: [Float]}"),
        "unknown alias T0 in arg_meta",
    ),
    "a row that is text": ("- add.out\n", "expected a row of keys, found 'add.out'"),
    "not YAML": ("- op: [mul.out\n", "not YAML"),
}


@pytest.mark.req("KS-012", "KS-016")
@pytest.mark.parametrize("case", WRONG_ROWS)
def test_a_wrong_row_is_named_by_file_and_line(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, words = WRONG_ROWS[case]
    path = tmp_path / "ops.yaml"
    path.write_text(GOOD + text)
    assert gen.main([f"--functions-yaml-path={path}", "--dry-run"]) == 1
    output = capsys.readouterr().err
    line = 7 if case == "not YAML" else 6  # where the bracket was found to be open
    assert output.startswith(f"error: {path}:{line}: ") and words in output


@pytest.mark.parametrize("text, found", [("op: add.out\n", "mapping"), ("add.out\n", "text")])
def test_a_table_that_is_no_list(
    text: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text("# a comment\n" + text)
    assert gen.main([f"--functions-yaml-path={path}", "--dry-run"]) == 1
    assert f"{path}:2: expected a list of rows, found a {found}" in capsys.readouterr().err


def test_an_operator_in_both_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The registry would end the program that links it."""
    paths = tmp_path / "functions.yaml", tmp_path / "custom.yaml"
    for path in paths:
        path.write_text(GOOD)
    arguments = [f"--functions-yaml-path={paths[0]}", f"--custom-ops-yaml-path={paths[1]}"]
    assert gen.main([*arguments, "--dry-run"]) == 1
    output = capsys.readouterr().err
    assert f"aten::add.out is in {paths[0]} and in {paths[1]}; merge_yaml(" in output


def test_other_readers_of_tables_name_them_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text(GOOD + "- ops: mul.out\n")
    merged = [f"--functions-yaml-path={path}", f"--output_dir={tmp_path / 'out'}"]
    listed = [f"--ops_schema_yaml_path={path}", f"--output_path={tmp_path / 'out.yaml'}"]
    message = f"{path}:6: a row has op, func, kernels"
    assert merge_yaml.main(merged) == 1
    assert message in capsys.readouterr().err
    with pytest.raises(RuntimeError, match=re.escape(message)):
        gen_oplist.main(listed)


MERGES = {
    "keywords": "merge_yaml(FUNCTIONS_YAML first.yaml FALLBACK_YAML second.yaml OUTPUT_DIR out)",
    "positions": "merge_yaml(first.yaml second.yaml out)",
}


@pytest.mark.req("KS-018", "KS-019")
@pytest.mark.parametrize("form", MERGES)
def test_merging_in_both_forms_of_the_call(form: str, tmp_path: Path) -> None:
    """The documented pair: opt_add_out of the first wins; what only the second has stays."""
    opt = GOOD.replace("k::add_out", "torch::executor::opt_add_out")
    (tmp_path / "first.yaml").write_text(opt)
    rest = GOOD.replace("k::add_out", "torch::executor::add_out")
    (tmp_path / "second.yaml").write_text(rest + GOOD.replace("add", "mul"))
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(user NONE)\n"
        f'include("{ROOT}/tools/cmake/Codegen.cmake")\n{MERGES[form]}\n'
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "b"]
    command += [f"-DPYTHON_EXECUTABLE={sys.executable}"]
    done = subprocess.run([str(w) for w in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    merged = (tmp_path / "b/out/merged.yaml").read_text()
    assert "opt_add_out" in merged and "executor::add_out" not in merged
    assert "k::mul_out" in merged and merged.count("- op:") == 2


def test_a_merge_that_lacks_a_table_says_which(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(user NONE)\n"
        f'include("{ROOT}/tools/cmake/Codegen.cmake")\nmerge_yaml(FUNCTIONS_YAML a.yaml)\n'
    )
    command = ["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "b")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "merge_yaml: FALLBACK_YAML is missing" in done.stderr
