# SPDX-License-Identifier: BSD-3-Clause
"""Classes that hold tensors, made known to torch where that is safe: dataclasses that are nothing but their fields, and
the cache of transformers, by its own function."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch.utils import _pytree as pytree

T = TypeVar("T")
_PLAIN = (
    torch.Tensor,
    int,
    float,
    bool,
    complex,
    str,
    bytes,
    type(None),
    torch.dtype,
    torch.device,
)


def register_within(value: Any) -> bool:
    """Registers what can be, whole structures from the outside inwards; whether something was."""
    found = False
    while types := [type(leaf) for leaf in pytree.tree_leaves(value) if _register(leaf)]:
        found = bool(types)
    return found


def unknown_within(value: Any) -> list[Any]:
    """Objects that torch takes for leaves and cannot trace; one of each class."""
    leaves = [leaf for leaf in pytree.tree_leaves(value) if not isinstance(leaf, _PLAIN)]
    return list({type(leaf): leaf for leaf in leaves}.values())


def _register(leaf: Any) -> bool:
    kind = type(leaf)
    if isinstance(leaf, _PLAIN) or kind in pytree.SUPPORTED_NODES:
        return False
    if _is_plain_dataclass(leaf):
        # The name is what torch.export.save writes.
        torch.export.register_dataclass(
            kind, serialized_type_name=f"{kind.__module__}.{kind.__qualname__}"
        )
        return True
    return is_dynamic_cache(leaf) and _register_caches() and kind in pytree.SUPPORTED_NODES


def _is_plain_dataclass(value: Any) -> bool:
    """Whether its fields make an equal one: no work at creation, nothing beside the fields, and fields that torch takes
    apart or passes on."""
    kind = type(value)
    if not dataclasses.is_dataclass(kind) or isinstance(
        value, torch.nn.Module | dict | list | tuple
    ):
        return False
    if hasattr(kind, "__post_init__") or not kind.__dataclass_params__.init:
        return False
    fields = dataclasses.fields(kind)
    names = {each.name for each in fields}
    if not all(each.init for each in fields) or set(getattr(value, "__dict__", names)) != names:
        return False
    leaves = pytree.tree_leaves([getattr(value, name) for name in names])
    return all(isinstance(leaf, _PLAIN) or _is_plain_dataclass(leaf) for leaf in leaves)


def is_dynamic_cache(value: Any) -> bool:
    return type(value).__name__ == "DynamicCache" and type(value).__module__.startswith(
        "transformers."
    )


def _register_caches() -> bool:
    try:
        integration = importlib.import_module("transformers.integrations.executorch")
        integration.register_dynamic_cache_export_support()
    except (ImportError, AttributeError):  # of a version that has it elsewhere
        return False
    return True


# ---- Programs that are read where their classes are not known ----


@dataclasses.dataclass
class StandIn:
    """What a program holds of a class that this process does not know: its leaves."""

    values: list[Any]
    context: Any


def with_stand_ins(read: Callable[[], T]) -> T:
    """What `read` makes of a saved program, whose inputs or outputs may be of classes of the script that saved it."""
    known: set[str] = set()
    while True:
        try:
            return read()
        except NotImplementedError as problem:
            found = re.search(r"Deserializing (\S+) in pytree is not registered", str(problem))
            if found is None or found[1] in known:
                raise
            known.add(found[1])
            _stand_in(found[1])


def _stand_in(name: str) -> None:
    kind = type(name.rpartition(".")[2], (StandIn,), {})
    pytree.register_pytree_node(
        kind,
        lambda x: (x.values, x.context),
        lambda values, context: kind(list(values), context),
        serialized_type_name=name,
        flatten_with_keys_fn=lambda x: (
            [(pytree.SequenceKey(index), value) for index, value in enumerate(x.values)],
            x.context,
        ),
    )
