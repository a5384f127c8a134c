# SPDX-License-Identifier: BSD-3-Clause
"""The three memory functions that stand as call_function targets in a planned graph: `alloc` (a tensor to be
written), `view` (other sizes over the same bytes) and `free`. They also work when the graph is run eagerly."""

import math
from typing import Any

import torch

from executorch.exir.sym_util import eval_shape_upper_bound
from executorch.exir.tensor import TensorSpec

AllocSpec = tuple[tuple[int, ...], torch.dtype]


def alloc(spec: AllocSpec | list[AllocSpec]) -> Any:
    """An uninitialised tensor for (sizes, dtype), or a list of them; dynamic sizes are allocated at their bound."""
    if isinstance(spec, list):
        return [alloc(one) for one in spec]
    sizes, dtype = spec
    return torch.empty(eval_shape_upper_bound(sizes), dtype=dtype)


def free(spec: TensorSpec) -> None:
    """Marks the end of a tensor's life; nothing to do in eager mode."""


def view(base: torch.Tensor, size: list[int]) -> torch.Tensor:
    """`base`'s bytes with other sizes; never copies (the planner gives both the same place)."""
    numel = math.prod(size)
    if numel >= 0 and numel != base.numel():
        raise ValueError(f"cannot view {tuple(base.shape)} ({base.numel()} elements) as {size}")
    return base.view(size)
