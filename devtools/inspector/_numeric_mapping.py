# SPDX-License-Identifier: BSD-3-Clause
"""Which value of the runtime stands for which value of the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    entry: that of the last instruction, with all their handles."""
    merged = {}
    for group in _groups(runtime_intermediate_outputs):
        members = [
            (handle, entry)
            for handle, entry in runtime_intermediate_outputs.items()
            if not group.isdisjoint(handle)
        ]
        _, last = max(members, key=lambda member: member[1][0])
        ordered = dict.fromkeys(number for handle, _ in members for number in handle)
        merged[tuple(ordered)] = last
    return merged


def map_runtime_aot_intermediate_outputs(
    aot_intermediate_outputs: dict[DebugHandle, Any],
    runtime_intermediate_outputs: dict[DebugHandle, tuple[Any, int]],
) -> dict[tuple[DebugHandle, Any], tuple[DebugHandle, Any]]:
    """(handles, value of the model) -> (handles, value of the runtime). An instruction that stands for several
    operators is compared with the last of them. Raises ValueError when two instructions share a handle."""
    pairs = {}
    for group in _groups([*aot_intermediate_outputs, *runtime_intermediate_outputs]):
        runtime = [h for h in runtime_intermediate_outputs if not group.isdisjoint(h)]
        aot = [h for h in aot_intermediate_outputs if not group.isdisjoint(h)]
        if len(runtime) > 1:
            raise ValueError(
                f"Expected only one runtime debug handle, found {runtime}: call merge_runtime_overlapping_debug_handles"
            )
        if not runtime or not aot or not {n for h in aot for n in h} <= set(runtime[0]):
            continue
        place = {number: i for i, number in enumerate(runtime[0])}
        aot.sort(key=lambda handle: max(place[number] for number in handle))
        value = aot_intermediate_outputs[aot[-1]]
        found, num_outputs = runtime_intermediate_outputs[runtime[0]]
        if isinstance(found, Sequence) and not isinstance(value, Sequence):
            found = _matching(found[-num_outputs:] if num_outputs > 0 else found, value)
        combined = tuple(number for handle in aot for number in handle)
        for key, given in _flat((combined, value), (runtime[0], found)):
            pairs[key] = given
    return pairs


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
