# SPDX-License-Identifier: BSD-3-Clause
"""`TensorLayout`: what a data file says about one of its tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
        from executorch.exir.tensor import dim_order_from_stride, scalar_type_enum

        return cls(
            scalar_type=scalar_type_enum(tensor.dtype),
            sizes=list(tensor.shape),
            dim_order=list(dim_order_from_stride(tensor.stride())),
        )
