# SPDX-License-Identifier: BSD-3-Clause
"""Schemas, op tables, generated text, merging and selection."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torchgen
import yaml
from torchgen.model import BackendMetadata, DispatchKey, OperatorName

from executorch.codegen import gen, model, parse
from executorch.codegen.api import types
from executorch.codegen.model_operators import model_operators
from executorch.codegen.op_table import read_table
from executorch.codegen.schema import (
    Argument,
    SchemaError,
    SchemaSource,
    parse_schema,
)
from executorch.codegen.tools import (
    combine_prim_ops_headers,
    gen_max_kernel_num,
    gen_oplist,
    gen_ops_def,
    gen_selected_op_variants,
    gen_selected_prim_ops,
    merge_yaml,
)

ADD = "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
ALLCLOSE = (
    "- func: allclose.out(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08,"
    " bool equal_nan=False, bool dummy_param=False, *, Tensor(a!) out) -> Tensor(a!)\n"
    "  kernels:\n    - arg_meta: null\n      kernel_name: torch::executor::allclose_out\n"
)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def op_row(op: str, kernel: str) -> str:
    return f"- op: {op}\n  kernels:\n    - arg_meta: null\n      kernel_name: {kernel}\n"


def test_schema_parts() -> None:
    schema = parse_schema(ADD)
    assert schema.qualified_name == "aten::add.out"
    assert [a.name for a in schema.arguments] == ["self", "other", "alpha", "out"]
    assert [a.is_out for a in schema.arguments] == [False, False, False, True]


@pytest.mark.req("KS-013")
@pytest.mark.parametrize(
    ("kind", "cpp"),
    [
        ("Tensor", "const executorch::aten::Tensor&"),
        ("Tensor?", "const std::optional<executorch::aten::Tensor>&"),
        ("Tensor[]", "executorch::aten::TensorList"),
        ("Tensor?[]", "executorch::aten::ArrayRef<std::optional<executorch::aten::Tensor>>"),
        ("int", "int64_t"),
        ("int[]?", "std::optional<executorch::aten::IntArrayRef>"),
        ("float?", "std::optional<double>"),
        ("bool", "bool"),
        ("str?", "std::optional<std::string_view>"),
        ("Scalar", "const executorch::aten::Scalar&"),
        ("Scalar?", "const std::optional<executorch::aten::Scalar>&"),
        ("ScalarType?", "std::optional<executorch::aten::ScalarType>"),
        ("MemoryFormat?", "std::optional<executorch::aten::MemoryFormat>"),
        ("Device", "executorch::aten::Device"),
    ],
)
def test_parameter_types(kind: str, cpp: str) -> None:
    assert Argument("x", kind).cpp_type == cpp


@pytest.mark.req("KS-012")
@pytest.mark.parametrize(
    "bad",
    [
        "my::op(Tensor a) -> Tensor",
        "my::op.out(Tensor a, *, Tensor(a!) out) -> Tensor[]",
        "my::op.out(Tensor a, *, Tensor(a!) out) -> int",
        "my::op.out(Tensor a, *, Tensor(a!) out) -> Tensor?",
        "not a schema",
    ],
)
def test_bad_schemas_are_refused(bad: str) -> None:
    with pytest.raises(SchemaError):
        parse_schema(bad)


def test_unknown_type_names_the_argument() -> None:
    schema = parse_schema("my::op.out(Generator? g, *, Tensor(a!) out) -> Tensor(a!)")
    with pytest.raises(SchemaError, match="argument g"):
        schema.cpp_parameters()


@pytest.mark.req("KS-015")
def test_native_namespace_is_inserted(tmp_path: Path) -> None:
    path = write(tmp_path / "ops.yaml", op_row("add.out", "custom::add_out"))
    table = read_table(path, SchemaSource())
    assert table[0].kernels[0].qualified == "custom::native::add_out"
    assert "namespace custom::native {" in gen.native_functions_header(table)


@pytest.mark.req("KS-016", "KS-017")
def test_documented_rows(tmp_path: Path) -> None:
    specialised = (
        "- op: add.out\n"
        "  type_alias:\n    T0: [Double, Float]\n"
        "  dim_order_alias:\n    D0: [[0, 1, 2, 3]]\n"
        "  kernels:\n"
        "    - arg_meta:\n        self: [T0, D0]\n        other: [T0, D0]\n        out: [T0, D0]\n"
        "      kernel_name: torch::executor::add_out\n"
    )
    path = write(tmp_path / "ops.yaml", specialised + ALLCLOSE)
    add, allclose = read_table(path, SchemaSource())
    one = ";0,1,2,3"
    assert add.kernels[0].keys == tuple(
        "v1/" + "|".join([number + one] * 4) for number in ("7", "6")
    )
    assert allclose.is_custom and allclose.schema.qualified_name == "aten::allclose.out"
    text = gen.registration_source([add], "h.h", "f", manual=False, boundary=False)
    assert text.count('Kernel("aten::add.out", KernelKey("v1/') == 2


def test_repeated_operator_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "ops.yaml", op_row("add.out", "a") + op_row("add.out", "b"))
    with pytest.raises(SchemaError, match="twice"):
        read_table(path, SchemaSource())


def test_unknown_operator_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path / "ops.yaml", op_row("no_such_operator.out", "x"))
    arguments = ["--functions-yaml-path", str(path), "-d", str(tmp_path / "out")]
    assert gen.main(arguments) == 1
    assert "no_such_operator.out" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="of the pinned PyTorch")
def test_the_table_of_schemas_is_that_of_the_pinned_pytorch() -> None:
    """In a process of its own: operators that this one has registered are not PyTorch's."""
    command = [sys.executable, "-m", "executorch.codegen.tools.aten_schemas", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_operator_that_the_table_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is asked of the installed PyTorch; where there is none, the message says so."""
    source = SchemaSource()
    source._known.clear()
    assert source.find(["add.out"])["add.out"] == parse_schema(ADD)
    source._known.clear()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        SchemaError, match="no schema of aten::add.out in aten_schemas.txt.*install torch"
    ):
        source.find(["add.out"])


@pytest.mark.req("KS-021")
def test_written_files(tmp_path: Path) -> None:
    functions = write(tmp_path / "f.yaml", op_row("add.out", "torch::executor::add_out"))
    out = tmp_path / "out"
    arguments = ["--functions-yaml-path", str(functions), "-d", str(out)]
    assert gen.main([*arguments, "--dry-run"]) == 0
    assert not out.exists()
    assert gen.main(arguments) == 0
    names = {p.name for p in out.iterdir()}
    registration = "RegisterCodegenUnboxedKernelsEverything.cpp"
    assert names == {"NativeFunctions.h", "Functions.h", registration}
    before = (out / registration).stat().st_mtime_ns
    assert gen.main(arguments) == 0
    assert (out / registration).stat().st_mtime_ns == before
    assert gen.main([*arguments, "--manual-registration"]) == 0
    assert "registered = []" not in (out / registration).read_text()


def test_only_selected_operators_are_registered(tmp_path: Path) -> None:
    rows = op_row("add.out", "torch::executor::add_out")
    rows += op_row("mul.out", "torch::executor::mul_out")
    functions = write(tmp_path / "f.yaml", rows)
    selection = tmp_path / "selected.yaml"
    gen_oplist.main(["--output_path", str(selection), "--root_ops", "mul.out"])
    arguments = ["--functions-yaml-path", str(functions), "-d", str(tmp_path / "out")]
    assert gen.main([*arguments, "--op-selection-yaml-path", str(selection)]) == 0
    text = (tmp_path / "out/RegisterCodegenUnboxedKernelsEverything.cpp").read_text()
    assert "aten::mul.out" in text and "aten::add.out" not in text


@pytest.mark.req("KS-018")
def test_first_table_wins(tmp_path: Path) -> None:
    first = write(tmp_path / "a.yaml", op_row("add.out", "torch::executor::opt_add_out"))
    both = op_row("add.out", "torch::executor::add_out") + op_row(
        "mul.out", "torch::executor::mul_out"
    )
    fallback = write(tmp_path / "b.yaml", both)
    arguments = ["--functions-yaml-path", str(first), "--fallback-yaml-path", str(fallback)]
    assert merge_yaml.main([*arguments, "--output_dir", str(tmp_path)]) == 0
    merged = yaml.safe_load((tmp_path / "merged.yaml").read_text())
    kernels = {row["op"]: row["kernels"][0]["kernel_name"] for row in merged}
    assert kernels == {
        "add.out": "torch::executor::opt_add_out",
        "mul.out": "torch::executor::mul_out",
    }


@pytest.mark.req("KS-020", "KS-031", "KS-C03")
def test_selection_needs_one_source(tmp_path: Path) -> None:
    output = ["--output_path", str(tmp_path / "o.yaml")]
    for sources in ([], ["--root_ops", "add.out", "--include-all-operators"]):
        with pytest.raises(
            RuntimeError, match=r"selected_operators\.yaml.*exactly one.*\n.*Repro command"
        ):
            gen_oplist.main([*output, *sources])
    gen_oplist.main([*output, "--root_ops", "aten::add.out,aten::mm.out"])
    content = yaml.safe_load((tmp_path / "o.yaml").read_text())
    assert set(content["operators"]) == {"aten::add.out", "aten::mm.out"}
    assert content["et_kernel_metadata"]["aten::mm.out"] == ["default"]


def test_operators_with_dtypes_by_name(tmp_path: Path) -> None:
    path = tmp_path / "o.yaml"
    dtypes = {"aten::add.out": ["Float", "v1/4;0"], "mul.out": [], "aten::mm.out": ["default"]}
    gen_oplist.main([f"--output_path={path}", f"--ops_dict={json.dumps(dtypes)}"])
    keys = yaml.safe_load(path.read_text())["et_kernel_metadata"]
    assert keys["aten::add.out"] == ["v1/6;", "v1/4;0"]
    assert keys["aten::mul.out"] == keys["aten::mm.out"] == ["default"]
    header = gen_selected_op_variants.header({"et_kernel_metadata": {"aten::add.out": ["v1/6;"]}})
    assert "return dtype == ScalarType::Float;" in header
    with pytest.raises(
        RuntimeError, match=r"Unknown dtype: float; expected a kernel key or one of Byte"
    ):
        gen_oplist.main([f"--output_path={path}", '--ops_dict={"add.out": ["float"]}'])


GOLDEN = Path(__file__).parents[1] / "test" / "golden" / "linear_1_4_1.pte"


@pytest.mark.req("KS-032")
def test_operators_and_dtypes_of_a_model(tmp_path: Path) -> None:
    # linear(x, weight, bias, out), out again: floats, in order of dims
    key = "v1/6;0,1|6;0,1|6;0|6;0,1|6;0,1"
    assert model_operators(GOLDEN) == {"aten::linear.out": [key]}
    selected = tmp_path / "selected.yaml"
    gen_oplist.main(["--output_path", str(selected), "--model_file_path", str(GOLDEN)])
    content = yaml.safe_load(selected.read_text())
    assert content["et_kernel_metadata"] == {"aten::linear.out": [key]}
    assert not content["include_all_operators"]
    table = tmp_path / "table.yaml"
    gen_ops_def.dump_yaml(str(GOLDEN), str(table))
    assert [row["op"] for row in yaml.safe_load(table.read_text())] == ["linear.out"]


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "text.pte"
    path.write_text("not a program at all")
    output = tmp_path / "o.yaml"
    with pytest.raises(RuntimeError, match="expected a program with identifier ET12"):
        gen_oplist.main(["--output_path", str(output), "--model_file_path", str(path)])
    assert not output.exists()


@pytest.mark.req("KS-030")
def test_dtypes_of_a_selection() -> None:
    keys = {"aten::add.out": ["v1/5;0|5;0|5;0|5;0"], "aten::eq.Tensor_out": ["v1/4;0|4;0|11;0"]}
    text = gen_selected_op_variants.header({"et_kernel_metadata": keys})
    assert 'if (op == "aten::add.out") {\n    return dtype == ScalarType::Half;' in text
    # Half is computed in Float; Long and Bool are what eq reads and writes.
    needed = " || ".join(f"dtype == ScalarType::{n}" for n in ("Long", "Half", "Float", "Bool"))
    assert f"return {needed};" in text
    everything = gen_selected_op_variants.header({"et_kernel_metadata": {"my::op": ["default"]}})
    assert "return dtype == dtype;" in everything


def test_prim_ops_are_selected_by_macros(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    gen_selected_prim_ops.main(
        [
            "--prim-op-names",
            "executorch_prim::add.Scalar,aten::sym_size.int",
            "--output-dir",
            str(one),
        ]
    )
    assert (
        "#define INCLUDE_EXECUTORCH_PRIM_ADD_SCALAR\n" in (one / "selected_prim_ops.h").read_text()
    )
    gen_selected_prim_ops.write_selected_prim_ops(["executorch_prim::et_view.default"], str(two))
    both = ["--header_files", f"{one},{two}/selected_prim_ops.h", "--output_dir", str(tmp_path)]
    combine_prim_ops_headers.main(both)
    defined = [
        line.split()[1] for line in (tmp_path / "selected_prim_ops.h").read_text().splitlines()
        if line.startswith("#define")
    ]  # fmt: skip
    assert defined.pop() == "ET_SELECTED_PRIM_OPS"
    assert defined == [
        "EXECUTORCH_ENABLE_PRIM_OPS_SELECTIVE_BUILD",
        "INCLUDE_ATEN_SYM_SIZE_INT",
        "INCLUDE_EXECUTORCH_PRIM_ADD_SCALAR",
        "INCLUDE_EXECUTORCH_PRIM_ET_VIEW_DEFAULT",
    ]


COMMANDS = [
    "gen", "tools.gen_oplist", "tools.gen_ops_def", "tools.gen_all_oplist", "tools.merge_yaml",
    "tools.gen_selected_op_variants", "tools.gen_selected_prim_ops", "tools.gen_max_kernel_num",
    "tools.combine_prim_ops_headers",
]  # fmt: skip


@pytest.mark.parametrize("package", ["codegen", "executorch.codegen"])
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run_from_the_tree_and_as_installed(
    package: str, command: str, tmp_path: Path
) -> None:
    """`codegen.gen` is what build files call, before anything is installed; users call `executorch.codegen.gen`."""
    root = Path(__file__).resolve().parents[1]
    is_tree = package == "codegen"
    done = subprocess.run(
        [sys.executable, "-m", f"{package}.{command}", "--help"],
        cwd=root if is_tree else tmp_path,
        env={**os.environ, "PYTHONPATH": "" if is_tree else str(root / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "usage:" in done.stdout
    for module in re.findall(r"python -m (\S+)", done.stdout):
        assert module == f"executorch.codegen.{command}"


# ---- On torchgen's classes ----


def test_kernel_keys() -> None:
    dtypes, orders = {"T0": ["Double", "Int"], "T1": ["Float"]}, {"D0": [0, 1], "D1": [1, 0]}
    arguments = {"self": ("T0", "D0"), "other": ("T1", "D1"), "out": ("T0", "D0")}
    keys = model.ETKernelKey.gen_from_yaml(arguments, dtypes, orders)
    texts = [key.to_native_string() for key in keys]
    assert texts == ["v1/7;0,1|6;1,0|7;0,1", "v1/3;0,1|6;1,0|3;0,1"]
    assert keys[0].arg_meta[1] == model.ETKernelKeyOpArgMeta("other", "Float", (1, 0))
    assert model.ETKernelKey(default=True).to_native_string() == "default"
    with pytest.raises(AssertionError, match="Undefined type alias: T9"):
        model.ETKernelKey.gen_from_yaml({"self": ("T9", "D0")}, dtypes, orders)
    with pytest.raises(AssertionError, match="Undefined dim_order alias: D9"):
        model.ETKernelKey.gen_from_yaml({"self": ("T0", "D9")}, dtypes, orders)


def test_kernels_of_parsed_rows() -> None:
    add = {
        "func": "my::add.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        "type_alias": {"T0": ["Double"]},
        "dim_order_alias": {"D0": [0, 1]},
        "kernels": [
            {"arg_meta": None, "kernel_name": "my::add_out"},
            {"arg_meta": {"x": ["T0", "D0"]}, "kernel_name": "my::add_double_out"},
        ],
    }
    ((name, kernels),) = parse.parse_et_yaml_struct([add]).index.items()
    assert str(name) == "add.out"
    found = {key.to_native_string(): each for key, each in kernels.items()}
    assert {key: each.kernel for key, each in found.items()} == {
        "default": "add_out",
        "v1/7;0,1": "add_double_out",
    }
    assert found["default"].cpp_namespace == "my::native"
    assert parse.parse_from_yaml(add) == kernels and parse.parse_from_yaml({}) == {}
    (default,) = parse.parse_from_yaml({"kernels": [{"kernel_name": "a::f"}]}).values()
    assert (default.kernel, default.cpp_namespace) == ("f", "a::native")
    assert parse.ETParsedYaml is model.ETParsedYaml
    with pytest.raises(AssertionError, match="Duplicate func found in yaml: add.out"):
        parse.parse_et_yaml_struct([add, add])
    twice = add | {"kernels": add["kernels"][:1] * 2}
    with pytest.raises(AssertionError, match="Duplicate kernel key"):
        parse.parse_et_yaml_struct([twice])
    assert parse.parse_et_yaml_struct([{"func": add["func"]}]).index == {}
    rows = [dict(add)]
    parse.strip_et_fields(rows)
    assert list(rows[0]) == ["func"]
    assert parse.ET_FIELDS == ["kernels", "type_alias", "dim_order_alias"]


def test_tables_as_torchgens_functions(tmp_path: Path) -> None:
    tags = Path(torchgen.__file__).parent / "packaged/ATen/native/tags.yaml"
    table = write(tmp_path / "table.yaml", ALLCLOSE)
    (function,), fields = parse.parse_et_yaml(str(table), str(tags))
    name = function.func.name
    assert str(name) == "allclose.out"
    (kernel,) = fields[name]["kernels"]
    assert kernel["kernel_name"] == "torch::executor::allclose_out"


def test_kernels_of_torchgen_are_default_ones() -> None:
    name = OperatorName.parse("add.out")
    kernels = [BackendMetadata(each, False, "ns") for each in ("first", "second")]
    one, other = (
        model.ETKernelIndex.from_backend_indices({DispatchKey.CPU: {name: each}})
        for each in kernels
    )
    default = model.ETKernelKey(default=True)
    merged = model.ETKernelIndex.merge_indices(one, other)
    assert merged.index == {name: {default: kernels[1]}}
    assert one.index == {name: {default: kernels[0]}}
    assert merged._to_backend_index().index == {name: kernels[1]}
    assert one.grow({DispatchKey.CPU: {name: kernels[1]}}).index[name][default] is kernels[1]


def test_types_and_constants() -> None:
    assert str(types.scalarT) == "torch::executor::Scalar"
    assert types.contextArg.defn() == "torch::executor::KernelRuntimeContext & context"
    assert gen_oplist.ScalarType.QUInt2X4 == 17 and gen_oplist.KernelType.TENSOR_LIST == 10
    text = gen_max_kernel_num.HEADER_TEMPLATE.format(count=7)
    assert "#define EXECUTORCH_SELECTED_MAX_KERNEL_NUM 7" in text
