# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of two programs: what is said of them, and their bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import torch

from executorch.devtools.pte_tool._results import (
    ElementDiff,
    FieldDiff,
    OperatorUsage,
    TensorDataDiff,
    TensorInfo,
)
from executorch.exir import schema
from executorch.exir._serialize._program import PTEFile
from executorch.exir.scalar_type import ScalarType
from executorch.exir.tensor import get_scalar_type

_INTEGERS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
# Types that PyTorch makes no plain tensors of: shown as whole numbers.
_NO_NUMBERS = (
    ScalarType.QINT8, ScalarType.QUINT8, ScalarType.QINT32, ScalarType.QUINT4x2, ScalarType.QUINT2x4,
    ScalarType.BITS16,
)  # fmt: skip


def fqn_of(tensor: schema.Tensor) -> str | None:
    extra = tensor.extra_tensor_info
    return (extra.fully_qualified_name if extra is not None else None) or None


def data_of(file: PTEFile, tensor: schema.Tensor) -> bytes | None:
    """Constants, and the start values of what the program changes; None for tensors whose bytes are not in the file."""
    extra = tensor.extra_tensor_info
    if extra is not None and extra.location == schema.TensorDataLocation.EXTERNAL:
        return None
    is_constant = tensor.allocation_info is None
    buffers = file.program.constant_buffer if is_constant else file.mutable_data or []
    index = tensor.data_buffer_idx
    if not 0 < index < len(buffers):
        return None
    size = math.prod(tensor.sizes) * get_scalar_type(tensor.scalar_type).itemsize
    return bytes(buffers[index].storage[:size])  # without the padding up to the next one


def info_of(index: int, tensor: schema.Tensor, usages: list[OperatorUsage]) -> TensorInfo:
    return TensorInfo(
        index,
        tensor.scalar_type,
        list(tensor.sizes),
        fqn_of(tensor),
        tensor.data_buffer_idx,
        usages,
    )


def compare_tensors(
    file_a: PTEFile,
    a: tuple[TensorInfo, schema.Tensor],
    file_b: PTEFile,
    b: tuple[TensorInfo, schema.Tensor],
    max_samples: int,
) -> TensorDataDiff:
    (info_a, tensor_a), (info_b, tensor_b) = a, b
    data_a, data_b = data_of(file_a, tensor_a), data_of(file_b, tensor_b)
    elements: dict[str, Any] = {}
    if data_a != data_b and data_a is not None and data_b is not None:
        elements = _elements(tensor_a, data_a, tensor_b, data_b, max_samples)
    return TensorDataDiff(
        info_a,
        info_b,
        len(data_a or b""),
        len(data_b or b""),
        data_a != data_b,
        list(_metadata(tensor_a, tensor_b)),
        **elements,
    )


def _metadata(a: schema.Tensor, b: schema.Tensor) -> Iterator[FieldDiff]:
    for each in fields(schema.Tensor):
        if each.name != "extra_tensor_info":
            yield from _field(each.name, getattr(a, each.name), getattr(b, each.name))
    extra_a, extra_b = a.extra_tensor_info, b.extra_tensor_info
    if extra_a is None or extra_b is None:
        yield from _field("extra_tensor_info", extra_a, extra_b)
        return
    for each in fields(schema.ExtraTensorInfo):
        values = getattr(extra_a, each.name), getattr(extra_b, each.name)
        yield from _field(f"extra_tensor_info.{each.name}", *values)


def _field(name: str, a: Any, b: Any) -> Iterator[FieldDiff]:
    plain_a, plain_b = (list(each) if isinstance(each, bytes) else each for each in (a, b))
    if plain_a != plain_b:
        yield FieldDiff(name, plain_a, plain_b)


def _elements(
    tensor_a: schema.Tensor, data_a: bytes, tensor_b: schema.Tensor, data_b: bytes, most: int
) -> dict[str, Any]:
    """Element by element, in the order of memory; nothing for other types or counts."""
    dtype = get_scalar_type(tensor_a.scalar_type)
    same = tensor_a.scalar_type == tensor_b.scalar_type and len(data_a) == len(data_b)
    if not same or dtype.itemsize not in _INTEGERS or len(data_a) % dtype.itemsize:
        return {}
    integer = _INTEGERS[dtype.itemsize]
    raw_a, raw_b = (torch.frombuffer(bytearray(data), dtype=integer) for data in (data_a, data_b))
    differing = (raw_a != raw_b).nonzero().flatten()
    shown_as = integer if tensor_a.scalar_type in _NO_NUMBERS else dtype
    a, b = (raw[differing].view(shown_as) for raw in (raw_a, raw_b))
    distance = (_wide(a) - _wide(b)).abs()
    shown = differing[:most].tolist()
    return {
        "num_elements": raw_a.numel(),
        "num_differing": len(differing),
        "max_abs_diff": float(distance.max()),
        "mean_abs_diff": float(distance.mean()),
        "element_diffs": [
            ElementDiff(flat, _multi_index(flat, tensor_a), one, other)
            for flat, one, other in zip(shown, a[:most].tolist(), b[:most].tolist())
        ],
    }


def _wide(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.complex128 if values.is_complex() else torch.float64)


def _multi_index(flat: int, tensor: schema.Tensor) -> tuple[int, ...]:
    """Where in the tensor an element of its memory is: the last dimension of the order runs fastest."""
    order = list(tensor.dim_order) or list(range(len(tensor.sizes)))
    index = [0] * len(order)
    for dim in reversed(order):
        size = max(tensor.sizes[dim], 1)
        flat, index[dim] = divmod(flat, size)
    return tuple(index)
