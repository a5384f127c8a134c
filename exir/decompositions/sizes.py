# SPDX-License-Identifier: BSD-3-Clause
"""What decompositions ask about sizes, which may be symbols."""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.sym_util import upper_bound_or_none


class CannotDecompose(Exception):
    """The call has no form with the operators that have kernels."""


def most(size: Any) -> int:
    """The largest value of a size."""
    bound = upper_bound_or_none(size)
    if bound is None:
        raise CannotDecompose("a size without an upper bound")
    return bound


def static(size: Any, limit: int) -> int:
    """A size that must be a number, at most `limit`."""
    if not isinstance(size, int) or size > limit:
        raise CannotDecompose(f"expected a size that is a number up to {limit}, found {size}")
    return size


def along(vector: torch.Tensor, dim: int, rank: int) -> torch.Tensor:
    """A vector with its elements along `dim` of `rank` dimensions."""
    return vector.view([-1 if each == dim % rank else 1 for each in range(rank)])


def has_nan(dtype: torch.dtype) -> bool:
    return dtype.is_floating_point or dtype.is_complex
