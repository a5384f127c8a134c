# SPDX-License-Identifier: BSD-3-Clause
"""Operators that coremltools' frontend lacks and edge programs have, or that it reads otherwise."""

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
    """Once."""
    ct.converters.mil.frontend.torch.register_torch_op(_gelu, torch_alias=["gelu"], override=True)
    names = ["dim_order_ops::_clone_dim_order", "dim_order_ops._clone_dim_order"]
    ct.converters.mil.frontend.torch.register_torch_op(
        _clone_dim_order, torch_alias=names, override=True
    )


def _gelu(context: Any, node: Any) -> None:
    """The frontend's own does not read the keyword, and takes every gelu for the exact one."""
    said = (node.kwinputs or {}).get("approximate", ["none"])[0]
    said = context[said].val if said in context else said
    mode = {"none": "EXACT", "tanh": "TANH_APPROXIMATION"}[said]
    builder = ct.converters.mil.Builder
    context.add(builder.gelu(x=context[node.inputs[0]], mode=mode, name=node.name))


def _clone_dim_order(context: Any, node: Any) -> None:
    """Memory is contiguous on both sides: nothing is to do."""
    builder = ct.converters.mil.Builder
    context.add(builder.identity(x=context[node.inputs[0]], name=node.name))


def with_hint(reason: str) -> str:
    return f"{reason} {_HINT}" if "iOS18" in reason and "constexpr" in reason else reason
