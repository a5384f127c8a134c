# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Control flow that stays in the program, for use in a model's forward: conditions, loops, sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._higher_order_ops.map import map as map
from torch._higher_order_ops.while_loop import while_loop as _torch_while_loop

cond = torch.cond

__all__ = ["cond", "map", "shape", "while_loop"]


def shape(x: torch.Tensor) -> torch.Size:
    """The sizes of `x`; symbolic where they are dynamic."""
    return x.shape


def while_loop(
    cond_fn: Callable[..., torch.Tensor], body_fn: Callable[..., Any], init_val: Any
) -> Any:
    """Runs `body_fn` on what it gave last, `init_val` at first, while `cond_fn` of it is true. A tensor or a tuple of
    tensors, of the same sizes and dtypes each time."""
    if isinstance(init_val, tuple | list):
        return _torch_while_loop(cond_fn, body_fn, tuple(init_val))

    def body(value: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = body_fn(value)
        return tuple(result) if isinstance(result, tuple | list) else (result,)

    return _torch_while_loop(cond_fn, body, (init_val,))[0]
