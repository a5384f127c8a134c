# SPDX-License-Identifier: BSD-3-Clause
"""Arrays as files of executor_runner, and back."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from executorch.exir.scalar_type import ScalarType


def file_of(array: Any, dim_order: Sequence[int]) -> tuple[bytes, str]:
    """Its bytes and what its name ends with: numpy.save()'s, which have sizes, where the method wants the elements in
    the order of the dimensions; else the bytes in its order, at the sizes of the export."""
    name = str(array.dtype).removeprefix("torch.")
    if not isinstance(array, np.ndarray):
        array = _numpys(array)
    if list(dim_order) == list(range(array.ndim)) and name == str(array.dtype):
        file = io.BytesIO()
        np.save(file, np.asarray(array, order="C"), allow_pickle=False)
        return file.getvalue(), ".npy"
    return bytes_of(array, dim_order), ".bin"


def bytes_of(array: Any, dim_order: Sequence[int]) -> bytes:
    """The elements in the order that the method wants them in."""
    if not isinstance(array, np.ndarray):
        array = _numpys(array)
    return array.transpose(dim_order).tobytes()


def as_value(described: Mapping[str, Any], data: bytes, is_torch: bool) -> Any:
    """`described`: dtype, sizes and dim order as run_report.h has them. torch's tensor where asked for, or where NumPy
    lacks the dtype."""
    sizes, order = described["sizes"], described["dim_order"]
    order = list(range(len(sizes))) if order is None else order
    back = [order.index(dim) for dim in range(len(order))]
    stored = [sizes[dim] for dim in order]
    name = ScalarType(described["dtype"]).dtype_name
    if is_torch or not hasattr(np, name):
        import torch

        dtype = getattr(torch, name)
        if not data:
            return torch.empty(sizes, dtype=dtype)
        return torch.frombuffer(bytearray(data), dtype=dtype).reshape(stored).permute(back)
    return np.frombuffer(data, name).reshape(stored).transpose(back)


def _numpys(tensor: Any) -> np.ndarray:
    """A tensor's elements, as whole numbers of the same size where NumPy lacks the dtype."""
    try:
        return tensor.detach().numpy()
    except TypeError:
        import torch

        same_size = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
        return tensor.detach().view(same_size[tensor.element_size()]).numpy()
