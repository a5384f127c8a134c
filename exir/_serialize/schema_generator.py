# SPDX-License-Identifier: BSD-3-Clause
"""Writes `exir/schema.py`, the dataclasses of a program, from `schema/program.fbs`. Run by the build:
`python schema_generator.py program.fbs schema.py`. Needs nothing but the standard library."""

import argparse
import re
from dataclasses import dataclass
from pathlib import Path

HEAD = '''# SPDX-License-Identifier: BSD-3-Clause
"""The parts of a program as plain dataclasses. Generated from schema/program.fbs by the build: do
not edit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import List, Optional, Union

from executorch.exir.scalar_type import ScalarType


def _lines(text: Optional[str], count: int) -> List[str]:
    lines = (text or "").split("\\n")[:count]
    return lines + [""] * (count - len(lines))


def _rows(numbers: Optional[List[int]], width: int) -> List[List[int]]:
    numbers = numbers or []
    return [numbers[at : at + width] for at in range(0, len(numbers), width)]
'''

# What Python's side fixes and a schema cannot say.
CONSTRUCTOR_ORDER = {
    "Tensor": [
        "scalar_type",
        "storage_offset",
        "sizes",
        "dim_order",
        "requires_grad",
        "layout",
        "data_buffer_idx",
        "allocation_info",
        "shape_dynamism",
        "extra_tensor_info",
    ],
}
OPTIONAL = {("Tensor", "allocation_info"), ("Chain", "stacktrace")}  # may be None, must be given
DEFAULTS = {
    ("Tensor", "extra_tensor_info"): "None",
    ("ExtraTensorInfo", "mutable_data_segments_idx"): "0",
    ("ExtraTensorInfo", "fully_qualified_name"): "None",
    ("ExtraTensorInfo", "location"): "TensorDataLocation.SEGMENT",
    ("ExtraTensorInfo", "device_type"): "DeviceType.CPU",
    ("ExtraTensorInfo", "device_index"): "0",
    ("NonConstBufferDevice", "buffer_idx"): "0",
    ("NonConstBufferDevice", "device_type"): "DeviceType.CPU",
    ("NonConstBufferDevice", "device_index"): "0",
    ("ExecutionPlan", "non_const_buffer_device"): "None",
    ("ExecutionPlan", "input_dimensions"): "None",
    ("ExecutionPlan", "input_name_lines"): "None",
    ("ExecutionPlan", "output_name_lines"): "None",
    ("ExecutionPlan", "output_dimensions"): "None",
    ("Program", "mutable_data_segments"): "None",
    ("Program", "named_data"): "None",
    ("Program", "user_metadata"): "None",
}
LISTS_OF_SMALL_INTS = {("Tensor", "dim_order")}  # [ubyte] that is no blob
EXTRA_METHODS = {
    "AllocationDetails": """
    @property
    def memory_offset(self) -> int:
        return self.memory_offset_high << 32 | self.memory_offset_low
""",
    "ExecutionPlan": """
    @property
    def input_names(self) -> List[str]:
        return _lines(self.input_name_lines, len(self.inputs))

    @property
    def output_names(self) -> List[str]:
        return _lines(self.output_name_lines, len(self.outputs))

    @property
    def input_dimension_rows(self) -> List[List[int]]:
        # of each: input, dimension, least size, scale, offset, row with the same n
        return _rows(self.input_dimensions, 6)

    @property
    def output_dimension_rows(self) -> List[List[int]]:
        # of each: output, dimension, least size
        return _rows(self.output_dimensions, 3)
""",
}
PYTHON_TYPES = {
    "bool": "bool",
    "string": "str",
    "double": "float",
    "float": "float",
    **dict.fromkeys(["byte", "ubyte", "short", "ushort", "int", "uint", "long", "ulong"], "int"),
}


@dataclass(frozen=True)
class Declaration:
    kind: str  # enum, union or table
    name: str
    members: list[tuple[str, str]]  # (name, value or type)


