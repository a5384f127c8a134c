# SPDX-License-Identifier: BSD-3-Clause
"""Selections of several models as one, and the size of a registry for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from executorch.codegen.tools import gen_all_oplist, gen_max_kernel_num, gen_oplist
from executorch.test.repository.sources import ROOT


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


PRIM_OPS = """
// Kernel("no row")
static Kernel prim_ops[] = {
    Kernel("aten::sym_size.int", [](KernelRuntimeContext& c, EValue** s) {}),
    Kernel(
        "executorch_prim::add.Scalar", add),
};
Kernel("no row");
"""


def test_registry_size_of_a_selection(tmp_path: Path) -> None:
    prim_ops, header = write(tmp_path / "prim.cpp", PRIM_OPS), tmp_path / "n.h"
    selected = write_selection(tmp_path / "s.yaml", "add.out,mm.out")
    size_of = gen_max_kernel_num.gen_max_kernel_num
    assert size_of([selected], prim_ops, header) == 2 + 2
    assert "EXECUTORCH_SELECTED_MAX_KERNEL_NUM 4" in header.read_text()
    keys = ["v1/6;0,1|6;0,1", "v1/7;0,1|7;0,1"]
    content = {"operators": {"aten::mul.out": {}}, "et_kernel_metadata": {"aten::add.out": keys}}
    other = write(tmp_path / "other.yaml", yaml.safe_dump(content))
    assert size_of([selected, other], prim_ops, header) == 4 + 3
    for everything in (
        {"include_all_operators": True},
        {"operators": {"aten::add": {"include_all_overloads": True}}},
    ):
        whole = write(tmp_path / "whole.yaml", yaml.safe_dump(everything))
        assert size_of([selected, whole], prim_ops, header) is None
        assert "#pragma once" in header.read_text() and "#define" not in header.read_text()
    with pytest.raises(RuntimeError, match="expected the table of prim ops"):
        size_of([selected], write(tmp_path / "none.cpp", "int x;"), header)


def test_registry_size_counts_all_of_our_prim_ops(tmp_path: Path) -> None:
    source = ROOT / "kernels/prim_ops/register_prim_ops.cpp"
    names = [name for name in re.findall(r'"([\w:.]+)"', source.read_text()) if "::" in name]
    assert {"aten::sym_size.int", "executorch_prim::et_view.default"} <= set(names)
    empty = write(tmp_path / "empty.yaml", "operators: {}")
    count = gen_max_kernel_num.gen_max_kernel_num([empty], source, tmp_path / "n.h")
    assert count == len(names)


def write_selection(path: Path, operators: str) -> Path:
    gen_oplist.main(["--output_path", str(path), "--root_ops", operators])
    return path


def test_selections_of_several_models_are_joined(tmp_path: Path) -> None:
    first = write_selection(tmp_path / "first.yaml", "aten::add.out,aten::mm.out")
    second = write_selection(tmp_path / "selected_operators.yaml", "aten::mm.out aten::mul.out")
    assert gen_all_oplist.model_files(str(tmp_path)) == [second]  # a folder stands for its file
    listed = write(tmp_path / "list.txt", f"{first}\n{second}\n")
    arguments = ["--output-dir", str(tmp_path / "all"), "--model-file-list-path", f"@{listed}"]
    gen_all_oplist.main(arguments)
    joined = yaml.safe_load((tmp_path / "all/selected_operators.yaml").read_text())
    assert list(joined["operators"]) == ["aten::add.out", "aten::mm.out", "aten::mul.out"]
    assert joined["et_kernel_metadata"]["aten::mm.out"] == ["default"]
    named_by = {name: row["debug_info"] for name, row in joined["operators"].items()}
    assert named_by == {
        "aten::add.out": [str(first)],
        "aten::mm.out": [str(first), str(second)],
        "aten::mul.out": [str(second)],
    }
    assert not joined["include_all_operators"]
    with pytest.raises(ValueError, match=r"aten::mm\.out is used in 2 models.*first\.yaml and"):
        gen_all_oplist.main([*arguments, "--check-ops-not-overlapping"])
    with pytest.raises(ValueError, match="found a str; put an @ before"):
        gen_all_oplist.main([*arguments[:3], str(listed)])


def test_operators_with_all_overloads_are_refused_unless_allowed(tmp_path: Path) -> None:
    path = write_selection(tmp_path / "one.yaml", "aten::add.out")
    selection = yaml.safe_load(path.read_text())
    selection["operators"]["aten::add.out"]["include_all_overloads"] = True
    path.write_text(yaml.safe_dump(selection))
    arguments = ["--output-dir", str(tmp_path), "--model-file-list-path", str(path)]
    with pytest.raises(ValueError, match=r"include all overloads.*aten::add\.out"):
        gen_all_oplist.main(arguments)
    gen_all_oplist.main([*arguments, "--allow-include-all-overloads"])
