# SPDX-License-Identifier: BSD-3-Clause
"""Nested lists, tuples and dicts as flat lists, in Python: torch's own, with the compact text form of pytree.h."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.utils import _pytree
from torch.utils._pytree import (
    TreeSpec,
    tree_flatten,
    tree_map,
    tree_unflatten,
    treespec_dumps,
    treespec_loads,
)

__all__ = [
    "TreeSpec",
    "broadcast_to_and_flatten",
    "from_str",
    "register_custom",
    "to_str",
    "tree_flatten",
    "tree_map",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
]

# Specs that these functions give, which are torch's, write themselves: `[1, {"type": "builtins.tuple", ...}]`.
TreeSpec.to_str = treespec_dumps
TreeSpec.from_str = staticmethod(treespec_loads)
_register_pytree_node = _pytree.register_pytree_node
_broadcast_to_and_flatten = _pytree._broadcast_to_and_flatten
_LETTERS = {list: "L", tuple: "T", dict: "D"}


def broadcast_to_and_flatten(tree: Any, treespec: TreeSpec) -> list[Any] | None:
    """The leaves of `tree`, each repeated for what `treespec` has below its place; None when the two do not fit."""
    return _pytree._broadcast_to_and_flatten(tree, treespec)


def register_custom(
    cls: type, to_flat: Callable[[Any], Any], from_flat: Callable[..., Any]
) -> None:
    """Lets trees contain instances of `cls`: to_flat(value) -> (children, context), from_flat(children, context)."""
    _pytree.register_pytree_node(cls, to_flat, from_flat)


def to_str(spec: TreeSpec) -> str:
    """`T2#1#1($,$)` for a pair; see the grammar's reader, pytree.h."""
    if spec.is_leaf():
        return "$"
    if spec.type not in _LETTERS:
        raise ValueError(f"expected lists, tuples and dicts, found a {spec.type.__name__}")
    children = spec.children()
    texts = [to_str(child) for child in children]
    if spec.type is dict:
        texts = [f"{_key(key)}:{text}" for key, text in zip(spec.context, texts, strict=True)]
    leaves = "".join(f"#{child.num_leaves}" for child in children)
    return f"{_LETTERS[spec.type]}{len(children)}{leaves}({','.join(texts)})"


def _key(key: Any) -> str:
    if type(key) is int:
        return str(key)
    if isinstance(key, str) and "'" not in key:
        return f"'{key}'"
    raise ValueError(f"expected a number or a string without quotes as a key, found {key!r}")


def from_str(text: str) -> TreeSpec:
    """The way back, from `treespec_dumps` and `TreeSpec.to_str` as well. Raises ValueError for malformed text."""
    if text.startswith("["):
        return treespec_loads(text)
    tree, end = _read(text, 0)
    if end != len(text):
        raise ValueError(f"expected the end at {end} of {text!r}")
    return _pytree.tree_structure(tree)


def _read(text: str, place: int) -> tuple[Any, int]:
    """A tree of the shape that starts at `place`, and where it ends."""
    if text[place : place + 1] == "$":
        return 0, place + 1
    kinds = {letter: kind for kind, letter in _LETTERS.items()}
    kind = kinds.get(text[place : place + 1])
    begin = text.find("(", place)
    if kind is None or begin < 0:
        raise ValueError(f"expected a leaf or a list, tuple or dict at {place} of {text!r}")
    counts = text[place + 1 : begin].split("#")
    if not all(count.isdecimal() for count in counts) or int(counts[0]) != len(counts) - 1:
        raise ValueError(f"expected a number of children and the leaves of each at {place + 1}")
    place = begin + 1
    children: list[Any] = []
    keys: list[Any] = []
    for index, count in enumerate(counts[1:]):
        place = place if index == 0 else _expect(text, place, ",")
        if kind is dict:
            key, place = _read_key(text, place)
            keys.append(key)
        child, place = _read(text, place)
        if _pytree.tree_structure(child).num_leaves != int(count):
            raise ValueError(f"expected {count} leaves before {place} of {text!r}")
        children.append(child)
    place = _expect(text, place, ")")
    tree = dict(zip(keys, children, strict=True)) if kind is dict else kind(children)
    return tree, place


def _read_key(text: str, place: int) -> tuple[int | str, int]:
    end = text.find("':" if text[place : place + 1] == "'" else ":", place)
    if end < 0:
        raise ValueError(f"expected a key at {place} of {text!r}")
    if text[place] == "'":
        return text[place + 1 : end], end + 2
    return int(text[place:end]), end + 1


def _expect(text: str, place: int, sign: str) -> int:
    if text[place : place + 1] != sign:
        raise ValueError(f"expected {sign!r} at {place} of {text!r}")
    return place + 1
