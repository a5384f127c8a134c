# SPDX-License-Identifier: BSD-3-Clause
"""What a program may be run by, and what is known of it: operators with their dtypes, backends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import yaml

from executorch.codegen.op_table import SCALAR_TYPES, read_yaml, row_name
from executorch.devtools.commands.arguments.options import HERE
from executorch.devtools.devices.here import Here
from executorch.devtools.devices.job import Device

_NAME = re.compile(rb"[A-Za-z_]\w*::[A-Za-z_][\w.]*\x00")
_WORD = re.compile(rb"[A-Za-z_]\w{3,}\x00")


@dataclass(frozen=True)
class Target:
    """`operators`: None for all; by name the kernel keys (codegen/op_table.py) that a selection kept, None where it
    kept all dtypes. `backends`: None when unknown. `is_certain`: False when names are only read off a binary."""

    title: str
    operators: Mapping[str, Sequence[str] | None] | None
    backends: frozenset[str] | None
    is_certain: bool = True

    def has_dtypes(self, name: str, key: str) -> bool:
        """Whether an operator that is there takes tensors like those of `key`."""
        keys = self.operators.get(name) if self.operators is not None else None
        return not keys or "default" in keys or key in keys


def kernel_key(tensors: Sequence[Any]) -> str:
    """The key of a call with these tensors of a program."""
    parts = [f"{int(each.scalar_type)};{','.join(map(str, each.dim_order))}" for each in tensors]
    return "v1/" + "|".join(parts)


def dtypes_of(key: str) -> list[str]:
    """The dtypes in a kernel key."""
    names = {number: name for name, number in SCALAR_TYPES.items()}
    numbers = [part.split(";")[0] for part in key.partition("/")[2].split("|") if part]
    return [names.get(int(number), number) for number in numbers]


def target(what: str, device: Device | None = None) -> Target:
    """`here`: what runs on the device, or this package's runtime. A path: a binary, or the selected_operators.yaml or
    the op table of a build. Else names joined by +, of kernel libraries (portable, quantized, ...) and backends.
    ValueError for others."""
    if what == HERE:
        return _of_device(device or Here())
    path = Path(what)
    if path.suffix in (".yaml", ".yml"):
        return _of_yaml(path)
    if path.is_file():
        return _of_binary(path)
    return _of_libraries(what.split("+"))


def op_tables() -> dict[str, dict[str, None]]:
    """The operators of each kernel library of this package, by its name."""
    kernels = find_spec("executorch.kernels")
    assert kernels is not None, "part of the package"
    found: dict[str, dict[str, None]] = {}
    for folder in map(Path, kernels.submodule_search_locations or ()):
        for path in sorted(folder.glob("*/*.yaml")):
            found.setdefault(path.parent.name, {}).update(_table(path))
    return found


def _table(path: Path) -> dict[str, None]:
    names = [row_name(row) for row in read_yaml(path)]
    return {name if "::" in name else f"aten::{name}": None for name in names}


def _of_device(device: Device) -> Target:
    """As the runner there says it; firmware says nothing."""
    runner = device.describe()
    operators = None if runner.operators is None else dict.fromkeys(runner.operators)
    return Target(device.title, operators, runner.backends)


def _of_libraries(names: list[str]) -> Target:
    tables = op_tables()
    libraries = [name for name in names if name in tables]
    if not libraries:
        raise ValueError(
            f"--against {'+'.join(names)}: expected {HERE}, a file (a binary, selected_operators.yaml or an op "
            f"table), or names of {', '.join(tables)} and of backends joined by +"
        )
    # What the runtime itself computes stands in no table.
    in_tables = {name for table in tables.values() for name in table}
    operators = {name: None for name in _of_device(Here()).operators or () if name not in in_tables}
    for library in libraries:
        operators.update(tables[library])
    return Target("+".join(names), operators, frozenset(names) - frozenset(tables))


def _of_yaml(path: Path) -> Target:
    try:
        content = yaml.safe_load(path.read_text())
    except yaml.YAMLError as problem:
        raise ValueError(f"{path}: {problem}") from problem
    if isinstance(content, list):
        return Target(str(path), _table(path), None)
    if not isinstance(content, dict) or "operators" not in content:
        raise ValueError(
            f"{path}: expected selected_operators.yaml of a build, or an op table; found neither `operators` nor a list"
        )
    if content.get("include_all_operators"):
        return Target(str(path), None, None)
    keys = content.get("et_kernel_metadata") or {}
    return Target(str(path), {name: keys.get(name) for name in content["operators"]}, None)


def _of_binary(path: Path) -> Target:
    data = path.read_bytes()
    operators = {match[:-1].decode(): None for match in _NAME.findall(data)}
    if not operators:
        raise ValueError(
            f"{path}: no operator is named in it: expected a program linked with kernels"
        )
    words = frozenset(match[:-1].decode() for match in _WORD.findall(data))
    return Target(str(path), operators, words, is_certain=False)
