# SPDX-License-Identifier: BSD-3-Clause
"""A tree of dataclasses by dotted keys: their types, and a tree that is filled from a mapping."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, TypeVar

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

Tree = TypeVar("Tree")


class ConfigError(ValueError):
    """A key that does not exist, or a value that its key cannot have."""


def plain_type(annotation: Any) -> Any:
    """The type inside an optional one."""
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        inner = [a for a in typing.get_args(annotation) if a is not type(None)]
        return inner[0]
    return annotation


def fields_of(cls: type) -> dict[str, Any]:
    """Field name -> type, without None."""
    hints = typing.get_type_hints(cls)
    return {f.name: plain_type(hints[f.name]) for f in dataclasses.fields(cls)}


def all_keys(cls: type, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every dotted key and its type."""
    for name, kind in fields_of(cls).items():
        if dataclasses.is_dataclass(kind):
            yield from all_keys(kind, f"{prefix}{name}.")
        else:
            yield prefix + name, kind


def type_of(key: str, cls: type) -> Any:
    """The type of a dotted key; a key that does not exist is an error with the nearest right spelling."""
    kind: Any = cls
    for part in key.split("."):
        if not dataclasses.is_dataclass(kind) or part not in fields_of(kind):
            known = [name for name, _ in all_keys(cls)]
            groups = sorted({name.rsplit(".", 1)[0] for name in known})
            near = [name for name in known if name.endswith("." + key.split(".")[-1])][:1]
            near = near or difflib.get_close_matches(key, known + groups, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else "; --help lists all keys"
            raise ConfigError(f"unknown option {key!r}{hint}")
        kind = fields_of(kind)[part]
    return kind


def _check_keys(tree: Mapping[str, Any], cls: type, prefix: str = "") -> None:
    for name, value in tree.items():
        kind = type_of(f"{prefix}{name}", cls)
        if dataclasses.is_dataclass(kind) and isinstance(value, Mapping):
            _check_keys(value, cls, f"{prefix}{name}.")


def _spelled(tree: Mapping[str, Any], cls: type) -> Mapping[str, Any]:
    """With values of enums as OmegaConf takes them: by name."""
    made = dict(tree)
    for name, kind in fields_of(cls).items():
        value = made.get(name)
        if dataclasses.is_dataclass(kind) and isinstance(value, Mapping):
            made[name] = _spelled(value, kind)
        elif isinstance(kind, type) and issubclass(kind, Enum) and isinstance(value, str):
            made[name] = next((each.name for each in kind if each.value == value), value)
    return made


def _with(tree: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The tree with a dotted key set."""
    head, _, rest = key.partition(".")
    inner = tree.get(head)
    inner = inner if isinstance(inner, Mapping) else {}
    return {**tree, head: _with(inner, rest, value) if rest else value}


def build_as(
    cls: type[Tree], tree: Mapping[str, Any], overrides: Iterable[tuple[str, Any]] = ()
) -> Tree:
    """A `cls` of a nested mapping and (dotted key, value) pairs, the later ones winning. Raises ConfigError."""
    _check_keys(tree, cls)
    for key, value in overrides:
        tree = _with(tree, key, value)
    try:
        return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(cls), _spelled(tree, cls)))
    except OmegaConfBaseException as error:
        raise ConfigError(f"{error.full_key}: {str(error).splitlines()[0]}") from error
