# SPDX-License-Identifier: BSD-3-Clause
"""Rows: calls that look alike to a careless partitioner: dtypes, shapes, layouts, arguments, uses."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from executorch.backends.test.corpus.row import Row, row

F = torch.nn.functional


def _f(*shape: int) -> Tensor:
    return torch.randn(shape)


def _special() -> Tensor:
    return torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1e-40, 3e38])


_PLUS: Callable[..., Tensor] = lambda x, y: x + y  # noqa: E731
_IMAGE = torch.randn(1, 2, 3, 4).to(memory_format=torch.channels_last)

LOOKALIKES: list[Row] = [
    row("plain", _PLUS, _f(2, 3), _f(2, 3)),
    row("product", lambda x, y: x * y, _f(2, 3), _f(2, 3)),
    row("difference", lambda x, y: x - y, _f(2, 3), _f(2, 3)),
    row("matmul", torch.mm, _f(2, 3), _f(3, 4)),
    row("matmul of a vector", torch.matmul, _f(2, 3), _f(3)),
    row("same operand twice", lambda x: x + x, _f(5)),
    row("a row", _PLUS, _f(2, 3), _f(3)),
    row("a column and a row", _PLUS, _f(2, 1), _f(1, 3)),
    row("more dimensions on the right", _PLUS, _f(3), _f(2, 2, 3)),
    row("no dimensions", _PLUS, torch.tensor(1.5), torch.tensor(2.5)),
    row("no dimensions and some", _PLUS, torch.tensor(1.5), _f(4)),
    row("seven dimensions", _PLUS, _f(1, 2, 1, 2, 1, 2, 1), _f(1, 2, 1, 2, 1, 2, 1)),
    row("no elements", _PLUS, _f(0, 3), _f(0, 3)),
    row("a factor", lambda x, y: torch.add(x, y, alpha=2), _f(2, 3), _f(2, 3)),
    row("a number", lambda x: x + 1, _f(2, 3)),
    row("a number on the left", lambda x: 2.5 - x, _f(2, 3)),
    row("half", _PLUS, _f(4).half(), _f(4).half()),
    row("double", _PLUS, _f(4).double(), _f(4).double()),
    row("int32", _PLUS, torch.arange(4, dtype=torch.int32), torch.arange(4, dtype=torch.int32)),
    row("int64 that floats cannot hold", _PLUS, torch.tensor([2**53 + 1]), torch.tensor([0])),
    row("bool", lambda x, y: x & y, torch.tensor([True, False]), torch.tensor([True, True])),
    row("float and int", _PLUS, _f(3), torch.arange(3)),
    row("float and double", _PLUS, _f(3), _f(3).double()),
    row("NaN and infinities", _PLUS, _special(), torch.ones(6)),
    row("products of NaN and infinities", lambda x: x * x, _special()),
    row("channels last", _PLUS, _IMAGE, _IMAGE + 1),
    row("channels last and not", _PLUS, _IMAGE, _f(1, 2, 3, 4)),
    row("a view", lambda x, y: x.transpose(0, 1) + y, _f(3, 2), _f(2, 3)),
    row("an unsupported call between", lambda x: x + torch.atan(x + x) * x, _f(3)),
    row("a chain", lambda x, y: ((x + y) * y + x) * (x + y), _f(2, 3), _f(2, 3)),
    row("reductions", lambda x: (x + x).amax(-1, keepdim=True) + x.sum(), _f(2, 3)),
    row("a window", lambda x: F.max_pool2d(x + x, 2) * 2, _f(1, 2, 4, 4)),
]
FAMILIES = {"look-alikes": LOOKALIKES}
