# SPDX-License-Identifier: BSD-3-Clause
"""Which value of the runtime stands for which value of the model."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch

from executorch.devtools.inspector._graphs import DebugHandle


def _groups(handles: Iterable[DebugHandle]) -> list[set[int]]:
    """Handles that belong together: each overlaps another of its group."""
    groups: list[set[int]] = []
    for handle in handles:
        touching = [group for group in groups if not group.isdisjoint(handle)]
        merged = set(handle).union(*touching)
        groups = [group for group in groups if group not in touching]
        groups.append(merged)
    return groups


def merge_runtime_overlapping_debug_handles(
    runtime_intermediate_outputs: dict[DebugHandle, tuple[int, Any, int]],
) -> dict[DebugHandle, tuple[int, Any, int]]:
    """Handles -> (instruction, values, number of outputs), where several instructions have a handle in common as one
    entry: that of the last instruction, whose handles come behind those that only the others have."""
    merged: dict[DebugHandle, tuple[int, Any, int]] = {}
    for handle, entry in runtime_intermediate_outputs.items():
        for known in [each for each in merged if not set(each).isdisjoint(handle)]:
            other = merged.pop(known)
            if entry[0] > other[0]:
                handle = _before(known, handle)
            else:
                handle, entry = _before(handle, known), other
        merged[handle] = entry
    return merged


def _before(earlier: DebugHandle, later: DebugHandle) -> DebugHandle:
    return (*(number for number in earlier if number not in later), *later)


def with_outputs_last(
    runtime_intermediate_outputs: dict[DebugHandle, tuple[Any, int]], graph: torch.fx.Graph
) -> dict[DebugHandle, tuple[Any, int]]:
    """The handles of what leaves a delegate, in the order of the graph, behind those of what it keeps to itself, so
    that its values belong to the last ones. Where they cannot be told, only the last value counts."""
    found = {}
    for handles, (value, count) in runtime_intermediate_outputs.items():
        if 1 < count < len(handles):
            leaving = _leaving(set(handles), graph)
            if len(leaving) == count:
                handles = _before(handles, tuple(leaving))
            else:
                count = 1
        found[handles] = (value, count)
    return found


def _leaving(handles: set[int], graph: torch.fx.Graph) -> list[int]:
    """Of these handles, those of nodes that are read by what has none of them."""
    found: dict[int, None] = {}
    for node in graph.nodes:
        handle = node.meta.get("debug_handle")
        users = [user for each in (node, *_items(node)) for user in each.users]
        outside = any(
            user.target is not operator.getitem and user.meta.get("debug_handle") not in handles
            for user in users
        )
        if handle in handles and outside:
            found.pop(handle, None)  # the last node of a handle counts
            found[handle] = None
    return list(found)


def _items(node: torch.fx.Node) -> list[torch.fx.Node]:
    return [user for user in node.users if user.target is operator.getitem]


def map_runtime_aot_intermediate_outputs(
    aot_intermediate_outputs: dict[DebugHandle, Any],
    runtime_intermediate_outputs: dict[DebugHandle, tuple[Any, int]],
) -> dict[tuple[DebugHandle, Any], tuple[DebugHandle, Any]]:
    """(handles, value of the model) -> (handles, value of the runtime), both with all handles of the instruction. One
    that stands for several operators is compared with the last of them, which the model must have; one that gives
    several values, each with an operator, from the end. Raises ValueError when two instructions share a handle."""
    pairs = {}
    for group in _groups([*aot_intermediate_outputs, *runtime_intermediate_outputs]):
        runtime = [h for h in runtime_intermediate_outputs if not group.isdisjoint(h)]
        aot = [h for h in aot_intermediate_outputs if not group.isdisjoint(h)]
        if len(runtime) > 1:
            raise ValueError(
                f"Expected only one runtime debug handle, found {runtime}: call merge_runtime_overlapping_debug_handles"
            )
        if not runtime or not {n for h in aot for n in h} <= set(runtime[0]):
            continue
        handles = runtime[0]
        by_number = {n: aot_intermediate_outputs[h] for h in aot for n in h}
        values = [by_number.get(number) for number in handles]
        for value, found in _pairs(values, *runtime_intermediate_outputs[handles]):
            for key, given in _flat((handles, value), (handles, found)):
                pairs[key] = given
    return pairs


def _pairs(values: list[Any], found: Any, num_outputs: int) -> Iterator[tuple[Any, Any]]:
    """`values`: the model's, None where it has none, in the order of the instruction's operators."""
    is_several = num_outputs > 1 and isinstance(found, Sequence) and len(values) > 1
    if not is_several:
        last = values[-1]
        if last is None:
            return
        if isinstance(found, Sequence) and not isinstance(last, Sequence):
            found = _matching(found, last)
        yield last, found
        return
    left = list(values)
    for result in reversed(found[-num_outputs:]):
        while left and not _fits(left[-1], result):
            left.pop()
        if left and (value := left.pop()) is not None:
            yield value, result


def _fits(value: Any, found: Any) -> bool:
    """A delegate may give values of its first and last operators only: other sizes are another operator's. What the
    model has no value for may be of any."""
    both = isinstance(value, torch.Tensor) and isinstance(found, torch.Tensor)
    return value is None or not both or value.shape == found.shape


def _flat(aot: tuple[DebugHandle, Any], runtime: tuple[DebugHandle, Any]) -> Iterable[Any]:
    """Operators with several outputs are compared output by output."""
    (handle, value), (runtime_handle, found) = aot, runtime
    if not isinstance(value, Sequence):
        yield aot, runtime
    elif isinstance(found, Sequence):
        flat = [each for item in found for each in (item if isinstance(item, list) else [item])]
        for one, other in zip(value, flat[-len(value) :]):
            if isinstance(one, torch.Tensor):
                yield (handle, one), (runtime_handle, other)


def _matching(values: Sequence[Any], wanted: Any) -> Any:
    """The value of the shape that is wanted, and of its type if there are several; else the last. Of an operator with
    several outputs, of which the model has one, the first."""
    if values and isinstance(values[-1], (list, tuple)):
        return _matching(values[-1][::-1], wanted)
    if isinstance(wanted, torch.Tensor):
        tensors = [each for each in values if isinstance(each, torch.Tensor)]
        shaped = [each for each in tensors if each.shape == wanted.shape]
        typed = [each for each in shaped if each.dtype == wanted.dtype]
        for found in (typed, shaped):
            if found:
                return found[-1]
    return values[-1] if values else None
