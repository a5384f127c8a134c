# SPDX-License-Identifier: BSD-3-Clause
"""Dataclasses of a schema to JSON as flatc reads it, and back: beside a union stands `<field>_type`, blobs are lists of
numbers, infinities are strings."""

from __future__ import annotations

import functools
import json
import math
import types
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


def _members(hint: Any) -> list[Any]:
    """The kinds of a union; the hint itself where it is none."""
    if get_origin(hint) not in (Union, types.UnionType):
        return [hint]
    return [member for member in get_args(hint) if member is not type(None)]


def _is_optional(T: Any) -> bool:
    return get_origin(T) in (Union, types.UnionType) and type(None) in get_args(T)


class _DataclassEncoder(json.JSONEncoder):
    """json.dumps(program, cls=_DataclassEncoder)."""

    def default(self, o: Any) -> Any:
        if is_dataclass(o) and not isinstance(o, type):
            return self._table(o)
        if isinstance(o, bytes | bytearray | memoryview):
            return list(bytes(o))
        if hasattr(o, "__buffer__") or type(o).__name__ == "Blob":
            return list(bytes(o))
        return super().default(o)

    def _table(self, value: Any) -> dict[str, Any]:
        hints, result = _hints(type(value)), {}
        for field in fields(value):
            content = getattr(value, field.name)
            result[field.name] = _number(content)
            if len(_members(hints[field.name])) > 1:
                result[f"{field.name}_type"] = type(content).__name__
        return result


def _number(content: Any) -> Any:
    if isinstance(content, float) and math.isinf(content):
        return "inf" if content > 0 else "-inf"
    if isinstance(content, list) and any(isinstance(each, float) for each in content):
        return [_number(each) for each in content]
    return content


def _json_to_dataclass(json_dict: Any, cls: Any = None) -> Any:
    """What json.loads gave, as `cls`: a dataclass, a list of them, an enum, a number."""
    if json_dict is None or cls is None:
        return json_dict
    if _is_optional(cls):
        (cls,) = _members(cls)
    origin = get_origin(cls)
    if origin in (list, tuple):
        (item, *_) = get_args(cls)
        return origin(_json_to_dataclass(each, item) for each in json_dict)
    if cls is bytes:
        return bytes(json_dict)
    if isinstance(cls, type) and issubclass(cls, Enum):
        return cls[json_dict] if isinstance(json_dict, str) else cls(json_dict)
    if cls is float:
        return float(json_dict)
    if not is_dataclass(cls):
        return json_dict
    hints = _hints(cls)
    values = {
        field.name: _field(json_dict, field.name, hints[field.name], cls) for field in fields(cls)
    }
    return cls(**values)


def _field(json_dict: dict[str, Any], name: str, hint: Any, cls: type) -> Any:
    if json_dict.get(name) is None:
        if _is_optional(hint):
            return None
        raise TypeError(
            f"Invalid {cls.__name__}. Received no value for field: {name}, but {name} : {hint} is not an Optional "
            "type."
        )
    kinds = _members(hint)
    if len(kinds) > 1:
        named = {kind.__name__: kind for kind in kinds}
        hint = named[json_dict[f"{name}_type"]]
    return _json_to_dataclass(json_dict[name], hint)
