# SPDX-License-Identifier: BSD-3-Clause
"""Vulkan's validation layers see every call of the tests, and have nothing to say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.runtime import Runtime
from executorch.test.e2e import build_tree

pytestmark = pytest.mark.skipif(
    not Runtime.get().backend_registry.is_available("VulkanBackend"),
    reason="this build has no Vulkan backend, or no device is here",
)

LAYER = "VK_LAYER_KHRONOS_validation"
TESTS = Path(__file__).parent
OTHERS = sorted({each.stem for each in TESTS.glob("*_test.py")} - {Path(__file__).stem})
# Of files that are many networks those that have every family of shaders between them.
SAMPLES = {
    "vulkan_peer_test": "files_give and theirs and (elements or places or norms or dynamic or unet or vit or attention "
    "or neighbours or buffer or 4w or bits or generator)"
}
# An instance whose application info is of no known type.
WRONG = """
import ctypes
vulkan = ctypes.CDLL("libvulkan.so.1")
application = (ctypes.c_uint64 * 6)(7)
info = (ctypes.c_uint64 * 8)(1, 0, 0, ctypes.addressof(application))
instance = ctypes.c_void_p()
vulkan.vkCreateInstance(info, None, ctypes.byref(instance))
"""


def messages(*command: object) -> list[str]:
    """What the layers say while it runs."""
    done = subprocess.run(
        [str(each) for each in command], env=os.environ | {"VK_INSTANCE_LAYERS": LAYER},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=1800, check=False,
        errors="replace",  # names of corrupted payloads
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    return [line for line in done.stdout.splitlines() if "VUID" in line or "Validation" in line]


def test_a_wrong_call_is_told() -> None:
    (line, *_) = messages(sys.executable, "-c", WRONG)
    assert "VUID-VkApplicationInfo-sType-sType" in line


def test_the_runtime_calls_as_it_must() -> None:
    binary = build_tree.binary("backends/vulkan/vulkan_backend_test")
    assert messages(binary, "--gtest_filter=-VulkanCorruptedTest.*") == []


@pytest.mark.full
@pytest.mark.parametrize("name", OTHERS)
def test_every_test_here_calls_as_it_must(name: str) -> None:
    """Results of the driver under the layers are what they are without."""
    words = ["-m", "pytest", "-q", "-s", "-m", "full or not full", "-p", "no:cacheprovider"]
    chosen = ["-k", SAMPLES[name]] if name in SAMPLES else []
    assert messages(sys.executable, *words, *chosen, TESTS / f"{name}.py") == []


@pytest.mark.full
def test_corrupted_payloads_call_as_they_must() -> None:
    binary = build_tree.binary("backends/vulkan/vulkan_backend_test")
    assert messages(binary, "--gtest_filter=VulkanCorruptedTest.*") == []