def parse(text: str) -> list[Declaration]:
    """The enums, unions and tables of a schema, in order; raises ValueError on what it does not know."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r'\b(include|file_identifier|file_extension)\s+"[^"]*"\s*;', "", text)
    text = re.sub(r"\b(namespace|root_type)\s+[\w.]+\s*;", "", text)
    pattern = re.compile(r"\s*(enum|union|table)\s+(\w+)\s*(?::\s*\w+\s*)?\{([^}]*)\}")
    declarations = []
    position = 0
    while text[position:].strip():
        match = pattern.match(text, position)
        if match is None:
            raise ValueError(f"cannot read the schema at: {text[position:].strip()[:60]!r}")
        kind, name, body = match.groups()
        declarations.append(Declaration(kind, name, _members(kind, body)))
        position = match.end()
    return declarations


def _members(kind: str, body: str) -> list[tuple[str, str]]:
    if kind == "table":
        rows = [row for row in body.split(";") if row.strip() and "deprecated" not in row]
        pattern = re.compile(r"\s*(\w+)\s*:\s*([\w.\[\]]+)\s*(?:=\s*\w+\s*)?(?:\([^)]*\))?\s*")
    elif kind == "enum":
        rows = [row for row in body.split(",") if row.strip()]
        pattern = re.compile(r"\s*(\w+)\s*=\s*(-?\d+)\s*")
    else:
        rows = [row for row in body.split(",") if row.strip()]
        pattern = re.compile(r"\s*(\w+)\s*(?::\s*(\w+)\s*)?")
    members = []
    for row in rows:
        match = pattern.fullmatch(row)
        if match is None:
            raise ValueError(f"cannot read the {kind} member {row.strip()!r}")
        members.append((match[1], match[2] or ""))
    return members


def _python_type(table: str, field: str, fbs_type: str) -> str:
    if fbs_type == "[ubyte]" and (table, field) not in LISTS_OF_SMALL_INTS:
        plain = "bytes"
    elif fbs_type.startswith("["):
        element = fbs_type[1:-1]
        plain = f"List[{PYTHON_TYPES.get(element, element)}]"
    else:
        plain = PYTHON_TYPES.get(fbs_type, fbs_type)
    may_be_none = (table, field) in OPTIONAL or DEFAULTS.get((table, field)) == "None"
    return f"Optional[{plain}]" if may_be_none else plain


def _table(declaration: Declaration) -> str:
    name = declaration.name
    types = dict(declaration.members)
    order = CONSTRUCTOR_ORDER.get(name, list(types))
    if sorted(order) != sorted(types):
        raise ValueError(
            f"table {name} has fields {sorted(types)}, its constructor {sorted(order)}"
        )
    lines = []
    for field in order:
        default = DEFAULTS.get((name, field))
        suffix = f" = {default}" if default else ""
        lines.append(f"    {field}: {_python_type(name, field, types[field])}{suffix}\n")
    body = "".join(lines) or "    pass\n"
    return f"@dataclass\nclass {name}:\n{body}{EXTRA_METHODS.get(name, '')}"


def _enum(declaration: Declaration) -> str:
    lines = "".join(f"    {name} = {value}\n" for name, value in declaration.members)
    return f"class {declaration.name}(IntEnum):\n{lines}"


def generate(text: str) -> str:
    """The module's text for a schema's text."""
    declarations = parse(text)
    writers = {"table": _table, "enum": _enum}
    parts = [writers[d.kind](d) for d in declarations if d.kind != "union"]
    for d in declarations:
        if d.kind == "union":
            members = "".join(f"    {name},\n" for name, _ in d.members)
            parts.append(f"{d.name} = Union[\n{members}]\n")
    return HEAD + "".join(f"\n\n{part}" for part in parts)


def main() -> None:
    parser = argparse.ArgumentParser(description="Writes the dataclasses of a schema.")
    parser.add_argument("source", type=Path, help="a .fbs file")
    parser.add_argument("target", type=Path, help="the Python file to write")
    options = parser.parse_args()
    text, target = generate(options.source.read_text()), options.target
    if not target.exists() or target.read_text() != text:
        temporary = target.with_name(f"{target.name}.tmp")
        temporary.write_text(text)
        temporary.replace(target)


if __name__ == "__main__":
    main()
