# SPDX-License-Identifier: BSD-3-Clause
"""Which tensors share memory, and which calls are needed."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from executorch.backends.vulkan.aot.memory_plan import live, planned
from executorch.backends.vulkan.aot.schema import DATA_TYPES, value

FOUR = [0, 1, 2, 3]


def tensor(count: int, dtype: torch.dtype = torch.float32, constant: int = -1) -> Any:
    return value("VkTensor", dims=[count], datatype=DATA_TYPES[dtype], constant_id=constant, mem_obj_id=-1)  # fmt: skip


def call(name: str, *args: int) -> Any:
    return SimpleNamespace(name=name, args=list(args))


def ids(values: list[Any]) -> list[int]:
    return [each.value.mem_obj_id for each in values if type(each.value).__name__ == "VkTensor"]


def test_memory_is_given_on() -> None:
    """As in the module's text: a and b are inputs, c = f(a), d = g(b, c)."""
    values = [tensor(4) for _ in FOUR]
    planned(values, [call("f", 0, 2), call("g", 1, 2, 3)], [0, 1], [3])
    assert ids(values) == [0, 1, 2, 0]


def test_the_smallest_that_is_large_enough_is_given_on() -> None:
    """Of free ones of 32, 16 and 24 bytes, to 20 bytes; where none is large enough the largest grows."""
    for wanted, chosen in ((5, 2), (4, 1), (8, 0), (9, 0)):
        values = [tensor(8), tensor(4), tensor(6), tensor(1), tensor(wanted)]
        planned(values, [call("f", 0, 1, 2, 3), call("g", 3, 4)], [0, 1, 2], [4])
        assert ids(values)[-1] == chosen, wanted
    # What grew from 32 to 36 bytes is as large from then on: the next 36 go there, not into 35.
    values = [tensor(8), tensor(35, torch.int8), tensor(1), tensor(9), tensor(1), tensor(9)]
    chain = [call("f", 0, 2), call("g", 2, 3), call("h", 3, 1, 4), call("i", 4, 5)]
    planned(values, chain, [0, 1], [5])
    assert ids(values) == [0, 1, 2, 0, 2, 0]


@pytest.mark.parametrize(("dtype", "size"), [
    (torch.float16, 2), (torch.bool, 1), (torch.int8, 1), (torch.uint8, 1), (torch.float64, 8), (torch.int64, 8),
    (torch.int32, 4), (torch.float32, 4),
])  # fmt: skip
def test_bytes_of_elements(dtype: torch.dtype, size: int) -> None:
    """24 elements fit into bytes of 24 * size, not into one byte less."""
    for less, chosen in ((0, 1), (1, 0)):
        values = [
            tensor(999, torch.int8),
            tensor(24 * size - less, torch.int8),
            tensor(1),
            tensor(24, dtype),
        ]
        planned(values, [call("f", 0, 1, 2), call("g", 2, 3)], [0, 1], [3])
        assert ids(values)[-1] == chosen


def test_what_is_live_at_once_shares_nothing() -> None:
    """Of drawn programs, with lists, constants and copies of these, by the first and last places of each tensor."""
    for seed in range(60):
        rng = random.Random(seed)
        values = [tensor(rng.randint(1, 9)) for _ in range(3)] + [tensor(5, constant=0), tensor(5)]
        chain = [call("et_vk.prepack.default", 3, 4)]
        for _ in range(rng.randint(2, 9)):
            read = rng.sample(range(len(values)), 2)
            if rng.random() < 0.3:
                values.append(
                    value(
                        "ValueList",
                        items=[e for e in read if "Tensor" in type(values[e].value).__name__],
                    )
                )
                read = [len(values) - 1]
            values.append(tensor(rng.randint(1, 9)))
            chain.append(call("f", *read, len(values) - 1))
        outputs = [len(values) - 1, 1]
        planned(values, chain, [0, 1, 2], outputs)
        uses = [(-1, [0, 1, 2]), *((i, c.args) for i, c in enumerate(chain)), (len(chain), outputs)]
        spans: dict[int, list[int]] = {}
        for place, args in uses:
            flat = [
                one for each in args for one in getattr(values[each].value, "items", None) or [each]
            ]
            for each in flat:
                if type(values[each].value).__name__ == "VkTensor":
                    spans.setdefault(each, []).append(place)
        held = {each: values[each].value.mem_obj_id for each in spans}
        assert held.pop(4) == -1 and held.pop(3, -1) == -1
        assert all(each >= 0 for each in held.values())
        for one in held:
            for other in held:
                if one < other and held[one] == held[other]:
                    (_, first), (begin, _) = sorted(
                        (min(spans[e]), max(spans[e])) for e in (one, other)
                    )
                    assert first < begin, (seed, one, other)


def test_calls_that_nobody_needs_are_gone() -> None:
    """Those that write a copy of a constant stay, with what they read: the next run reads it."""
    values = [tensor(1), tensor(1, constant=0), tensor(1), *(tensor(1) for _ in FOUR)]
    values.append(value("ValueList", items=[3, 4]))
    copied, one, other, unread, written = (
        call("et_vk.prepack.default", 1, 2), call("f", 0, 3), call("g", 0, 4), call("h", 3, 5), call("w", 3, 2)
    )  # fmt: skip
    assert live(values, [one, other, unread], [3]) == [one]
    assert live(values, [one, other, unread], [7]) == [one, other]
    assert live(values, [copied, one, other, written], [4]) == [copied, one, other, written]
    assert live(values, [copied, one, unread], [5]) == [one, unread]
