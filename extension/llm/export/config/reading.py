# SPDX-License-Identifier: BSD-3-Clause
"""Fills the tree of options from a YAML file and `group.key=value` overrides."""

from __future__ import annotations

import dataclasses
import difflib
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from executorch.extension.llm.export.config.llm_config import LlmConfig, PreqMode


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


def all_keys(cls: type = LlmConfig, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Every dotted key and its type."""
    for name, kind in fields_of(cls).items():
        if dataclasses.is_dataclass(kind):
            yield from all_keys(kind, f"{prefix}{name}.")
        else:
            yield prefix + name, kind


def type_of(key: str) -> Any:
    """The type of a dotted key; a key that does not exist is an error with the nearest right spelling."""
    kind: Any = LlmConfig
    for part in key.split("."):
        if not dataclasses.is_dataclass(kind) or part not in fields_of(kind):
            known = [name for name, _ in all_keys()]
            groups = sorted({name.rsplit(".", 1)[0] for name in known})
            near = [name for name in known if name.endswith("." + key.split(".")[-1])][:1]
            near = near or difflib.get_close_matches(key, known + groups, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else "; --help lists all keys"
            raise ConfigError(f"unknown option {key!r}{hint}")
        kind = fields_of(kind)[part]
    return kind


def _check_keys(tree: Mapping[str, Any], prefix: str = "") -> None:
    for name, value in tree.items():
        kind = type_of(f"{prefix}{name}")
        if dataclasses.is_dataclass(kind) and isinstance(value, Mapping):
            _check_keys(value, f"{prefix}{name}.")


def parse_override(text: str) -> tuple[str, Any]:
    """`base.params=x`, `+base.params=x` or `++base.params=x` as (key, value), in Hydra's grammar.

    A value for a key that holds text is taken as it stands, so that JSON needs no quotes of its own.
    """
    key, equals, raw = text.lstrip("+").partition("=")
    if not equals or text.startswith("~"):
        raise ConfigError(f"expected an override as in base.model_class=llama3_2, found {text!r}")
    kind = type_of(key.strip())
    if kind is str:
        quoted = len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "\"'"
        raw = raw[1:-1] if quoted else raw
        return key.strip(), None if raw in ("null", "None") and not quoted else raw
    try:
        value = OverridesParser.create().parse_override(text).value()
    except OverrideParseException as error:
        raise ConfigError(f"{text!r}: {error}") from error
    return key.strip(), value


def _spelled(value: Any, kind: Any) -> Any:
    """A value as OmegaConf takes it: enums by name."""
    if kind is PreqMode and isinstance(value, str):
        return next((member.name for member in PreqMode if member.value == value), value)
    return value


def _with(tree: Mapping[str, Any], key: str, value: Any) -> dict[str, Any]:
    """The tree with a dotted key set."""
    head, _, rest = key.partition(".")
    inner = tree.get(head)
    inner = inner if isinstance(inner, Mapping) else {}
    return {**tree, head: _with(inner, rest, value) if rest else value}


def build(tree: Mapping[str, Any], overrides: Iterable[tuple[str, Any]] = ()) -> LlmConfig:
    """A config of a nested mapping and (dotted key, value) pairs, the later ones winning. Raises ConfigError."""
    _check_keys(tree)
    for key, value in overrides:
        tree = _with(tree, key, value)
    base = tree.get("base") or {}
    if "preq_mode" in base:
        tree = _with(tree, "base.preq_mode", _spelled(base["preq_mode"], PreqMode))
    try:
        return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(LlmConfig), tree))
    except OmegaConfBaseException as error:
        raise ConfigError(f"{error.full_key}: {str(error).splitlines()[0]}") from error


def read_yaml(path: str | Path) -> Mapping[str, Any]:
    path = Path(path)
    if not path.is_file():
        raise ConfigError(f"--config: no such file: {path}")
    try:
        tree = OmegaConf.to_container(OmegaConf.load(path), resolve=True)
    except Exception as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
    if not isinstance(tree, Mapping):
        raise ConfigError(f"{path}: expected groups as in `base:`, found {type(tree).__name__}")
    return tree


def read(path: str | Path | None, overrides: Iterable[str]) -> LlmConfig:
    """What the command says: a file, or none, and overrides."""
    tree = read_yaml(path) if path else {}
    try:
        return build(tree, [parse_override(text) for text in overrides])
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}" if path else str(error)) from error
