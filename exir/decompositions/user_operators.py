# SPDX-License-Identifier: BSD-3-Clause
"""Operators that a user wrote in Python with `torch.library.custom_op`, as what their functions compute. One that has
an out variant has a kernel of its own and stays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import torch

from executorch.exir.decompositions.sizes import CannotDecompose
from executorch.exir.operator.convert import NoOutVariant, to_out_variant


def has_out_variant(op: torch._ops.OpOverload) -> bool:
    """Of this overload: others of its name may have some."""
    if op._schema.is_mutable:
        return False
    try:
        to_out_variant(op)
    except NoOutVariant:
        return False
    return True


def bodies_of_user_operators(
    ops: Iterable[torch._ops.OpOverload],
) -> dict[torch._ops.OpOverload, Callable[..., Any]]:
    """The functions of all such operators, as they may call each other; nothing when none is among `ops`."""
    definitions = torch._library.custom_ops.OPDEFS
    if not any(op._schema.name in definitions for op in ops):
        return {}
    found = [(each._opoverload, each._init_fn) for each in definitions.values()]
    return {
        op: _traced(op, body)
        for op, body in found
        if not op._schema.is_mutable and not has_out_variant(op)
    }


def _traced(op: torch._ops.OpOverload, body: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(body)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return body(*args, **kwargs)
        except Exception as reason:  # the user's function may raise anything
            raise CannotDecompose(
                f"the function of {op._schema.name} is not made of PyTorch's operators alone: {reason}"
            ) from reason

    return call
