# SPDX-License-Identifier: BSD-3-Clause
"""From tensors that quantizing gives to those that torch.export takes, name by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass
from torchao.quantization import Int4Tensor, IntxUnpackedToInt8Tensor

from executorch.extension.llm.export.gguf import ExportableGGUFTensor
from executorch.extension.llm.export.int4 import ExportableInt4Tensor

Convert = Callable[[str, Tensor], Tensor]


def identity(fqn: str, w: Tensor) -> Tensor:
    return w


def to_exportable(fqn: str, w: Tensor) -> Tensor:
    """Int4Tensor, which computes with kernels of GPUs only, becomes ExportableInt4Tensor."""
    return ExportableInt4Tensor.from_int4_tensor(w) if isinstance(w, Int4Tensor) else w


def to_default(fqn: str, w: Tensor) -> Tensor:
    """What is loaded where nothing else is asked for: `to_exportable`, and codes of 4 bits that have a byte each become
    half as large. One whose activations are quantized, too, is exported as it is."""
    if isinstance(w, IntxUnpackedToInt8Tensor) and _fits_int4(w):
        return ExportableInt4Tensor.from_intx_unpacked_to_int8_tensor(w)
    return to_exportable(fqn, w)


def _fits_int4(w: IntxUnpackedToInt8Tensor) -> bool:
    return (
        w.target_dtype == torch.int4
        and w.activation_quantization is None
        and len(w.block_size) == 2
        and w.block_size[0] == 1
    )


# Class -> along which dimension its tensors hold outputs.
_OUTPUT_DIMS: dict[type[Tensor], dict[str, int]] = {
    ExportableInt4Tensor: {"qdata": 0, "scale": 1, "zero_point": 1},
    ExportableGGUFTensor: {"raw": 0},
    IntxUnpackedToInt8Tensor: {"qdata": 0, "scale": 0, "zero_point": 0},
}


def fuse_along_output(tensors: Sequence[Tensor]) -> Tensor:
    """Weights of layers that read the same input as one weight, rows after rows; one alone is given back.

    Raises ValueError for none, and for weights quantized in different ways; TypeError for tensors that cannot be
    joined, or are not of one class.
    """
    if not tensors:
        raise ValueError("fuse_along_output: expected at least one tensor, found none")
    first = tensors[0]
    if len(tensors) == 1:
        return first
    if not any(map(_is_quantized, tensors)):
        return torch.cat(list(tensors))
    if any(type(each) is not type(first) for each in tensors):
        found = sorted({type(each).__name__ for each in tensors})
        raise TypeError(f"fuse_along_output: expected tensors of one class, found {found}")
    if type(first) not in _OUTPUT_DIMS:
        raise TypeError(f"fuse_along_output cannot fuse tensors of type {type(first).__name__}")
    attributes = _attributes(first)
    for each in tensors[1:]:
        for name, value in _attributes(each).items():
            if value != attributes[name]:
                raise ValueError(
                    f"fuse_along_output: expected weights quantized alike, found {name} {attributes[name]} and {value}"
                )
    parts = (
        torch.cat([getattr(each, name) for each in tensors], dim)
        for name, dim in _OUTPUT_DIMS[type(first)].items()
    )
    return type(first)(*parts, **attributes)


def _attributes(weight: Tensor) -> dict[str, object]:
    return {name: getattr(weight, name) for name in weight.tensor_attribute_names}


def _is_quantized(value: Tensor) -> bool:
    return is_traceable_wrapper_subclass(value)


def maybe_cast(value: Tensor, dtype: torch.dtype | None) -> Tensor:
    """Floats in `dtype`, where one is given; integers and quantized tensors as they are."""
    if dtype is None or _is_quantized(value) or not value.is_floating_point():
        return value
    return value.to(dtype)
