# SPDX-License-Identifier: BSD-3-Clause
"""Operators that no kernel serves, written with operators that have one. They stay whole until `to_executorch`, so
that backends may claim them. A new one is a row in the table of its family.

Each function takes the operator's arguments and runs on fake tensors; sizes may be symbols, which it must not decide
about. It raises `CannotDecompose` for calls that it has no form for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from executorch.exir.decompositions.complex_numbers import COMPLEX_NUMBERS
from executorch.exir.decompositions.creation import CREATION
from executorch.exir.decompositions.elementwise import ELEMENTWISE
from executorch.exir.decompositions.gradients import GRADIENTS
from executorch.exir.decompositions.indexing import INDEXING
from executorch.exir.decompositions.linear_algebra import LINEAR_ALGEBRA
from executorch.exir.decompositions.pooling import POOLING
from executorch.exir.decompositions.random_numbers import RANDOM_NUMBERS
from executorch.exir.decompositions.resizing import RESIZING
from executorch.exir.decompositions.scans import SCANS
from executorch.exir.decompositions.sorting import SORTING

Table = dict[torch._ops.OpOverload, Callable[..., Any]]


@functools.cache
def late_decompositions() -> Table:
    return {
        **COMPLEX_NUMBERS,
        **CREATION,
        **ELEMENTWISE,
        **GRADIENTS,
        **INDEXING,
        **LINEAR_ALGEBRA,
        **POOLING,
        **RANDOM_NUMBERS,
        **RESIZING,
        **SCANS,
        **SORTING,
    }
