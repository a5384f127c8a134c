# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Dtypes of what an operator gave."""

from __future__ import annotations

from typing import Any

import torch

from executorch.exir.dialects.edge.arg.model import BaseArg


def extract_return_dtype(returns: Any, sample_returns: list[BaseArg]) -> list[torch.dtype]:
    """One dtype for each of `sample_returns`: of a tensor, or of the first tensor of a list."""
    results = list(returns) if isinstance(returns, list | tuple) else [returns]
    if len(sample_returns) == 1 and sample_returns[0].type.is_tensor_list():
        results = [results]
    if len(results) != len(sample_returns):
        raise AssertionError(f"expected {len(sample_returns)} results, found {len(results)}")
    return [(each[0] if isinstance(each, list | tuple) else each).dtype for each in results]
