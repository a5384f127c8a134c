# SPDX-License-Identifier: BSD-3-Clause
# compat
"""What the backend takes, under the name that documents give it: rows of aot/ops.py."""

from typing import Any

from executorch.backends.vulkan.aot.ops import TABLE
from executorch.backends.vulkan.aot.row import VulkanRow

vulkan_supported_ops = TABLE


def _name(target: Any) -> str:
    """Of an operator of the edge dialect, one of torch, or its name, also without its overload."""
    if not isinstance(target, str):
        full = getattr(target, "__name__", "")
        return full if full.count(".") > 1 else str(target)
    name = target.replace("::", ".")
    return name if name in TABLE else f"{name}.default"


def has_impl(target: Any) -> bool:
    """Whether there is a row for it; its conditions and those of patterns say which calls are taken."""
    return _name(target) in TABLE


def get_op_features(target: Any) -> VulkanRow:
    """KeyError for what is not in the table."""
    return TABLE[_name(target)]
