# SPDX-License-Identifier: BSD-3-Clause
"""The generated module has the documented classes, and the generator refuses what it does not know."""

import inspect
import re
from pathlib import Path

import pytest

from executorch.exir import schema
from executorch.exir._serialize.schema_generator import generate, parse

ROOT = Path(__file__).resolve().parents[2]


def test_module_is_up_to_date() -> None:
    assert Path(schema.__file__).read_text() == generate((ROOT / "schema/program.fbs").read_text())


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("AllocationDetails", "memory_id memory_offset_low memory_offset_high"),
        (
            "Tensor",
            "scalar_type storage_offset sizes dim_order requires_grad layout data_buffer_idx allocation_info "
            "shape_dynamism extra_tensor_info=None",
        ),
        (
            "ExtraTensorInfo",
            "mutable_data_segments_idx=0 fully_qualified_name=None location=0 device_type=0 device_index=0",
        ),
        ("Null", ""),
        ("Chain", "inputs outputs instructions stacktrace"),
        (
            "ExecutionPlan",
            "name container_meta_type values inputs outputs chains operators delegates "
            "non_const_buffer_sizes non_const_buffer_device=None input_dimensions=None "
            "input_name_lines=None output_name_lines=None output_dimensions=None",
        ),
        (
            "Program",
            "version execution_plan constant_buffer backend_delegate_data segments constant_segment "
            "mutable_data_segments=None named_data=None user_metadata=None",
        ),
        ("CompileSpec", "key value"),
    ],
)
def test_constructors(name: str, signature: str) -> None:
    found = []
    for parameter in inspect.signature(getattr(schema, name)).parameters.values():
        default = parameter.default
        if default is not inspect.Parameter.empty:
            default = int(default) if isinstance(default, int) else default
            found.append(f"{parameter.name}={default}")
        else:
            found.append(parameter.name)
    assert " ".join(found) == signature


def test_enums_and_offset() -> None:
    assert schema.TensorShapeDynamism(1).name == "DYNAMIC_BOUND"
    assert schema.DataLocation.SEGMENT == 1
    assert schema.AllocationDetails(1, 5, 2).memory_offset == (2 << 32) + 5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("struct A { x: int; }", "cannot read the schema at: 'struct A"),
        ("table A { x int; }", "cannot read the table member 'x int'"),
        ("enum E : byte { A, B }", "cannot read the enum member 'A'"),
        ("table Tensor { x: int; }", r"table Tensor has fields \['x'\]"),
    ],
)
def test_unknown_schema_text_is_an_error(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        generate(text)


def test_every_declaration_of_the_schema_is_taken() -> None:
    text = (ROOT / "schema/program.fbs").read_text()
    names = re.findall(r"^(?:table|enum|union) (\w+)", text, re.MULTILINE)
    assert [declaration.name for declaration in parse(text)] == names
    assert all(hasattr(schema, name) for name in names)
