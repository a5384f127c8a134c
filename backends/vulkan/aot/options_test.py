# SPDX-License-Identifier: BSD-3-Clause
"""Options beside their compile specs."""

from __future__ import annotations

from typing import Any

import pytest

from executorch.backends.vulkan.aot.options import (
    VulkanOptions,
    options_in,
    options_of,
    parse_compile_options,
)
from executorch.backends.vulkan.aot.schema import VkMemoryLayout, VkStorageType
from executorch.exir.backend.lowering.payload.options import OptionError
from executorch.exir.schema import CompileSpec


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
