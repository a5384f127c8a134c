# SPDX-License-Identifier: BSD-3-Clause
"""Operator schemas: where they come from, their parts, and the C++ signature a kernel must have for one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ATEN = "executorch::aten::"

# Schema type -> C++ parameter type of a kernel.
_PARAMETER_TYPES = {
    "Tensor": f"const {ATEN}Tensor&",
    "Tensor!": f"{ATEN}Tensor&",
    "Tensor?": f"const std::optional<{ATEN}Tensor>&",
    "Tensor[]": f"{ATEN}TensorList",
    "Tensor![]": f"{ATEN}TensorList",
    "Tensor?[]": f"{ATEN}ArrayRef<std::optional<{ATEN}Tensor>>",
    "Scalar": f"const {ATEN}Scalar&",
    "Scalar?": f"const std::optional<{ATEN}Scalar>&",
    "int": "int64_t",
    "float": "double",
    "bool": "bool",
    "str": "std::string_view",
    "ScalarType": f"{ATEN}ScalarType",
    "MemoryFormat": f"{ATEN}MemoryFormat",
    "Layout": f"{ATEN}Layout",
    "Device": f"{ATEN}Device",
    "int[]": f"{ATEN}IntArrayRef",
    "float[]": f"{ATEN}ArrayRef<double>",
    "bool[]": f"{ATEN}ArrayRef<bool>",
}


class SchemaError(Exception):
    """A schema that no kernel can be written for; the message says why."""


@dataclass(frozen=True)
class Argument:
    """One parameter: `type` without sizes and alias letters, e.g. "Tensor!" or "int[]?"."""

    name: str
    type: str
    keyword_only: bool = False

    @property
    def is_written(self) -> bool:
        return "!" in self.type

    @property
    def is_out(self) -> bool:
        """An output of an out-variant; other written arguments are updated in place."""
        return self.is_written and self.keyword_only

    @property
    def cpp_type(self) -> str:
        found = _PARAMETER_TYPES.get(self.type)
        if found is None and self.type.endswith("?"):
            inner = _PARAMETER_TYPES.get(self.type[:-1])
            found = f"std::optional<{inner}>" if inner else None
        if found is None:
            raise SchemaError(f"argument {self.name}: type {self.type} is not supported")
        return found


@dataclass(frozen=True)
class Schema:
    """A parsed operator schema."""

    namespace: str
    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[str, ...]

    @property
    def qualified_name(self) -> str:
        dot = f".{self.overload}" if self.overload else ""
        return f"{self.namespace}::{self.name}{dot}"

    @property
    def cpp_return_type(self) -> str:
        if not self.returns:
            return "void"
        if len(self.returns) == 1:
            return f"{ATEN}Tensor&"
        return "std::tuple<" + ", ".join(f"{ATEN}Tensor&" for _ in self.returns) + ">"

    def cpp_parameters(self) -> str:
        """The parameter list of the kernel, with its context."""
        context = "executorch::runtime::KernelRuntimeContext& context"
        return ", ".join([context, *(f"{a.cpp_type} {a.name}" for a in self.arguments)])


def _plain_type(text: str) -> str:
    """Drops alias letters, list lengths and SymInt spelling: `Tensor(a!)[]` -> `Tensor![]`."""
    text = re.sub(r"\([a-z]+\d*!\)", "!", text)
    text = re.sub(r"\([a-z]+\d*( -> [a-z*]+)?\)", "", text)
    text = re.sub(r"\[\d+\]", "[]", text)
    return text.replace("SymInt", "int")


def _split_top_level(text: str) -> list[str]:
    parts: list[str] = []
    depth, current, quoted = 0, "", False
    for char in text:
        quoted = quoted != (char in "\"'")
        depth += (char in "([") - (char in ")]") if not quoted else 0
        if char == "," and depth == 0 and not quoted:
            parts.append(current.strip())
            current = ""
        else:
            current += char
    return [*parts, current.strip()] if current.strip() else parts


def parse_schema(text: str) -> Schema:
    """As parse_signature, for operators that kernels can be written for: out-variants."""
    schema = parse_signature(text)
    _check_out_variant(schema)
    return schema


def parse_signature(text: str) -> Schema:
    """Parses `ns::name.overload(arguments) -> returns`; the namespace defaults to aten."""
    match = re.fullmatch(r"\s*(?:(\w+)::)?(\w+)(?:\.(\w+))?\((.*)\)\s*->\s*(.+?)\s*", text)
    if match is None:
        raise SchemaError(f"not an operator schema: {text!r}")
    namespace, name, overload, arguments_text, returns_text = match.groups()
    arguments: list[Argument] = []
    keyword_only = False
    for part in _split_top_level(arguments_text):
        if part == "*":
            keyword_only = True
            continue
        type_text, _, rest = part.rpartition(" ") if "=" not in part else _split_default(part)
        arguments.append(Argument(rest, _plain_type(type_text), keyword_only))
    inner = returns_text[1:-1] if returns_text.startswith("(") else returns_text
    returns = tuple(_plain_type(r.split(" ")[0]) for r in _split_top_level(inner))
    return Schema(namespace or "aten", name, overload or "", tuple(arguments), returns)


def _split_default(part: str) -> tuple[str, str, str]:
    declaration = part.split("=", 1)[0].rstrip()
    return declaration.rpartition(" ")


def _check_out_variant(schema: Schema) -> None:
    """Kernels write to arguments that they are given and return those, nothing else."""
    if not any(a.is_written for a in schema.arguments):
        raise SchemaError(f"{schema.qualified_name}: not an out-variant: no argument is written to")
    for returned in schema.returns:
        if returned != "Tensor!":
            raise SchemaError(
                f"{schema.qualified_name}: returns {returned}; only written-to tensors or () can be"
            )


# So that libraries of kernels are built without PyTorch. tools/aten_schemas.py writes it.
ATEN_SCHEMAS = Path(__file__).with_name("aten_schemas.txt")


class SchemaSource:
    """Schemas of ATen operators: from the table beside this file, else from the installed PyTorch."""

    def __init__(self) -> None:
        lines = ATEN_SCHEMAS.read_text().splitlines()
        self._known = {line.partition("(")[0]: line for line in lines}

    def aten(self) -> list[Schema]:
        """Every ATen operator of the table, in its order."""
        return [parse_schema(line) for line in self._known.values()]

    def find(self, names: Iterable[str]) -> dict[str, Schema]:
        """Maps each `add.out` or `ns::add.out` to its schema."""
        wanted = {n: n if "::" in n else f"aten::{n}" for n in names}
        if missing := [full for full in wanted.values() if full not in self._known]:
            self._known.update(_ask_pytorch(missing))
        return {name: parse_schema(self._known[full]) for name, full in wanted.items()}


def _ask_pytorch(full_names: list[str]) -> dict[str, str]:
    try:
        import torch  # slow, so only where the table does not know
    except ImportError:
        raise SchemaError(
            f"no schema of {', '.join(full_names)} in {ATEN_SCHEMAS.name}: check the names; for "
            "operators of a newer PyTorch install torch, which is asked then"
        ) from None

    found: dict[str, str] = {}
    for full in full_names:
        base, _, overload = full.partition(".")
        for schema in torch._C._jit_get_schemas_for_operator(base):
            if schema.overload_name == overload:
                found[full] = str(schema)
        if full not in found:
            raise SchemaError(f"the installed PyTorch has no operator {full}")
    return found
