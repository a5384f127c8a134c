# SPDX-License-Identifier: BSD-3-Clause
"""The bytes of a tensor as files hold them, without a copy where the tensor's memory already looks so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executorch.exir._native import Blob
from executorch.exir.error import ExportError, ExportErrorType

if TYPE_CHECKING:
    import torch


def tensor_bytes(tensor: torch.Tensor, dim_order: tuple[int, ...] | None = None) -> Blob:
    """The elements of `tensor` in `dim_order` (None: the order its memory has, if it is dense). The
    result keeps the tensor's memory alive and shows later changes to it."""
    import torch  # whoever has a tensor has it; readers of files need not

    if isinstance(tensor, torch._subclasses.FakeTensor) or tensor.device.type == "meta":
        raise ExportError(
            ExportErrorType.MISSING_PROPERTY,
            f"constant tensor of shape {tuple(tensor.shape)} holds no data (fake or meta); "
            "load the weights first",
        )
    if tensor.layout != torch.strided:
        raise ExportError(
            ExportErrorType.NOT_SUPPORTED,
            f"constant tensor with layout {tensor.layout}: only strided; call .to_dense() first",
        )
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if dim_order is None:
        dim_order = tuple(tensor.dim_order()) if _is_dense(tensor) else tuple(range(tensor.dim()))
    flat = tensor.permute(dim_order).contiguous().reshape(-1)
    if flat.numel() == 0:
        return Blob(b"")
    return Blob(flat.view(torch.uint8).numpy())


def _is_dense(tensor: torch.Tensor) -> bool:
    import torch

    return torch._prims_common.is_non_overlapping_and_dense_or_false(tensor)
