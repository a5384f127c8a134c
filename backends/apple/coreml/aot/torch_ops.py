# SPDX-License-Identifier: BSD-3-Clause
"""Operators that coremltools' frontend lacks and edge programs have."""

from __future__ import annotations

import functools
from typing import Any

from executorch.backends.apple.coreml.aot.library import ct

_HINT = (
    "ExecuTorch hint: pass `compile_specs=CoreMLBackend.generate_compile_specs(minimum_deployment_target="
    "ct.target.iOS18)` (or higher) to `CoreMLPartitioner` when lowering models that use `quantize_(...)`."
)


@functools.cache
def register() -> None:
    """Once; those that coremltools has by then stay its own."""
    names = ["dim_order_ops::_clone_dim_order", "dim_order_ops._clone_dim_order"]
    ct.converters.mil.frontend.torch.register_torch_op(
        _clone_dim_order, torch_alias=names, override=True
    )


def _clone_dim_order(context: Any, node: Any) -> None:
    """Memory is contiguous on both sides: nothing is to do."""
    builder = ct.converters.mil.Builder
    context.add(builder.identity(x=context[node.inputs[0]], name=node.name))


def with_hint(reason: str) -> str:
    return f"{reason} {_HINT}" if "iOS18" in reason and "constexpr" in reason else reason
