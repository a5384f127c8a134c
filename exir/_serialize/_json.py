# SPDX-License-Identifier: BSD-3-Clause
"""Dataclasses of a schema as plain dicts and lists, in the form flatbuffers' own JSON has."""

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from executorch.exir._native import Blob

_UNION_FIELDS = frozenset({("EValue", "val"), ("Instruction", "instr_args")})


def to_plain(value: Any) -> Any:
    """dicts, lists, strings and numbers for json.dumps; None fields are left out."""
    if is_dataclass(value):
        return _table(value)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bytes | Blob):
        return list(bytes(value))
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value


def _table(value: Any) -> dict[str, Any]:
    name = type(value).__name__
    result: dict[str, Any] = {}
    for field in fields(value):
        content = getattr(value, field.name)
        if content is None:
            continue
        if (name, field.name) in _UNION_FIELDS:
            result[f"{field.name}_type"] = type(content).__name__
        result[field.name] = to_plain(content)
    return result
