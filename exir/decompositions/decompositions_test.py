# SPDX-License-Identifier: BSD-3-Clause
"""Each late decomposition beside eager, in a program that runs: NaN, ties, infinities, empty and dynamic sizes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.export import Dim, export
from torch.utils._pytree import tree_leaves

from executorch.exir import to_edge
from executorch.exir.error import ExportError
from executorch.runtime import Runtime

aten = torch.ops.aten
INF, NAN = math.inf, math.nan


class Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


def run(function: Callable[..., Any], *inputs: Any) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = to_edge(export(Call(function), inputs)).to_executorch().buffer
    method = Runtime.get().load_program(data).load_method("forward")
    return [result.clone() for result in method.execute(tree_leaves(inputs))]


TIES = torch.tensor([[2.0, 1.0, 2.0, 1.0, 3.0], [0.0, -0.0, 0.0, 5.0, 5.0]])
LOST = torch.tensor([[1.0, NAN, 3.0, 2.0], [INF, -INF, 0.0, 1.0], [4.0, 3.0, 2.0, 1.0]])
WHOLE = torch.tensor([[3, -1, 2, 3], [7, 7, 0, -5]])
LINE = torch.tensor([1.0, 2.0, 2.0, 5.0])
Z = torch.complex(torch.tensor([1.0, -1.0, 0.0, 0.0]), torch.tensor([0.0, -2.0, 3.0, 0.0]))
BAGS = torch.tensor([1, 2, 2, 5, 0, 9])
TABLE = torch.arange(20.0).reshape(10, 2).sin()
GRID = torch.arange(210.0).reshape(1, 2, 7, 15).sin()
CUBE = torch.arange(720.0).reshape(2, 1, 5, 8, 9).cos()
SQUARE = torch.tensor([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [4.0, 1.0, 0.5]])  # needs a pivot
SPD = SQUARE @ SQUARE.T + torch.eye(3)

CASES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "sort": (lambda x: x.sort(1), (LOST,)),
    "sort of ties": (lambda x: x.sort(dim=1, stable=True), (TIES,)),
    "sort of ties downwards": (lambda x: x.sort(dim=1, descending=True, stable=True), (TIES,)),
    "sort of ints": (lambda x: x.sort(0)[0], (WHOLE,)),
    "sort of a scalar": (lambda x: x.sort(), (torch.tensor(3.0),)),
    "argsort": (lambda x: x.argsort(-1), (LOST[1:],)),
    "kthvalue": (lambda x: (x.kthvalue(3, 1), x.kthvalue(1, 0, keepdim=True)), (LOST,)),
    "median with NaN": (lambda x: (x.median(1), x.median(0)[0], x.median()), (LOST,)),
    "median of ints": (lambda x: (x.median(1)[0], x.median()), (WHOLE,)),
    "median of a scalar": (lambda x: (x.median(), x.median(0)), (torch.tensor(3.0),)),
    "median of half": (lambda x: x.median(1)[0], (LOST.half(),)),
    "nanmedian": (lambda x: (x.nanmedian(1), x.nanmedian()), (LOST,)),
    "nanmedian of NaN": (lambda x: x.nanmedian(), (torch.tensor([NAN, NAN]),)),
    "bucketize": (
        lambda x: torch.bucketize(x, LINE),
        (torch.tensor([0.0, 2.0, 5.0, 6.0, NAN, INF]),),
    ),
    "bucketize right": (
        lambda x: torch.bucketize(x, LINE, right=True, out_int32=True),
        (torch.tensor([0.0, 2.0, 5.0, NAN]),),
    ),
    "bucketize ints": (lambda x: torch.bucketize(x, torch.tensor([0, 3])), (WHOLE,)),
    "searchsorted rows": (
        lambda s, v: torch.searchsorted(s, v, side="right"),
        (TIES.sort()[0], TIES[:, :2].contiguous()),
    ),
    "searchsorted sorter": (
        lambda s, v: torch.searchsorted(s, v, sorter=s.argsort()),
        (torch.tensor([3.0, 1.0, 2.0]), LINE),
    ),
    "unique": (lambda x: torch.unique(x), (TIES,)),
    "unique with NaN": (lambda x: torch.unique(x), (LOST,)),
    "unique of all": (
        lambda x: torch.unique(x, return_inverse=True, return_counts=True),
        (WHOLE,),
    ),
    "unique of one": (lambda x: torch.unique(x, return_counts=True), (torch.tensor([4]),)),
    "unique_consecutive": (
        lambda x: torch.unique_consecutive(x, return_inverse=True, return_counts=True),
        (torch.tensor([1, 1, 2, 2, 2, 1]),),
    ),
    "two uniques": (lambda x, y: (torch.unique(x) * 2, torch.unique(y) + 1), (WHOLE[0], WHOLE[1])),
    "cumprod": (lambda x: (x.cumprod(0), x.cumprod(1)), (TIES,)),
    "cumprod of ints": (lambda x: (x.cumprod(1), x.cumprod(1, dtype=torch.float32)), (WHOLE,)),
    "cumprod of one": (lambda x: x.cumprod(0), (torch.tensor([2.5]),)),
    "cumprod of a long line": (lambda x: x.cumprod(0), (1 + 0.01 * torch.arange(100.0).sin(),)),
    "cummax": (lambda x: (x.cummax(1), x.cummin(1)), (TIES,)),
    "cummax with NaN": (lambda x: (x.cummax(1), x.cummin(1)), (LOST,)),
    "cummax of ints": (lambda x: (x.cummax(1), x.cummin(0)), (WHOLE,)),
    "logcumsumexp": (lambda x: torch.logcumsumexp(x, 1), (TIES * 40,)),
    "powers of complex numbers": (
        lambda z, x: (z**2, z**-3, z**0, z.square(), z**1.5, z**z, x**z, 2**z, z**x, z**1j),
        (Z, torch.tensor([1.0, 0.5, 2.0, 0.0])),
    ),
    "complex numbers that are none": (
        lambda z: (z.isnan(), z.isinf(), torch.isfinite(z)),
        (torch.complex(torch.tensor([1.0, NAN, 2.0, -INF]), torch.tensor([NAN, 0.0, INF, 1.0])),),
    ),
    "logic of complex numbers": (
        lambda z: (z.logical_and(z[:1]), torch.logical_or(z, z), torch.logical_xor(z, z[2:3])),
        (Z,),
    ),
    "variance of complex numbers": (
        lambda z: (z.var(), z.std(1), z.var(0, correction=0, keepdim=True), torch.var_mean(z, 1)),
        (torch.stack([Z, Z * 1j + 1]),),
    ),
    "exp2": (torch.exp2, (LOST,)),
    "round decimals": (
        lambda x: (x.round(decimals=2), x.round(decimals=-1)),
        (torch.tensor([1.234, -5.678, 15.0, 149.0]),),
    ),
    "signbit": (torch.signbit, (torch.tensor([1.0, -1.0, 0.0, -0.0, INF, -INF]),)),
    "signbit of ints": (torch.signbit, (WHOLE,)),
    "copysign": (torch.copysign, (LOST[1:], torch.tensor([-0.0, 1.0, -INF, 0.0]))),
    "fmax": (lambda x, y: (torch.fmax(x, y), torch.fmin(x, y)), (LOST, LOST[0])),
    "fmax of ints": (lambda x: (torch.fmax(x, x[0]), torch.fmin(x, x[1])), (WHOLE,)),
    "hypot": (
        torch.hypot,
        (
            torch.tensor([3.0, 0.0, 3e30, INF, NAN, INF]),
            torch.tensor([4.0, 0.0, 4e30, NAN, 1.0, INF]),
        ),
    ),
    "ldexp": (torch.ldexp, (TIES, torch.tensor([1, -2, 3, 0, 10]))),
    "rrelu": (torch.nn.RReLU().eval(), (TIES - 1,)),
    "complex": (lambda x, y: torch.view_as_real(torch.complex(x, y)), (LOST, LOST[1])),
    "polar": (lambda x, y: torch.view_as_real(torch.polar(x, y)), (TIES, TIES + 1)),
    "angle": (torch.angle, (Z,)),
    "angle of reals": (torch.angle, (LOST - 1,)),
    "hamming": (lambda x: x * torch.hamming_window(4), (LINE,)),
    "hamming symmetric": (lambda x: x * torch.hamming_window(4, False, 0.6, 0.4), (LINE,)),
    "fftfreq": (lambda x: (x * torch.fft.fftfreq(4, 0.5), torch.fft.fftfreq(5)), (LINE,)),
    "rfftfreq": (lambda x: x * torch.fft.rfftfreq(7, 2.0), (LINE,)),
    "put": (lambda x: torch.put(x, torch.tensor([0, -1]), torch.tensor([8.0, 9.0])), (TIES,)),
    "put to add": (
        lambda x: torch.put(x, torch.tensor([0, 0]), torch.tensor([8.0, 9.0]), accumulate=True),
        (TIES,),
    ),
    "index_reduce": (
        lambda x: x.index_reduce(1, torch.tensor([0, 0, 4]), x[:, :3], "amax", include_self=False),
        (TIES,),
    ),
    "addbmm": (
        lambda x: torch.addbmm(x[0], x, x, beta=0.5, alpha=2),
        (CUBE[0, 0, :, :8, :8].contiguous(),),
    ),
    "bags": (
        lambda i, o: F.embedding_bag(i, TABLE, o, mode="sum"),
        (BAGS, torch.tensor([0, 2, 2, 6])),
    ),
    "bags of means": (
        lambda i, o: F.embedding_bag(i, TABLE, o, mode="mean", include_last_offset=True),
        (BAGS, torch.tensor([0, 3, 3, 6])),
    ),
    "bags with padding": (
        lambda i, o: (
            F.embedding_bag(i, TABLE, o, mode="mean", padding_idx=2),
            F.embedding_bag(i, TABLE, o, mode="sum", padding_idx=2),
        ),
        (BAGS, torch.tensor([0, 1, 3])),
    ),
    "weighted bags": (
        lambda i, w: F.embedding_bag(i, TABLE, mode="sum", per_sample_weights=w),
        (BAGS.view(2, 3), torch.tensor([[0.5, 1.0, 2.0], [-1.0, 0.0, 3.0]])),
    ),
    "bags of 32-bit indices": (
        lambda i, o: F.embedding_bag(i, TABLE, o, mode="mean"),
        (BAGS.int(), torch.tensor([0, 2], dtype=torch.int32)),
    ),
    "maxima of bags": (lambda i: F.embedding_bag(i, TABLE, mode="max"), (BAGS.view(2, 3),)),
    "adaptive max 1d": (lambda x: F.adaptive_max_pool1d(x, 4, return_indices=True), (GRID[0],)),
    "adaptive max 2d": (
        lambda x: F.adaptive_max_pool2d(x, (3, 4), return_indices=True),
        (GRID,),
    ),
    "adaptive max 2d of whole windows": (
        lambda x: F.adaptive_max_pool2d(x, (7, 5), return_indices=True),
        (GRID,),
    ),
    "adaptive max 2d to more": (lambda x: F.adaptive_max_pool2d(x, (9, 20)), (GRID[0],)),
    "adaptive max 2d with NaN": (lambda x: F.adaptive_max_pool2d(x, (2, 3)), (LOST.view(1, 3, 4),)),
    "adaptive max 3d": (
        lambda x: F.adaptive_max_pool3d(x, (2, 3, 4), return_indices=True),
        (CUBE,),
    ),
    **{
        f"bicubic, antialiased, {size}": (
            lambda x, size=size, corners=corners: F.interpolate(
                x, size, mode="bicubic", antialias=True, align_corners=corners
            ),
            (GRID,),
        )
        for size, corners in (((3, 4), False), ((13, 5), True), ((1, 40), False))
    },
    "bicubic, antialiased, by factors": (
        lambda x: F.interpolate(
            x, scale_factor=(0.4, 1.7), mode="bicubic", antialias=True, recompute_scale_factor=False
        ),
        (GRID,),
    ),
    "inverse": (lambda x: torch.linalg.inv(x), (SQUARE,)),
    "inverse of several": (lambda x: torch.linalg.inv(x), (torch.stack([SQUARE, SPD, SQUARE.T]),)),
    "inverse of double": (lambda x: x.inverse(), (SQUARE.double(),)),
    "det": (lambda x: torch.linalg.det(x), (torch.stack([SQUARE, SPD, -SPD]),)),
    "det of a singular matrix": (lambda x: torch.det(x), (torch.zeros(3, 3),)),
    "slogdet": (
        lambda x: torch.linalg.slogdet(x),
        (torch.stack([SQUARE, -SPD, torch.zeros(3, 3)]),),
    ),
    "solve": (lambda a, b: torch.linalg.solve(a, b), (SQUARE, torch.eye(3)[:, :2].contiguous())),
    "solve a vector": (lambda a, b: torch.linalg.solve(a, b), (SQUARE, LINE[:3])),
    "solve several": (
        lambda a, b: torch.linalg.solve(a, b),
        (torch.stack([SQUARE, SPD]), LINE[:3].view(1, 3, 1)),
    ),
    "cholesky": (
        lambda x: (torch.linalg.cholesky(x), torch.linalg.cholesky(x, upper=True)),
        (SPD,),
    ),
    "solve_triangular": (
        lambda a, b: (
            torch.linalg.solve_triangular(a.tril(), b, upper=False),
            torch.linalg.solve_triangular(a.triu(), b, upper=True, unitriangular=True),
            torch.linalg.solve_triangular(a.triu(), b.T, upper=True, left=False),
        ),
        (SPD, torch.eye(3)[:, :2].contiguous()),
    ),
    "cholesky_solve": (
        lambda a, b: torch.cholesky_solve(b, torch.linalg.cholesky(a)),
        (SPD, torch.eye(3)[:, :2].contiguous()),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_it_computes_what_eager_computes(name: str) -> None:
    function, inputs = CASES[name]
    with torch.no_grad():
        expected = tree_leaves(function(*inputs))
    found = run(function, *inputs)
    assert len(found) == len(expected)
    for have, want in zip(found, expected, strict=True):
        torch.testing.assert_close(have, want, rtol=1e-4, atol=1e-5, equal_nan=True)


VARYING: dict[str, Callable[..., Any]] = {
    "median": lambda x: (x.median(0), x.median()),
    "sort": lambda x: (x.sort(0), x.argsort(dim=0, stable=True)),
    "cumprod": lambda x: x.cumprod(0),
    "cummax": lambda x: x.cummax(0),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "bucketize": lambda x: torch.bucketize(x, LINE),
    "unique": lambda x: torch.unique((x * 2).round(), return_inverse=True, return_counts=True),
    "adaptive max over rows": lambda x: F.adaptive_max_pool1d(x.t(), 2, return_indices=True),
    "rand_like": lambda x: torch.rand_like(x) * 0 + x,
    "hypot": lambda x: torch.hypot(x, x + 1),
}


@pytest.mark.parametrize("name", VARYING)
def test_sizes_may_vary(name: str) -> None:
    function = VARYING[name]
    rows = torch.arange(36.0).reshape(9, 4).mul(1.7).sin() * 3
    shapes = (({0: Dim("rows", min=2, max=9)},),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = to_edge(export(Call(function), (rows[:5],), dynamic_shapes=shapes))
        data = program.to_executorch().buffer
    method = Runtime.get().load_program(data).load_method("forward")
    for count in (2, 5, 9):
        expected = tree_leaves(function(rows[:count]))
        for have, want in zip(method.execute([rows[:count]]), expected, strict=True):
            torch.testing.assert_close(have, want, rtol=1e-4, atol=1e-5)


def test_in_branches_too() -> None:
    def branch(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x.cumprod(0), lambda x: x.median(0)[0] + x, (x,))

    for x in (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([-1.0, -2.0, -3.0])):
        torch.testing.assert_close(run(branch, x)[0], branch(x))


def drawn(function: Callable[..., Any], *inputs: torch.Tensor) -> torch.Tensor:
    return run(function, *inputs)[0]


def test_multinomial_draws_by_weight() -> None:
    weights = torch.tensor([1.0, 0.0, 3.0, 6.0, 0.0])
    rows = weights.expand(20000, 5).contiguous()
    for counts in (
        drawn(lambda w: torch.multinomial(w, 20000, True), weights).bincount(minlength=5),
        drawn(lambda w: torch.multinomial(w, 1), rows).flatten().bincount(minlength=5),
    ):
        assert counts[1] == 0 and counts[4] == 0
        share = counts.double() / counts.sum()
        torch.testing.assert_close(share, weights.double() / 10, rtol=0, atol=0.02)


def test_multinomial_without_replacement_draws_each_once() -> None:
    weights = torch.tensor([1.0, 0.0, 3.0, 6.0]).expand(4000, 4).contiguous()
    found = drawn(lambda w: torch.multinomial(w, 3), weights)
    assert all(sorted(row) == [0, 2, 3] for row in found.tolist())
    # The first of them is drawn by weight.
    share = (found[:, 0] == 3).double().mean()
    assert abs(share - 0.6) < 0.04


def test_whole_numbers_and_permutations() -> None:
    found = drawn(lambda x: torch.randint(-3, 4, (70000,)) + x.long(), torch.zeros(1))
    counts = (found + 3).bincount(minlength=7)
    assert counts.numel() == 7 and (counts - 10000).abs().max() < 500
    order = drawn(lambda x: torch.randperm(50) + x.long(), torch.zeros(1))
    assert order.sort()[0].tolist() == list(range(50))


def test_continuous_distributions() -> None:
    x = torch.full((40000,), 2.0)
    normal = drawn(lambda m: torch.normal(m, 3.0), x)
    assert abs(normal.mean() - 2) < 0.1 and abs(normal.std() - 3) < 0.1
    waiting = drawn(lambda m: torch.empty_like(m).exponential_(0.5), x)
    assert waiting.min() >= 0 and abs(waiting.mean() - 2) < 0.1 and abs(waiting.std() - 2) < 0.1


def test_a_matrix_that_is_too_large_is_refused_with_the_reason() -> None:
    program = to_edge(export(Call(torch.linalg.inv), (torch.eye(40),)))
    with pytest.raises(
        ExportError, match="aten::linalg_inv_ex.*\n.*a size that is a number up to 16, found 40"
    ):
        program.to_executorch()


def test_what_a_form_does_not_take_is_refused_with_the_reason() -> None:
    with pytest.raises(
        ExportError, match=r"aten::linalg_inv_ex.*\n\s+\(its form with other operators"
    ):
        run(torch.linalg.inv, torch.zeros(0, 0))


def test_they_stay_whole_until_the_end() -> None:
    """A backend may have claimed them."""
    edge = to_edge(export(Call(lambda x: x.median(0)), (TIES,)))
    targets = {str(node.target) for node in edge.exported_program().graph.nodes}
    assert any("median" in target for target in targets), targets
    edge.to_executorch()
    assert targets == {str(node.target) for node in edge.exported_program().graph.nodes}
