# SPDX-License-Identifier: BSD-3-Clause
"""The operator that calls a lowered module, under its documented path. It is part of torch."""

import importlib
from typing import Any

from torch._higher_order_ops.executorch_call_delegate import (
    executorch_call_delegate,
    get_lowered_module_name,
    is_lowered_module,
)


def __getattr__(name: str) -> Any:
    """The module's class stands in a layer above."""
    if name != "LoweredBackendModule":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module("executorch.exir.lowered_backend_module").LoweredBackendModule


__all__ = ["executorch_call_delegate", "get_lowered_module_name", "is_lowered_module"]
