# SPDX-License-Identifier: BSD-3-Clause
# compat
"""What kernels tell the compiler about the memory they need beside their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from executorch.exir.tensor import TensorSpec


@dataclass
class ScratchTensorMetadata:
    """A tensor that an out variant wants to write while it runs."""

    dtype: torch.dtype
    shape: torch.Size
    layout: torch.layout = torch.strided
    device: torch.device = torch.device("cpu")
    is_sparse: bool = False


# From the fake values of an out variant's arguments to its scratch tensors by argument name.
ScratchCallableType = Callable[..., dict[str, TensorSpec | ScratchTensorMetadata]]


def attach_get_scratch_metas_fn(
    out_variant: torch._ops.OpOverload,
) -> Callable[[ScratchCallableType], ScratchCallableType]:
    """Decorator: the function is `out_variant.get_scratch_metas`."""

    def attach(function: ScratchCallableType) -> ScratchCallableType:
        out_variant.get_scratch_metas = function
        return function

    return attach


def attach_calculate_upper_bound_shape_fn(
    func: torch._ops.OpOverload,
) -> Callable[[Callable[..., object]], Callable[..., object]]:
    """Decorator: the function, from arguments to the largest sizes of the result, is the operator's
    `calculate_upper_bound_shape`."""

    def attach(function: Callable[..., object]) -> Callable[..., object]:
        func.calculate_upper_bound_shape = function
        return function

    return attach
