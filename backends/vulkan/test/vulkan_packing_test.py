# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of weights, element by element, the plan of memory, and options beside their compile specs."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from executorch.backends.test.corpus.row import integers
from executorch.backends.vulkan.aot import packing
from executorch.backends.vulkan.aot.memory_plan import live, planned
from executorch.backends.vulkan.aot.options import (
    VulkanOptions,
    options_in,
    options_of,
    parse_compile_options,
)
from executorch.backends.vulkan.aot.schema import DATA_TYPES, VkMemoryLayout, VkStorageType, value
from executorch.exir.backend.lowering.payload.options import OptionError
from executorch.exir.schema import CompileSpec

FOUR = [0, 1, 2, 3]


def bytes_of(*sizes: int) -> Tensor:
    return (integers(256, *sizes) - 128).to(torch.int8)


def padded(rows: list[list[int]], multiple: int) -> list[list[int]]:
    return [[*row, *[0] * (-len(row) % multiple)] for row in rows]


# ---- Weights ----


def test_two_weights_in_a_byte() -> None:
    """-8, 7, 1 are 0, 15, 9 with 8 added, and zeros behind are 8: 15 * 16 + 0, 8 * 16 + 9, 8 * 16 + 8 twice."""
    weights = torch.tensor([[-8, 7, 1]], dtype=torch.int8)
    assert packing.nibbles(weights, True, 8).tolist() == [[240, 137, 136, 136]]
    assert packing.nibbles(weights, False, 8).tolist() == [[15, 152, 136, 136]]
    assert packing.nibbles(weights[:, :2], True, 2).tolist() == [[240]]
    drawn = (integers(16, 3, 12) - 8).to(torch.int8)
    for low_first in (False, True):
        packed = packing.nibbles(drawn, low_first, 4)
        assert packed.shape == (3, 6) and packed.dtype == torch.uint8
        assert torch.equal(packing.from_nibbles(packed, low_first), drawn)


@pytest.mark.parametrize("sizes", [(2, 3, 2, 1), (3, 1, 1, 3), (4, 4, 1, 1), (1, 5, 1, 1)])
def test_rows_of_filters(sizes: tuple[int, ...]) -> None:
    """In the order height, width, channel, each row with zeros up to 4; of a transposed convolution the same."""
    filters, channels, height, width = sizes
    weight = bytes_of(*sizes)
    places = [(y, x, c) for y in range(height) for x in range(width) for c in range(channels)]
    rows = [[int(weight[f, c, y, x]) for y, x, c in places] for f in range(filters)]
    assert packing.rows_of_filters(weight).tolist() == padded(rows, 4)
    assert packing.rows_of_transposed(weight.transpose(0, 1), 1).tolist() == padded(rows, 4)
    two = torch.cat([weight.transpose(0, 1)] * 2)
    assert packing.rows_of_transposed(two, 2).tolist() == padded(rows, 4) * 2


def test_taps_and_sums() -> None:
    weight = bytes_of(5, 1, 2, 3)
    taps = [[[int(weight[c, 0, y, x]) for c in range(5)] for x in range(3)] for y in range(2)]
    assert packing.depthwise_taps(weight).tolist() == taps
    sums = [sum(map(int, weight[c].flatten())) for c in range(5)]
    assert packing.sums_of_rows(weight).tolist() == [*sums, 0, 0, 0]
    assert packing.sums_of_rows(weight[:4]).tolist() == sums[:4]
    wide = bytes_of(9, 6)
    groups = [[sum(map(int, wide[n, k : k + 2])) for n in range(9)] for k in (0, 2, 4)]
    found = packing.sums_of_groups(wide, 2)
    assert found.tolist() == padded(groups, 8) and found.dtype == torch.int32


# ---- Memory ----


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


# ---- Options ----


def test_options_are_the_same_behind_compile_specs() -> None:
    given: list[dict[str, Any]] = [
        {},
        {"texture_limits": [1, 2**20, 3]},
        {"small_texture_limits": True, "downcast_64_bit": False, "skip_bool_tensors": True},
        {"storage_type_override": VkStorageType.TEXTURE_3D},
        {"memory_layout_override": VkMemoryLayout.TENSOR_CHANNELS_PACKED, "warmup_execute_after_compile": True},
    ]  # fmt: skip
    for each in given:
        asked = options_of(each)
        assert options_in(parse_compile_options(each)) == asked
        assert all(
            getattr(asked, name) == (tuple(v) if isinstance(v, list) else v)
            for name, v in each.items()
        )
    assert options_of({"buffer_limit": 7}).buffer_limit == 7
    specs = parse_compile_options({"texture_limits": (1, 2, 3)})
    assert options_in(specs[:2]) == VulkanOptions()  # all three, or none


def test_limits_of_devices() -> None:
    """2**14 and 2**11 elements along an axis of an image; 2**27 elements of a tensor."""
    assert options_of({}).limits == (2**14, 2**14, 2**11)
    assert options_of({"small_texture_limits": True}).limits == (2**11, 2**11, 2**11)
    assert options_of({"small_texture_limits": True, "texture_limits": (5, 6, 7)}).limits == (
        5,
        6,
        7,
    )
    assert options_of({}).buffer_limit == 2**27


@pytest.mark.parametrize(("name", "found", "expected"), [
    ("texture_limits", (1, 2), "three numbers"), ("texture_limits", (1, 2, 3, 4), "three numbers"),
    ("texture_limits", 5, "three numbers"), ("texture_limits", (1, 2, 3.0), "three numbers"),
    ("buffer_limit", 0, "a number of elements"), ("buffer_limit", True, "a number of elements"),
    ("force_fp16", 1, "a bool"), ("storage_type_override", 1, "VkStorageType"),
    ("quite_another", 1, "there are require_dynamic_shapes"), ("force_fp61", True, "is force_fp16 meant"),
])  # fmt: skip
def test_options_that_are_refused(name: str, found: Any, expected: str) -> None:
    with pytest.raises(OptionError, match=expected):
        options_of({name: found})
    assert options_of({"buffer_limit": 1})


@pytest.mark.parametrize(("key", "data", "expected"), [
    ("force_fp16", bytes(4), "expected 1 bytes, found 4"), ("texture_limits_x", bytes(1), "expected 4 bytes, found 1"),
    ("memory_layout_override", bytes(3), "expected 4 bytes, found 3"), ("nobodys", b"\1", "expected one of require"),
])  # fmt: skip
def test_compile_specs_that_are_refused(key: str, data: bytes, expected: str) -> None:
    with pytest.raises(OptionError, match=expected):
        options_in([CompileSpec(key, data)])
