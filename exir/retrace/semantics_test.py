# SPDX-License-Identifier: BSD-3-Clause
"""State, aliases, branches, symbolic sizes: the edge program behaves as eager over several calls, also when the
torch.export program was loaded from a file (its fake values then do not show shared memory)."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export
from torch.utils import _pytree as pytree

from executorch.exir import to_edge
from executorch.runtime import Runtime


class Stateful(nn.Module):
    """forward(self, ...) is given; `buffers` are registered."""

    def __init__(self, forward: Callable[..., Any], **buffers: torch.Tensor) -> None:
        super().__init__()
        self._forward = forward
        for name, buffer in buffers.items():
            self.register_buffer(name, buffer.clone())

    def forward(self, *args: Any) -> Any:
        return self._forward(self, *args)


def _randn(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(7))


def _cache_slice(m: Any, x: torch.Tensor) -> torch.Tensor:
    m.c[:, 2:4] = x
    return m.c.sum(1)


def _cache_index(m: Any, position: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    m.c.index_copy_(0, position, x)
    m.c[0] += 1
    return m.c * 1


def _nested_cond(m: Any, x: torch.Tensor) -> torch.Tensor:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x[0] > 1, lambda x: x * 2 + 1, lambda x: x - 0.5, (x,))

    return torch.cond(x.sum() > 0, inner, lambda x: torch.where(x < -1, x, 0.0), (x,))


def _numbers(m: Any, x: torch.Tensor, n: int, f: float, b: bool) -> Any:
    return x * n + f, n + 1, f * 2, (x + 1 if b else x)


def _dynamic(m: Any, x: torch.Tensor) -> Any:
    m.t.copy_(x.sum(0))
    return x.reshape(-1, 2).flatten(), x.shape[0], x.size(0) * 2


def _item(m: Any, x: torch.Tensor) -> torch.Tensor:
    n = x.sum().to(torch.int64).item()
    torch._check(n >= 0)
    torch._check(n <= 6)
    return torch.arange(6)[:n].sum()


def _autocast(m: Any, x: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ x
    return y.float()


def _write_part_of_input(m: Any, x: torch.Tensor) -> torch.Tensor:
    x[0].add_(1)
    return x * 2


def _inplace_views(m: Any, x: torch.Tensor) -> torch.Tensor:
    y = x.detach()
    z = y.clone()
    z[:, 0] = 0
    z.unsqueeze_(0)
    return z.squeeze(0) + y


def _swap(m: Any, x: torch.Tensor) -> Any:
    t = m.a.clone()
    m.a.copy_(m.b)
    m.b.copy_(t + x)
    return m.a, m.b


def _old_and_new(m: Any, x: torch.Tensor) -> Any:
    before = m.a.view(2, 2) * 1
    m.a.add_(x)
    return before, m.a.view(2, 2)


def _symbolic(m: Any, x: torch.Tensor) -> Any:
    n = x.shape[0]
    return torch.ones(n * 2 + 1) + (n // 2), x.new_zeros(n, max(n, 3)), x.sum() / n


def _upsample(m: Any, x: torch.Tensor) -> torch.Tensor:
    return nn.functional.interpolate(x, scale_factor=2.0, mode="nearest").mean((2, 3))


def _scatter_of_another_dtype(m: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    half, zeros = x.half(), torch.zeros(4)
    return (
        torch.diagonal_scatter(half, zeros),
        torch.select_scatter(half, zeros, 0, 1),
        torch.slice_scatter(half, torch.zeros(2, 4), 0, 0, 2),
    )


N = Dim("n", min=2, max=9)
IMAGE = (({2: Dim("h", min=4, max=16), 3: Dim("w", min=4, max=16)},),)  # of *args
CASES: dict[str, tuple[nn.Module, tuple[Any, ...], Any]] = {
    "cache_slice": (Stateful(_cache_slice, c=torch.zeros(1, 8, 4)), (_randn(1, 2, 4),), None),
    "cache_index": (
        Stateful(_cache_index, c=torch.zeros(8, 4)),
        (torch.tensor([1]), _randn(1, 4)),
        None,
    ),
    "same_output_twice": (
        Stateful(lambda m, x: (m.w, x + m.w, x + m.w, x), w=torch.ones(2)),
        (_randn(2),),
        None,
    ),
    "nested_cond": (Stateful(_nested_cond), (_randn(3),), None),
    "transposed_weight": (
        Stateful(lambda m, x: x @ m.w, w=_randn(3, 4).t()),
        (_randn(2, 4),),
        None,
    ),
    "numbers": (Stateful(_numbers), (_randn(2), 3, 2.5, True), None),
    "dynamic": (Stateful(_dynamic, t=torch.zeros(3, 4)), (_randn(4, 3, 4),), (({0: N},),)),
    "item": (Stateful(_item), (torch.ones(3),), None),
    "autocast": (Stateful(_autocast), (_randn(4, 4),), None),
    "write_part_of_input": (Stateful(_write_part_of_input), (_randn(2, 3),), None),
    "boolean_index": (Stateful(lambda m, x: x[x > 0].sum()), (_randn(6),), None),
    "inplace_views": (Stateful(_inplace_views), (_randn(2, 3),), None),
    "swap": (Stateful(_swap, a=torch.zeros(2), b=torch.ones(2)), (_randn(2),), None),
    "old_and_new": (Stateful(_old_and_new, a=torch.zeros(4)), (_randn(4),), None),
    "no_inputs": (Stateful(lambda m: m.w * 2 + 1, w=torch.ones(3)), (), None),
    "scatter_of_another_dtype": (Stateful(_scatter_of_another_dtype), (_randn(4, 4),), None),
    "upsample": (Stateful(_upsample), (_randn(1, 3, 8, 8),), IMAGE),
    "symbolic": (Stateful(_symbolic), (_randn(4, 2),), (({0: N},),)),
    "nested": (
        Stateful(lambda m, d: {"o": [d["a"][0] + d["b"], (d["a"][1],)]}),
        ({"a": [_randn(2), _randn(2)], "b": _randn(2)},),
        None,
    ),
}


def _reloaded(program: ExportedProgram) -> ExportedProgram:
    stream = io.BytesIO()
    torch.export.save(program, stream)
    stream.seek(0)
    return torch.export.load(stream)


@pytest.mark.req("CMP-053", "CMP-054")
@pytest.mark.parametrize("loaded", [False, True], ids=["fresh", "loaded"])
@pytest.mark.parametrize("name", CASES)
def test_edge_program_behaves_as_eager_over_calls(name: str, loaded: bool) -> None:
    module, inputs, shapes = CASES[name]
    with torch.no_grad():
        program = export(copy.deepcopy(module), copy.deepcopy(inputs), dynamic_shapes=shapes)
        edge = to_edge(_reloaded(program) if loaded else program)
        run, eager = edge.exported_program().module(), copy.deepcopy(module)
        for _ in range(3):
            given, also_given = copy.deepcopy(inputs), copy.deepcopy(inputs)
            expected = pytree.tree_leaves(eager(*given))
            found = pytree.tree_leaves(run(*also_given))
            for want, have in zip(expected, found, strict=True):
                if isinstance(want, torch.Tensor):
                    torch.testing.assert_close(have, want, check_stride=False)
                else:
                    assert have == want
            torch.testing.assert_close(also_given, given, check_stride=False)
    assert len(edge.to_executorch().buffer) > 0


@pytest.mark.parametrize("step, shift", [(2, 0), (6, 0), (4, 1)])
def test_sizes_are_multiples_of_what_no_input_has(step: int, shift: int) -> None:
    """`Dim("k") * 4 + 1`: the graph computes k from the size."""

    def halves(m: Any, x: torch.Tensor) -> Any:
        n = x.shape[0]
        part = (n - shift) // step
        return x[:part] * 2, x.new_ones(part), x[: n // 2].sum(0)

    module, k = Stateful(halves), Dim("k", min=2, max=9)
    size = step * k + shift if shift else step * k
    program = export(module, (_randn(step * 3 + shift, 2),), dynamic_shapes=(({0: size},),))
    data = to_edge(program).to_executorch().buffer
    method = Runtime.get().load_program(data).load_method("forward")
    for number in (2, 3, 9):
        x = _randn(step * number + shift, 2)
        for want, have in zip(module(x), method.execute([x]), strict=True):
            torch.testing.assert_close(have, want)


def test_sizes_stay_symbolic() -> None:
    module, inputs, shapes = CASES["symbolic"]
    run = to_edge(export(module, inputs, dynamic_shapes=shapes)).exported_program().module()
    for rows in (2, 5, 9):
        x = _randn(rows, 2)
        for want, have in zip(module(x), run(x), strict=True):
            torch.testing.assert_close(have, want)
