# SPDX-License-Identifier: BSD-3-Clause
"""An operator that PyTorch has while a test runs, with its out variant, and for which there is no kernel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def negation(namespace: str) -> Iterator[None]:
    """`f(Tensor x) -> Tensor` of that namespace is -x."""
    library = torch.library.Library(namespace, "DEF")
    for schema in ("f(Tensor x) -> Tensor", "f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)"):
        library.define(schema)
    library.impl("f", torch.neg, "CompositeExplicitAutograd")
    try:
        yield
    finally:
        library._destroy()
