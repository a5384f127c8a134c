# SPDX-License-Identifier: BSD-3-Clause
"""Operators that coremltools' frontend lacks and edge programs have, or that it reads otherwise."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from executorch.backends.apple.coreml.aot import torchao_weights
from executorch.backends.apple.coreml.aot.library import ct
from executorch.backends.apple.coreml.aot.translations import TRANSLATIONS

_HINT = (
    "ExecuTorch hint: pass `compile_specs=CoreMLBackend.generate_compile_specs(minimum_deployment_target="
    "ct.target.iOS18)` (or higher) to `CoreMLPartitioner` when lowering models that use `quantize_(...)`."
)


@functools.cache
def register() -> None:
    """Once."""
    for names, translation in (
        (["gelu"], _gelu),
        (_both("dim_order_ops", "_clone_dim_order"), _clone_dim_order),
        (_both("torchao", "dequantize_affine"), torchao_weights.dequantize_affine),
        (_both("quant", "dequantize_codebook"), torchao_weights.dequantize_codebook),
        *(([name], _called(function)) for name, function in TRANSLATIONS.items()),
    ):
        ct.converters.mil.frontend.torch.register_torch_op(
            translation, torch_alias=names, override=True
        )


def _both(space: str, name: str) -> list[str]:
    return [f"{space}::{name}", f"{space}.{name}"]


def _called(function: Callable[..., Any]) -> Callable[[Any, Any], None]:
    """As the frontend calls a translation: with the names of what a call reads."""
    code = function.__code__
    takes = None if code.co_flags & inspect.CO_VARARGS else code.co_argcount

    def executorch_translation(context: Any, node: Any) -> None:
        given = [
            context[each] if each in context else each  # noqa: SIM401  a name, or what it stands for
            for each in node.inputs[:takes]
        ]
        found = function(*given)
        if not isinstance(found, tuple):
            found = ct.converters.mil.Builder.identity(x=found, name=node.name)
        context.add(found, torch_name=node.name)

    return executorch_translation


def _gelu(context: Any, node: Any) -> None:
    """The frontend's own does not read the keyword, and takes every gelu for the exact one."""
    approximation = (node.kwinputs or {}).get("approximate", ["none"])[0]
    approximation = context[approximation].val if approximation in context else approximation
    mode = {"none": "EXACT", "tanh": "TANH_APPROXIMATION"}[approximation]
    builder = ct.converters.mil.Builder
    context.add(builder.gelu(x=context[node.inputs[0]], mode=mode, name=node.name))


def _clone_dim_order(context: Any, node: Any) -> None:
    """Memory is contiguous on both sides: nothing is to do."""
    builder = ct.converters.mil.Builder
    context.add(builder.identity(x=context[node.inputs[0]], name=node.name))


def with_hint(reason: str) -> str:
    is_of_weights = "constexpr" in reason or torchao_weights.OTHERS in reason
    return f"{reason} {_HINT}" if "iOS18" in reason and is_of_weights else reason
