# SPDX-License-Identifier: BSD-3-Clause
"""int64 in a graph. Devices have integers of 32 bits, which are enough for places: numbers of elements, rows or
positions, of which a tensor has fewer than 2**31.

A value says places where an operator gives it as such (argmax) or reads it as such (the indices of a table of rows),
or what is moved, added or multiplied of it: if the result is a place, its lower 32 bits are computed of theirs."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch.fx import Node
from torch.utils import _pytree as pytree

from executorch.backends.vulkan.aot.row import Int64, VulkanRow, arguments_of
from executorch.exir.graph_facts import call_name

_LEAST, _MAX = -(2**31), 2**31 - 1


def is_int64(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype == torch.int64


class Taken:
    """Rows of the calls of a graph that meet the conditions; of `calls` alone, where some are given."""

    def __init__(self, rows: Mapping[str, VulkanRow], calls: Collection[Node] | None) -> None:
        self.rows, self._calls = rows, calls

    def get(self, call: Node) -> VulkanRow | None:
        row = self.rows.get(call_name(call))
        is_one = self._calls is None or call in self._calls
        is_taken = row is not None and is_one and all(c.test(call, ()) for c in row.conditions)
        return row if is_taken else None


def says_places(
    rows: Mapping[str, VulkanRow], value: Node, calls: Collection[Node] | None = None
) -> bool:
    """`value`: of int64, in a graph of whose calls these are taken, all with a row unless said."""
    taken = Taken(rows, calls)
    return _is_given_as_places(taken, value) or _is_read_as_places(taken, value)


def reads_places(rows: Mapping[str, VulkanRow], value: Node, call: Node) -> bool:
    """Whether a call does, taken or not."""
    row = rows.get(call_name(call))
    in_places = [arguments_of(call)[place] for place in row.places] if row is not None else []
    return value in pytree.tree_leaves(in_places)


def _is_given_as_places(taken: Taken, value: Node) -> bool:
    call = value.args[0] if value.target is operator.getitem else value
    row = taken.get(call)
    if row is None:
        return False
    if row.int64 is Int64.MOVED:
        return all(_are_places(taken, each) for each in _moved(call))
    return row.int64 is Int64.PLACES or (row.int64 is Int64.MADE and _fit(call.args))


def _are_places(taken: Taken, source: Node) -> bool:
    """Each of its elements, also where the result of moving them is read as something else."""
    selects = any(_selects(taken, source, user) for user in source.users)
    return selects or _has_32_bits(source) or _is_given_as_places(taken, source)


def _moved(call: Node) -> list[Node]:
    source = call.args[0]
    return list(source) if isinstance(source, list | tuple) else [source]


def _has_32_bits(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and value.dtype in (torch.int32, torch.bool)


def _fit(args: Any) -> bool:
    """Numbers do; what is computed of sizes does as well."""
    return all(
        _LEAST <= each <= _MAX for each in pytree.tree_leaves(args) if isinstance(each, int | float)
    )


def _is_read_as_places(taken: Taken, value: Node) -> bool:
    return any(_reads_places(taken, value, user) for user in value.users)


def _reads_places(taken: Taken, value: Node, user: Node) -> bool:
    if user.target is operator.getitem:
        return _is_read_as_places(taken, user)
    row = taken.get(user)
    passes = row is not None and row.int64 in (Int64.MOVED, Int64.WRAPPED)
    return _selects(taken, value, user) or (passes and _is_read_as_places(taken, user))


def _selects(taken: Taken, value: Node, user: Node) -> bool:
    return taken.get(user) is not None and reads_places(taken.rows, value, user)
