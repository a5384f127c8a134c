# SPDX-License-Identifier: BSD-3-Clause
"""Fills the tree of options from a YAML file and `group.key=value` overrides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.errors import OverrideParseException
from omegaconf import OmegaConf

from executorch.extension.llm.export.config import keys
from executorch.extension.llm.export.config.keys import ConfigError as ConfigError
from executorch.extension.llm.export.config.llm_config import LlmConfig


def all_keys() -> Iterator[tuple[str, Any]]:
    """Every dotted key and its type."""
    return keys.all_keys(LlmConfig)


def parse_override(text: str) -> tuple[str, Any]:
    """`base.params=x`, `+base.params=x` or `++base.params=x` as (key, value), in Hydra's grammar.

    A value for a key that holds text is taken as it stands, so that JSON needs no quotes of its own.
    """
    key, equals, raw = text.lstrip("+").partition("=")
    if not equals or text.startswith("~"):
        raise ConfigError(f"expected an override as in base.model_class=llama3_2, found {text!r}")
    kind = keys.type_of(key.strip(), LlmConfig)
    if kind is str:
        quoted = len(raw) > 1 and raw[0] == raw[-1] and raw[0] in "\"'"
        raw = raw[1:-1] if quoted else raw
        return key.strip(), None if raw in ("null", "None") and not quoted else raw
    try:
        value = OverridesParser.create().parse_override(text).value()
    except OverrideParseException as error:
        raise ConfigError(f"{text!r}: {error}") from error
    return key.strip(), value


def build(tree: Mapping[str, Any], overrides: Iterable[tuple[str, Any]] = ()) -> LlmConfig:
    """A config of a nested mapping and (dotted key, value) pairs, the later ones winning. Raises ConfigError."""
    return keys.build_as(LlmConfig, tree, overrides)


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
