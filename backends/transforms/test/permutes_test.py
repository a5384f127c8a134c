# SPDX-License-Identifier: BSD-3-Clause
"""Passes over permutes and views: what is left of the calls, and that the numbers stay."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from executorch.backends.test.pass_checks import calls, check, graph_of
from executorch.backends.transforms import permute_pass_utils as permutes
from executorch.backends.transforms.fuse_cascaded_transpose_or_permute_ops import (
    FuseCascadedTransposeOrPermuteOps,
)
from executorch.backends.transforms.fuse_transpose_or_permute_op_pairs_pass import (
    FuseTransposeOrPermuteOpPairsPass,
)
from executorch.backends.transforms.postpone_permute_below_squeeze_view import (
    PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView,
)
from executorch.backends.transforms.remove_permutes_around_elementwise_ops import (
    RemovePermutesAroundElementwiseOps,
)
from executorch.backends.transforms.replace_nop_transpose_or_permute_with_view import (
    ReplaceNopTransposeOrPermuteWithViewPass,
)
from executorch.backends.transforms.unit_dims import dims_through_view, order_behind_view
from executorch.exir import to_edge
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import op_name

aten = exir_ops.edge.aten
QD = exir_ops.edge.quantized_decomposed
INT8 = (-128, 127, torch.int8)
X = torch.randn(2, 3, 4)
view, permute, relu = aten.view_copy.default, aten.permute_copy.default, aten.relu.default
transpose, hardtanh, cat = aten.transpose_copy.int, aten.hardtanh.default, aten.cat.default
squeeze, unsqueeze = aten.squeeze_copy.dim, aten.unsqueeze_copy.default


def test_permutes_join() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(permute, call(aten.transpose_copy.int, x, 0, 1), [2, 0, 1])

    check(FuseCascadedTransposeOrPermuteOps(), write, (X,), ["permute_copy.default"])

    def back(call: Any, x: Any) -> Any:
        return call(relu, call(permute, call(permute, x, [2, 0, 1]), [1, 2, 0]))

    check(FuseCascadedTransposeOrPermuteOps(), back, (X,), ["relu.default"])


ACROSS_VIEWS = {
    # name: (shape of x, calls, what is left)
    "adds": (
        (1, 40, 18),
        [(permute, [0, 2, 1]), (view, [1, 18, 1, 40]), (permute, [0, 2, 3, 1])],
        1,
    ),
    "drops": (
        (1, 1, 40, 18),
        [(permute, [0, 3, 1, 2]), (view, [1, 18, 40]), (permute, [0, 2, 1])],
        1,
    ),
    "transposes": ((1, 40, 18), [(transpose, 1, 2), (view, [1, 18, 1, 40]), (transpose, 1, 3)], 1),
    "gives x": ((1, 40, 18), [(permute, [0, 2, 1]), (view, [18, 1, 40]), (permute, [1, 2, 0])], 0),
    "two views": (
        (1, 40, 18),
        [(permute, [0, 2, 1]), (view, [1, 18, 1, 40]), (view, [18, 40]), (permute, [1, 0])],
        1,
    ),
    "data moves": (
        (2, 3, 4),
        [(permute, [2, 0, 1]), (view, [4, 1, 2, 3]), (permute, [3, 0, 2, 1])],
        2,
    ),
    "another view": ((2, 3, 4), [(permute, [2, 0, 1]), (view, [8, 3]), (permute, [1, 0])], 3),
}


@pytest.mark.parametrize("case", ACROSS_VIEWS)
def test_permutes_join_across_views_of_ones(case: str) -> None:
    shape, steps, left = ACROSS_VIEWS[case]

    def write(call: Any, x: Any) -> Any:
        for op, *args in steps:
            x = call(op, x, *args)
        return call(relu, x)

    names = {0: [], 1: ["view_copy"], 2: ["permute_copy", "view_copy"]}
    names[3] = ["permute_copy", *reversed(names[2])]
    expected = [f"{name}.default" for name in [*names[left], "relu"]]
    check(FuseCascadedTransposeOrPermuteOps(), write, (torch.randn(shape),), expected)


def test_a_permute_that_others_read_is_not_done_twice() -> None:
    def write(call: Any, x: Any) -> Any:
        turned = call(permute, x, [2, 0, 1])
        return call(permute, call(view, turned, [4, 1, 2, 3]), [3, 0, 2, 1]), call(relu, turned)

    names = [f"{name}.default" for name in ("permute_copy", "view_copy", "permute_copy", "relu")]
    check(FuseCascadedTransposeOrPermuteOps(), write, (X,), names)


def test_permutes_that_undo_each_other_go_on_all_branches() -> None:
    def write(call: Any, x: Any) -> Any:
        turned = call(permute, x, [0, 2, 1])
        stored = call(QD.quantize_per_tensor.default, turned, 0.1, 0, *INT8)
        return call(permute, stored, [0, 2, 1]), call(permute, turned, [0, 2, 1])

    check(
        FuseTransposeOrPermuteOpPairsPass(),
        write,
        (X,),
        ["quantized_decomposed.quantize_per_tensor.default"],
    )

    def one_stays(call: Any, x: Any) -> Any:
        turned = call(permute, x, [0, 2, 1])
        return call(permute, turned, [0, 2, 1]), call(relu, turned)

    names = ["permute_copy.default", "permute_copy.default", "relu.default"]
    check(FuseTransposeOrPermuteOpPairsPass(), one_stays, (X,), names)


def test_a_permute_of_ones_is_a_view() -> None:
    one = torch.randn(1, 3, 4)

    def write(call: Any, x: Any) -> Any:
        return call(permute, x, [1, 0, 2])

    check(ReplaceNopTransposeOrPermuteWithViewPass(), write, (one,), ["view_copy.default"])
    check(ReplaceNopTransposeOrPermuteWithViewPass(), write, (X,), ["permute_copy.default"])


@pytest.mark.parametrize("order", [[0, 2, 1], [2, 0, 1], [1, 2, 0]])
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_permute_sinks_below_a_view(order: list[int], place: int) -> None:
    after = [X.shape[dim] for dim in order]
    after.insert(place, 1)

    def adds(call: Any, x: Any) -> Any:
        return call(view, call(permute, x, order), after)

    postpone = PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView()
    sunk = ["view_copy.default", "permute_copy.default"]
    made = check(postpone, adds, (X,), sunk)
    (new,) = (node for node in made.graph.nodes if op_name(node) == "aten.permute_copy.default")
    assert new.args[1][place] == place  # as upstream places it
    source = torch.randn([*X.shape[:place], 1, *X.shape[place:]])
    turned = [place, *(dim + (dim >= place) for dim in order)]

    def drops(call: Any, x: Any) -> Any:
        return call(view, call(permute, x, turned), [X.shape[dim] for dim in order])

    check(postpone, drops, (source,), sunk)


def test_dimensions_of_permutes() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(permute, x, [2, 0, -2]), call(aten.transpose_copy.int, x, 0, -1)

    graph_module = graph_of(write, X)
    turned, swapped = (n for n in graph_module.graph.nodes if op_name(n))
    assert permutes.get_permuted_dims(turned) == [2, 0, 1]
    assert permutes.get_transposed_dims(swapped, ["a", "b", "c"]) == ["c", "b", "a"]
    assert permutes.get_shape(graph_module, turned) == (4, 2, 3)
    assert permutes.get_edge_overload_packet(relu) is aten.relu


def _last(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 2, 3, 1)


def _back(x: torch.Tensor) -> torch.Tensor:
    return x.permute(0, 3, 1, 2)


PERMUTED = {
    # name: (function of two images and a constant, permutes that are left)
    "scalars": (lambda x, y, w: _back(_last(x) * 2.0 + _last(y)), 0),
    "constant": (lambda x, y, w: _back((_last(x) * w).clamp(-1, 1) - _last(y)), 1),
    "constant of lower rank": (lambda x, y, w: _back(_last(x) * w[0, 0, 0]), 2),
    "cat": (lambda x, y, w: _back(torch.cat([_last(x), _last(y)], -1)), 0),
    "mean": (lambda x, y, w: _back((_last(x) + _last(y)).mean((1, 2), keepdim=True)), 0),
    "sum": (lambda x, y, w: _back((_last(x) - _last(y)).sum((-1,), keepdim=True)), 0),
    "slice": (lambda x, y, w: _back((_last(x) + _last(y))[:, 1:3, :, 0:2]), 0),
    "two exits": (lambda x, y, w: (_back(_last(x) + 1.0), _back((_last(x) + 1.0) * 3.0)), 0),
    "another entry": (lambda x, y, w: _back(_last(x) + y.permute(0, 2, 3, 1).sin()), 3),
}


@pytest.mark.parametrize("case", PERMUTED)
def test_permutes_around_a_group_go(case: str) -> None:
    function, left = PERMUTED[case]

    class Module(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("w", torch.randn(1, 4, 5, 3))

        def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:
            return function(x, y, self.w)

    module, inputs = Module(), (torch.randn(2, 3, 4, 5), torch.randn(2, 3, 4, 5))
    edge = to_edge(torch.export.export(module, inputs))
    after = edge.transform([RemovePermutesAroundElementwiseOps()]).exported_program()
    calls = [op_name(node) for node in after.graph.nodes]
    assert calls.count("aten.permute_copy.default") == left
    torch.testing.assert_close(after.module()(*inputs), module(*inputs))


ONE = torch.randn(1, 3, 4, 5)
VIEWS_IN_GROUPS = {
    # name: (input, function of a graph with it, permutes that are left)
    "view drops and adds": (
        ONE,
        lambda c, x: c(
            permute,
            c(view, c(hardtanh, c(view, c(permute, x, [0, 2, 3, 1]), [4, 5, 3])), [1, 4, 5, 3]),
            [0, 3, 1, 2],
        ),
        0,
    ),
    "view drops": (
        ONE,
        lambda c, x: c(
            permute, c(hardtanh, c(view, c(permute, x, [0, 2, 3, 1]), [4, 5, 3])), [2, 0, 1]
        ),
        0,
    ),
    "squeeze": (
        ONE,
        lambda c, x: c(
            permute, c(hardtanh, c(squeeze, c(permute, x, [0, 2, 3, 1]), -4)), [2, 0, 1]
        ),
        0,
    ),
    # the permute's value at place 1 is 2: dimension 2 of x goes, not 1
    "squeeze inside": (
        torch.randn(2, 3, 1, 5),
        lambda c, x: c(permute, c(hardtanh, c(squeeze, c(permute, x, [0, 2, 3, 1]), 1)), [0, 2, 1]),
        0,
    ),
    "unsqueeze": (
        X,
        lambda c, x: c(
            permute, c(hardtanh, c(unsqueeze, c(permute, x, [2, 0, 1]), -4)), [0, 2, 3, 1]
        ),
        0,
    ),
    # upstream's pass gives wrong numbers here
    "squeeze, and unsqueeze elsewhere": (
        torch.randn(2, 3, 1, 5),
        lambda c, x: c(
            permute,
            c(unsqueeze, c(hardtanh, c(squeeze, c(permute, x, [0, 2, 3, 1]), 1)), 2),
            [0, 3, 2, 1],
        ),
        0,
    ),
    "several calls": (
        ONE,
        lambda c, x: (
            lambda y: c(
                permute,
                c(aten.sub.Tensor, c(aten.mul.Tensor, c(aten.add.Tensor, y, y), y), y),
                [2, 0, 1],
            )
        )(c(view, c(permute, x, [0, 2, 3, 1]), [4, 5, 3])),
        0,
    ),
    "a permute before it that stays": (
        torch.randn(2, 3, 4, 5),
        lambda c, x: c(
            permute,
            c(hardtanh, c(permute, c(permute, x, [1, 0, 2, 3]), [0, 2, 3, 1])),
            [0, 3, 1, 2],
        ),
        1,
    ),
    "another view": (
        ONE,
        lambda c, x: c(
            permute,
            c(view, c(view, c(permute, x, [0, 2, 3, 1]), [1, 20, 3]), [1, 4, 5, 3]),
            [0, 3, 1, 2],
        ),
        2,
    ),
    "cat that grows a new dimension": (
        X,
        lambda c, x: (lambda y: c(permute, c(cat, [y, y], 0), [0, 2, 3, 1]))(
            c(unsqueeze, c(permute, x, [2, 0, 1]), 0)
        ),
        2,
    ),
    "cat along another dimension": (
        X,
        lambda c, x: (lambda y: c(permute, c(cat, [y, y], 1), [0, 2, 3, 1]))(
            c(unsqueeze, c(permute, x, [2, 0, 1]), 0)
        ),
        0,
    ),
    "an end that moves a one elsewhere": (
        ONE,
        lambda c, x: c(permute, c(hardtanh, c(permute, x, [0, 2, 3, 1])), [3, 0, 1, 2]),
        0,
    ),
}


@pytest.mark.parametrize("case", VIEWS_IN_GROUPS)
def test_views_of_ones_stand_in_a_group(case: str) -> None:
    x, write, left = VIEWS_IN_GROUPS[case]
    graph_module = graph_of(write, x)
    (wanted,) = graph_module(x)
    result = RemovePermutesAroundElementwiseOps()(graph_module)
    assert result.graph_module is graph_module
    assert calls(graph_module).count("permute_copy.default") == left
    assert result.modified == (left < 2)
    assert torch.equal(graph_module(x)[0], wanted)
    values = [node.meta["val"].shape for node in graph_module.graph.nodes if op_name(node)]
    assert values[-1] == wanted.shape


def test_a_group_with_a_size_that_varies() -> None:
    class Module(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            turned = x.permute(0, 2, 3, 1)
            flat = turned.view(x.shape[2], x.shape[3], 3).clamp(-1, 1)
            return flat.view(1, x.shape[2], x.shape[3], 3).permute(0, 3, 1, 2)

    shapes = ({2: Dim("h", min=2, max=9)},)
    edge = to_edge(torch.export.export(Module(), (ONE,), dynamic_shapes=shapes))
    after = edge.transform([RemovePermutesAroundElementwiseOps()]).exported_program()
    assert "permute_copy.default" not in calls(after.graph_module)
    other = torch.randn(1, 3, 7, 5)
    assert torch.equal(after.module()(other), Module()(other))


def test_dimensions_through_views() -> None:
    assert dims_through_view([2, 1, 1, 3], [2, 1, 3]) == [0, 1, 3]
    assert dims_through_view([2, 3], [1, 2, 1, 3, 1]) == [None, 0, None, 1, None]
    assert dims_through_view([1, 1], []) == [] and dims_through_view([], [1]) == [None]
    assert dims_through_view([2, 3], [3, 2]) is None and dims_through_view([6], [2, 3]) is None
    # [h, w, c] of [c, h, w] with a new dimension before w, which is place 2 of what is not permuted
    assert order_behind_view([1, 2, 0], [0, None, 1, 2]) == [1, 2, 3, 0]
    assert order_behind_view([1, 2, 0], [0, 2]) == [1, 0]


def test_groups_take_operators_of_ones_own() -> None:
    class Module(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return _back(_last(x).tanh())

    inputs = (torch.randn(2, 3, 4, 5),)
    edge = to_edge(torch.export.export(Module(), inputs))

    def permutes_after(one: RemovePermutesAroundElementwiseOps) -> int:
        graph = edge.transform([one]).exported_program().graph
        return sum(op_name(node) == "aten.permute_copy.default" for node in graph.nodes)

    assert permutes_after(RemovePermutesAroundElementwiseOps()) == 2
    assert permutes_after(RemovePermutesAroundElementwiseOps({aten.tanh.default})) == 0
