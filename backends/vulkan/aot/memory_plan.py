# SPDX-License-Identifier: BSD-3-Clause
"""Which tensors of a payload may lie in the same memory: those of one `mem_obj_id` are never live at once.

tensor:     a      b      c = f(a)  d = g(b, c)
mem_obj_id: 0      1      2         0            (a is read for the last time by f)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

_PREPACK = "et_vk.prepack.default"
_BYTES = {"FLOAT16": 2, "BOOL": 1, "UINT8": 1, "INT8": 1, "FLOAT64": 8, "INT64": 8}


def planned(
    values: Sequence[Any], chain: Sequence[Any], inputs: Sequence[int], outputs: Sequence[int]
) -> None:
    """Sets the ids. Constants, what copies of them fill once, and what a second call writes have none."""
    kept = _kept(values, chain)
    uses: dict[int, list[int]] = {}  # of tensors: places in the chain
    for each in tensors_in(values, inputs):
        uses.setdefault(each, []).append(-1)
    for place, call in enumerate(chain):
        for each in tensors_in(values, call.args):
            uses.setdefault(each, []).append(place)
    for each in tensors_in(values, outputs):
        uses.setdefault(each, []).append(len(chain))
    free: list[tuple[int, int]] = []  # size, id
    sizes: list[int] = []
    ends: dict[int, list[int]] = {}  # place -> tensors that are read there for the last time
    for each in sorted(uses, key=lambda tensor: (uses[tensor][0], tensor)):
        if each in kept:
            continue
        begin = uses[each][0]
        for place in sorted(place for place in ends if place < begin):
            free += [
                (sizes[values[one].value.mem_obj_id], values[one].value.mem_obj_id)
                for one in ends.pop(place)
            ]
        values[each].value.mem_obj_id = _object(_num_bytes(values[each].value), free, sizes)
        ends.setdefault(uses[each][-1], []).append(each)


def live(values: Sequence[Any], chain: Sequence[Any], outputs: Sequence[int]) -> list[Any]:
    """The calls that outputs need, and those that write what a copy of a constant holds: it stays for the next run."""
    kept = _kept(values, chain)
    needed, found = {*_places_in(values, outputs)}, []
    for call in reversed(chain):
        *read, result = call.args
        results = _places_in(values, [result])
        writes_kept = call.name != _PREPACK and not kept.isdisjoint(results)
        if writes_kept or not needed.isdisjoint(results):
            needed.update(_places_in(values, [*read, *(results if writes_kept else ())]))
            found.append(call)
    return found[::-1]


def _places_in(values: Sequence[Any], ids: Sequence[int]) -> list[int]:
    """With the items of lists in place of them."""
    found: list[int] = []
    for each in ids:
        value = values[each].value
        found += value.items if type(value).__name__ == "ValueList" else [each]
    return found


def _object(num_bytes: int, free: list[tuple[int, int]], sizes: list[int]) -> int:
    """The smallest that is free and large enough, else the largest, which grows, else a new one."""
    if not free:
        sizes.append(num_bytes)
        return len(sizes) - 1
    enough = [each for each in free if each[0] >= num_bytes]
    chosen = min(enough) if enough else max(free)
    free.remove(chosen)
    sizes[chosen[1]] = max(sizes[chosen[1]], num_bytes)
    return chosen[1]


def tensors_in(values: Sequence[Any], ids: Sequence[int]) -> list[int]:
    """Also those of lists."""
    found = []
    for each in ids:
        value = values[each].value
        if type(value).__name__ == "VkTensor":
            found.append(each)
        elif type(value).__name__ == "ValueList":
            found += tensors_in(values, value.items)
    return found


def _kept(values: Sequence[Any], chain: Sequence[Any]) -> set[int]:
    copies = {call.args[-1] for call in chain if call.name == _PREPACK}
    constants = {
        place for place, each in enumerate(values) if getattr(each.value, "constant_id", -1) >= 0
    }
    return copies | constants


def _num_bytes(tensor: Any) -> int:
    return prod(tensor.dims) * _BYTES.get(tensor.datatype.name, 4)
