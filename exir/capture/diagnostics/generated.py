# SPDX-License-Identifier: BSD-3-Clause
"""Code to paste before the export: dynamic shapes that the model takes, registrations of classes and operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from executorch.exir.capture.diagnostics.statements import Code

_NO_BOUND = 1 << 31


def shapes(problem: Exception, given: Any) -> Code | None:
    """`given` with the fixes that torch suggests."""
    if given is None or "Suggested fixes:" not in str(problem):
        return None
    try:
        from torch.export.dynamic_shapes import refine_dynamic_shapes_from_suggested_fixes

        # what follows the fixes is not read
        text = str(problem).partition("\n\nThe error above")[0]
        refined = refine_dynamic_shapes_from_suggested_fixes(text, given)
    except Exception:  # it reads a text; another torch may not have it
        return None
    dims: dict[str, str] = {}
    least = {each.__name__: each.min for each in _dims(given)}
    written = _shape(refined, dims, least)
    lines = [f"{name} = {text}" for name, text in dims.items()]
    return Code("\n".join([*lines, f"dynamic_shapes = {written}"]))


def _dims(given: Any) -> list[Any]:
    leaves = torch.utils._pytree.tree_leaves(given)
    return [
        each
        for each in leaves
        if hasattr(each, "__name__") and isinstance(getattr(each, "min", None), int)
    ]


def _shape(value: Any, dims: dict[str, str], least: dict[str, int]) -> str:
    if isinstance(value, dict):
        items = (f"{key!r}: {_shape(each, dims, least)}" for key, each in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list | tuple):
        inner = ", ".join(_shape(each, dims, least) for each in value)
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    name = getattr(value, "__name__", None)
    if name is None:
        return "None" if value is None or isinstance(value, int) else f"torch.export.{value}"
    root = getattr(value, "root", value)
    if not isinstance(root, int):
        dims[root.__name__] = _dim(root, least.get(root.__name__, 0))
    return name


def _dim(dim: Any, least: int) -> str:
    """`least`: what the user's has; torch forgets it."""
    bounds = {"min": max(least, getattr(dim, "min", 0)), "max": getattr(dim, "max", _NO_BOUND)}
    written = [f"{key}={value}" for key, value in bounds.items() if 0 < int(value) < _NO_BOUND]
    return f"torch.export.Dim({', '.join([repr(dim.__name__), *written])})"


def registration(objects: Sequence[Any], named: str) -> Code | None:
    """Of the class named, where its attributes are what it holds."""
    found = next(
        (each for each in objects if type(each).__name__ == named.rpartition(".")[2]), None
    )
    if found is None or not hasattr(found, "__dict__") or not vars(found):
        return None
    kind = type(found)
    return Code(
        f"""from torch.utils import _pytree as pytree

names = {list(vars(found))!r}

def values(x):
    return [getattr(x, name) for name in names], None

def values_by_name(x):
    return [(pytree.GetAttrKey(name), getattr(x, name)) for name in names], None

def made(values, _):
    x = object.__new__({kind.__name__})
    vars(x).update(zip(names, values))
    return x

pytree.register_pytree_node(
    {kind.__name__}, values, made, flatten_with_keys_fn=values_by_name,
    serialized_type_name="{kind.__module__}.{kind.__qualname__}",
)"""
    )


def fake(name: str) -> Code | None:
    """Of an operator, for outputs of the sizes of its first tensor."""
    qualified = name.replace("::", ".")
    namespace, _, operator = qualified.partition(".")
    try:
        schema = getattr(getattr(torch.ops, namespace), operator).default._schema
    except (AttributeError, RuntimeError):
        return None
    names = [each.name for each in schema.arguments]
    tensors = [each.name for each in schema.arguments if "Tensor" in str(each.type)]
    if not tensors or not schema.returns:
        return None
    made = [f"torch.empty_like({tensors[0]})"] * len(schema.returns)
    return Code(
        f"""@torch.library.register_fake("{namespace}::{operator}")
def _({", ".join(names)}):
    return {", ".join(made)}  # of the sizes and type that the operator gives"""
    )
