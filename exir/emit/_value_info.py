# SPDX-License-Identifier: BSD-3-Clause
"""What callers know the inputs and outputs of a method by: names from the model's signature and from what it returns,
and the least sizes of outputs that vary."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch.utils._pytree as pytree
from torch.export import ExportedProgram
from torch.fx import Node

from executorch.exir.emit._input_dimensions import least_sizes
from executorch.exir.schema import ValueInfo


def input_info(program: ExportedProgram, inputs: Sequence[Node]) -> list[ValueInfo] | None:
    """A name for each user input; None if there is none."""
    spec = program.call_spec.in_spec
    names = _argument_names(program)
    if spec is None or names is None or spec.num_leaves != len(inputs):
        return _infos([ValueInfo(name=node.name) for node in inputs])
    args, kwargs = spec.children()
    values = {**dict(zip(names, args.children())), **_by_key(kwargs)}
    found = [name for key, value in values.items() for name in _leaf_names(value, key)]
    if len(found) != len(inputs):
        found = [node.name for node in inputs]
    return _infos([ValueInfo(name=name) for name in found])


def output_info(
    program: ExportedProgram, changed_inputs: Sequence[str], outputs: Sequence[Any]
) -> list[ValueInfo] | None:
    """`changed_inputs`: names of the first outputs. The others are named as far as the model's containers do."""
    spec = program.call_spec.out_spec
    names = _leaf_names(spec, "") if spec is not None else []
    # Training adds gradients and parameters behind what the model returns.
    names += [None] * (len(outputs) - len(changed_inputs) - len(names))
    infos = []
    for name, output in zip([*changed_inputs, *names], outputs):
        infos.append(ValueInfo(name=name, min_sizes=least_sizes(program, output)))
    return _infos(infos) if len(infos) == len(outputs) else None


def _infos(infos: list[ValueInfo]) -> list[ValueInfo] | None:
    """Absent where nothing is known: old files and programs of constants say nothing, either."""
    return infos if any(info.name or info.min_sizes for info in infos) else None


def _argument_names(program: ExportedProgram) -> list[str] | None:
    """The names of the positional arguments, then those of keywords, as torch.export saw them."""
    for entry in program.module_call_graph:
        if entry.fqn == "" and entry.signature is not None:
            return entry.signature.forward_arg_names
    return None


def _by_key(kwargs: pytree.TreeSpec) -> dict[str, pytree.TreeSpec]:
    return dict(zip(kwargs.context, kwargs.children()))


def _leaf_names(spec: pytree.TreeSpec, root: str) -> list[str | None]:
    """A name for each leaf: keys and fields from the outside in, joined by dots. None where the way to it has numbers
    only: a tuple's items are known by their places."""
    return [
        ".".join(map(str, path)) if any(isinstance(part, str) for part in path) else None
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
