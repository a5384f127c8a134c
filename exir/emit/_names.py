# SPDX-License-Identifier: BSD-3-Clause
"""Names of the inputs and outputs of a method, from the model's signature and from what it returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch.utils._pytree as pytree
from torch.export import ExportedProgram
from torch.fx import Node


def input_names(program: ExportedProgram, inputs: Sequence[Node]) -> list[str]:
    """Of each user input."""
    spec = program.call_spec.in_spec
    names = _argument_names(program)
    if spec is None or names is None or spec.num_leaves != len(inputs):
        return [node.name for node in inputs]
    args, kwargs = spec.children()
    values = {**dict(zip(names, args.children())), **dict(zip(kwargs.context, kwargs.children()))}
    found = [name for key, value in values.items() for name in _leaf_names(value, key)]
    return found if len(found) == len(inputs) else [node.name for node in inputs]


def output_names(program: ExportedProgram, count: int) -> list[str]:
    """Of what the model returns, as far as its containers have names. Training adds gradients and parameters behind."""
    spec = program.call_spec.out_spec
    names = _leaf_names(spec, "") if spec is not None and spec.num_leaves <= count else []
    return names + [""] * (count - len(names))


def lines_of(names: Sequence[str]) -> str | None:
    """As the file has them; absent where all are known by their places."""
    return "\n".join(name.replace("\n", " ") for name in names) if any(names) else None


def _argument_names(program: ExportedProgram) -> list[str] | None:
    """The names of the positional arguments, then those of keywords, as torch.export saw them."""
    for entry in program.module_call_graph:
        if entry.fqn == "" and entry.signature is not None:
            return entry.signature.forward_arg_names
    return None


def _leaf_names(spec: pytree.TreeSpec, root: str) -> list[str]:
    """A name for each leaf: keys and fields from the outside in, joined by dots. Empty where the way to it has
    numbers only: a tuple's items are known by their places."""
    return [
        ".".join(map(str, path)) if any(isinstance(part, str) for part in path) else ""
        for path in _paths(spec, (root,) if root else ())
    ]


def _paths(spec: pytree.TreeSpec, outer: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    if spec.is_leaf():
        return [outer]
    children = spec.children()
    pairs = zip(_keys(spec), children, strict=True)
    return [path for key, child in pairs for path in _paths(child, (*outer, key))]


def _keys(spec: pytree.TreeSpec) -> list[str | int]:
    """What the children of a container are called: keys and fields are text, places are numbers."""
    places = list(range(len(spec.children())))
    handler = pytree.SUPPORTED_NODES[spec.type]
    try:
        example = handler.unflatten_fn(places, spec.context)
        if handler.flatten_with_keys_fn is not None:
            keys = {place: _key(key) for key, place in handler.flatten_with_keys_fn(example)[0]}
        else:
            keys = {place: str(name) for name, place in _fields(example).items()}
    except Exception:  # the model's own class, which need not take numbers in place of tensors
        return list(places)
    return [keys.get(place, place) for place in places]


def _fields(example: Any) -> dict[Any, Any]:
    """Of a container without keys in pytree: the outputs of transformers' models are mappings and dataclasses."""
    if isinstance(example, Mapping):
        return dict(example)
    return dict(vars(example)) if dataclasses.is_dataclass(example) else {}


def _key(key: Any) -> str | int:
    if isinstance(key, pytree.MappingKey):
        return str(key.key)
    return key.name if isinstance(key, pytree.GetAttrKey) else key.idx
