# SPDX-License-Identifier: BSD-3-Clause
"""`TensorLayout`: what a data file says about one of its tensors."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from executorch.exir.scalar_type import ScalarType

if TYPE_CHECKING:
    import torch


@dataclass
class TensorLayout:
    scalar_type: ScalarType
    sizes: list[int]
    dim_order: list[int]

    @classmethod
    def from_tensor(cls, tensor: torch.Tensor) -> TensorLayout:
        from executorch.exir.tensor import scalar_type_enum

        dim_order_of = sys.modules[__name__].dim_order_from_stride
        return cls(
            scalar_type=scalar_type_enum(tensor.dtype),
            sizes=list(tensor.shape),
            dim_order=list(dim_order_of(tensor.stride())),
        )


def __getattr__(name: str) -> Any:
    """`dim_order_from_stride` is a name here that exporters replace; files are read without torch, which it imports."""
    if name != "dim_order_from_stride":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from executorch.exir.tensor import dim_order_from_stride

    return dim_order_from_stride
