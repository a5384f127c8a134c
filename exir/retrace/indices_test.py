# SPDX-License-Identifier: BSD-3-Clause
"""Operators that take a tensor of indices, given negative ones and ones out of range: taken, with the same numbers,
where eager takes them, and refused where it refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.export import export

from executorch.exir import to_edge
from executorch.extension.pybindings.portable_lib import _load_program_from_buffer

X = torch.arange(12.0).reshape(3, 4)
S = torch.tensor([[7.0, 8.0], [9.0, 10.0], [11.0, 12.0]])
LAST, FAR, BEFORE = torch.tensor([0, -1]), torch.tensor([0, 4]), torch.tensor([0, -5])

Function = Callable[..., Any]
OPERATORS: dict[str, tuple[Function, tuple[torch.Tensor, ...]]] = {
    "index_fill": (lambda x, i: x.index_fill(1, i, 3.0), (X,)),
    "index_fill of ints": (lambda x, i: x.index_fill(-1, i, 3.7), (X.int(),)),
    "index_fill by a tensor": (lambda x, i, v: x.index_fill(1, i, v), (X, torch.tensor(5))),
    "index_fill in place": (lambda x, i: (x * 1).index_fill_(1, i, 3.0), (X,)),
    "index": (lambda x, i: x[:, i], (X,)),
    "index of int32": (lambda x, i: x[:, i.int()], (X,)),
    "index_put": (lambda x, i, s: torch.ops.aten.index_put(x, [None, i], s), (X, S)),
    "index_put that adds": (lambda x, i, s: x[0].index_put((i,), s[0], accumulate=True), (X, S)),
    "put": (lambda x, i, s: x[0].put(i, s[0]), (X, S)),
    "take": (lambda x, i: x[0].take(i), (X,)),
    "index_select": (lambda x, i: x.index_select(1, i), (X,)),
    "index_copy": (lambda x, i, s: x.index_copy(1, i, s), (X, S)),
    "index_reduce": (lambda x, i, s: x.index_reduce(1, i, s, "amax"), (X, S)),
    "gather": (lambda x, i: x.gather(1, i.expand(3, 2)), (X,)),
    "scatter": (lambda x, i: x.scatter(1, i.expand(3, 2), 2.0), (X,)),
    "scatter of values": (lambda x, i, s: x.scatter(1, i.expand(3, 2), s), (X, S)),
    "scatter_add": (lambda x, i, s: x.scatter_add(1, i.expand(3, 2), s), (X, S)),
    "scatter_reduce": (lambda x, i, s: x.scatter_reduce(1, i.expand(3, 2), s, "amax"), (X, S)),
    "embedding": (lambda x, i: F.embedding(i, x.t()), (X,)),
    "embedding_bag": (lambda x, i: F.embedding_bag(i[None], x.t().contiguous()), (X,)),
    "nll_loss": (lambda x, i: F.nll_loss(x[:2], i), (X,)),
}


class Call(torch.nn.Module):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        return self.function(*args)


def outcome(run: Callable[[], torch.Tensor]) -> torch.Tensor | None:
    try:
        return run()
    except (IndexError, RuntimeError):
        return None


@pytest.mark.parametrize("name", OPERATORS)
def test_indices_are_taken_as_eager_takes_them(name: str) -> None:
    function, (x, *rest) = OPERATORS[name]
    good = (x, torch.tensor([0, 1]), *rest)
    lowered = to_edge(export(Call(function), good)).to_executorch()
    method = _load_program_from_buffer(lowered.buffer).load_method("forward")
    for indices in (good[1], LAST, FAR, BEFORE):
        args = (x, indices, *rest)
        expected = outcome(lambda a=args: function(*(each.clone() for each in a)))
        found = outcome(lambda a=args: method.call(a)[0])
        assert (found is None) == (expected is None), indices
        if expected is not None:
            torch.testing.assert_close(found, expected)


def test_a_scalar_filled_at_an_index() -> None:
    x, index = torch.tensor(1.0), torch.tensor([-1])
    lowered = to_edge(
        export(Call(lambda x, i: x.index_fill(0, i, 3.0)), (x, index))
    ).to_executorch()
    (found,) = _load_program_from_buffer(lowered.buffer).load_method("forward").call((x, index))
    assert found.shape == () and found == 3
