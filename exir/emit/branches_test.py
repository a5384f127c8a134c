# SPDX-License-Identifier: BSD-3-Clause
"""torch.cond beside eager PyTorch: what branches yield, and views of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.export import export

from executorch.exir import to_edge
from executorch.exir.schema import KernelCall
from executorch.runtime import Runtime

Branch = Callable[[Tensor], Tensor]


class Chosen(torch.nn.Module):
    """The result as a matrix, added to what both branches are given."""

    def __init__(self, if_true: Branch, if_false: Branch) -> None:
        super().__init__()
        self._branches = if_true, if_false

    def forward(self, p: Tensor, x: Tensor) -> Tensor:
        y = x + 1
        z = torch.cond(p.sum() > 0, *self._branches, (y,))
        return z.view(2, 3) + y


def _nested(y: Tensor) -> Tensor:
    return torch.cond(y.sum() > 100, lambda a: a.exp().view(6), lambda a: a.view(6) * 5, (y,))


BRANCHES = {
    "views": (lambda y: (y * 3).view(6), lambda y: y.exp().view(6)),
    "a view and a sum": (lambda y: (y * 3).view(6) + 1, lambda y: y.exp().view(6)),
    "what they are given": (lambda y: y.clone().view(6), lambda y: y.view(6) * 2),
    "a tensor that is seen twice": (
        lambda y: (y * 3).view(6).relu(),
        lambda y: (b := (y * 2).view(6)) + b.flip(0),
    ),
    "branches of a branch": (_nested, lambda y: y.exp().view(6)),
    "sums alone": (lambda y: y.view(6) + 1, lambda y: y.view(6) * 2),
}


def method_of(model: torch.nn.Module, inputs: tuple[Tensor, ...]) -> tuple[object, object]:
    program = to_edge(export(model, inputs)).to_executorch()
    method = Runtime.get().load_program(program.buffer).load_method("forward")
    assert method is not None
    return method, program.executorch_program.execution_plan[0]


@pytest.mark.parametrize("branches", BRANCHES.values(), ids=list(BRANCHES))
def test_a_view_of_what_a_branch_yields(branches: tuple[Branch, Branch]) -> None:
    x = torch.randn(2, 3)
    model = Chosen(*branches)
    method, _ = method_of(model, (torch.ones(1), x))
    for p in (torch.ones(1), -torch.ones(1)):
        torch.testing.assert_close(method.execute((p, x))[0], model(p, x))


def views_made_at_run_time(plan: object) -> int:
    calls = [i.instr_args for chain in plan.chains for i in chain.instructions]
    names = [plan.operators[c.op_index].name for c in calls if isinstance(c, KernelCall)]
    return names.count("executorch_prim::et_view")


def test_only_views_of_what_lies_elsewhere_are_made_at_run_time() -> None:
    inputs = (torch.ones(1), torch.randn(2, 3))
    for name, views in (("sums alone", 0), ("views", 1)):
        _, plan = method_of(Chosen(*BRANCHES[name]), inputs)
        assert views_made_at_run_time(plan) == views, name


def test_a_branch_that_yields_what_it_was_given_shares_no_place_with_the_other() -> None:
    """torch.export leaves a copy there, which a pass may drop: what the other branch yields must not lie on it, as it
    is read afterwards."""

    class Doubled(torch.nn.Module):
        def forward(self, p: Tensor, x: Tensor) -> Tensor:
            y = x + 1
            return torch.cond(p.sum() > 0, lambda a: a * 2, lambda a: a.clone(), (y,)) + y

    x = torch.randn(2, 3)
    method = without_clones(Doubled(), (torch.ones(1), x), 1)
    for p in (torch.ones(1), -torch.ones(1)):
        torch.testing.assert_close(method.execute((p, x))[0], Doubled()(p, x))


def without_clones(model: torch.nn.Module, inputs: tuple[Tensor, ...], count: int) -> object:
    """The method, in whose branches as many clones do nothing any more."""
    edge = to_edge(export(model, inputs))
    dropped = 0
    for branch in list(edge.exported_program().graph_module.modules())[1:]:
        for node in list(getattr(branch, "graph", torch.fx.Graph()).nodes):
            if "clone" in str(node.target):
                node.replace_all_uses_with(node.args[0])
                branch.graph.erase_node(node)
                dropped += 1
        if isinstance(branch, torch.fx.GraphModule):
            branch.recompile()
    assert dropped == count
    method = Runtime.get().load_program(edge.to_executorch().buffer).load_method("forward")
    assert method is not None
    return method


@pytest.mark.parametrize("first", [True, False])
def test_what_a_branch_of_a_branch_was_given_lives_as_long_as_the_result(first: bool) -> None:
    """The outer result lies nowhere of its own: it may be what the inner branch was given."""

    def inner(y: Tensor) -> Tensor:
        return torch.cond(y.sum() > 0, lambda a: a.clone(), lambda a: a * 5, (y * 3,))

    branches = (inner, torch.exp) if first else (torch.exp, inner)

    class Nested(torch.nn.Module):
        def forward(self, p: Tensor, x: Tensor) -> Tensor:
            y = x + 1
            z = torch.cond(p.sum() > 0, *branches, (y,))
            for _ in range(3):
                y = y.sin() + y.cos() * y
            return z * y

    x = torch.rand(2, 3)
    method = without_clones(Nested(), (torch.ones(1), x), 1)
    for p in (torch.ones(1), -torch.ones(1)):
        for each in (x, -x - 2):
            torch.testing.assert_close(method.execute((p, each))[0], Nested()(p, each))
