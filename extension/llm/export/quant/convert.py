# SPDX-License-Identifier: BSD-3-Clause
"""From tensors that quantizing gives to those that torch.export takes, name by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torchao.quantization import Int4Tensor, IntxUnpackedToInt8Tensor

from executorch.extension.llm.export.int4 import ExportableInt4Tensor

Convert = Callable[[str, Tensor], Tensor]


def identity(fqn: str, w: Tensor) -> Tensor:
    return w


def to_exportable(fqn: str, w: Tensor) -> Tensor:
    """Int4Tensor, which computes with kernels of GPUs only, becomes ExportableInt4Tensor."""
    return ExportableInt4Tensor.from_int4_tensor(w) if isinstance(w, Int4Tensor) else w


def to_default(fqn: str, w: Tensor) -> Tensor:
    """What is loaded where nothing else is asked for: `to_exportable`."""
    return to_exportable(fqn, w)


def fuse_along_output(tensors: Sequence[Tensor]) -> Tensor:
    """Weights of layers that read the same input as one weight, rows after rows.

    Raises TypeError for tensors that cannot be joined, or are not of one kind.
    """
    first = tensors[0]
    if not _is_quantized(first):
        if any(map(_is_quantized, tensors)):
            raise TypeError(
                "fuse_along_output: expected tensors of one kind, found plain and quantized ones"
            )
        return torch.cat(list(tensors))
    if not all(type(each) is IntxUnpackedToInt8Tensor for each in tensors):
        raise TypeError(f"fuse_along_output cannot fuse tensors of type {type(first).__name__}")
    attributes = [_attributes(each) for each in tensors]
    if any(each != attributes[0] for each in attributes):
        raise TypeError(f"fuse_along_output: expected weights quantized alike, found {attributes}")
    parts = (
        torch.cat([getattr(each, name) for each in tensors]) for name in first.tensor_data_names
    )
    return IntxUnpackedToInt8Tensor(*parts, **attributes[0])


def _attributes(weight: Tensor) -> dict[str, object]:
    return {name: getattr(weight, name) for name in weight.tensor_attribute_names}


def _is_quantized(value: Tensor) -> bool:
    return is_traceable_wrapper_subclass(value)


def maybe_cast(value: Tensor, dtype: torch.dtype | None) -> Tensor:
    """Floats in `dtype`, where one is given; integers and quantized tensors as they are."""
    if dtype is None or _is_quantized(value) or not value.is_floating_point():
        return value
    return value.to(dtype)
