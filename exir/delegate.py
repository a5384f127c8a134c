# SPDX-License-Identifier: BSD-3-Clause
"""The operator that calls a lowered module, under its documented path. It is part of torch."""

from torch._higher_order_ops.executorch_call_delegate import (
    executorch_call_delegate,
    get_lowered_module_name,
    is_lowered_module,
)

__all__ = ["executorch_call_delegate", "get_lowered_module_name", "is_lowered_module"]
