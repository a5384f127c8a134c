# SPDX-License-Identifier: BSD-3-Clause
"""Each pass on a graph of its pattern: what is left of the calls, and that the numbers stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.backends.test.graph_builder import GraphBuilder
from executorch.backends.transforms import get_shape
from executorch.backends.transforms import permute_pass_utils as permutes
from executorch.backends.transforms.addmm_mm_to_linear import AddmmToLinearTransform
from executorch.backends.transforms.aten_to_dialect_pass import AtenToDialectPass, DialectNodeSpec
from executorch.backends.transforms.convert_dtype_pass import I64toI32
from executorch.backends.transforms.decompose_sdpa import DecomposeScaledDotProductAttention
from executorch.backends.transforms.fuse_batch_norm_with_conv import FuseBatchNormWithConvPass
from executorch.backends.transforms.fuse_cascaded_transpose_or_permute_ops import (
    FuseCascadedTransposeOrPermuteOps,
)
from executorch.backends.transforms.fuse_cascaded_view_ops import FuseCascadedViewOps
from executorch.backends.transforms.fuse_transpose_or_permute_op_pairs_pass import (
    FuseTransposeOrPermuteOpPairsPass,
)
from executorch.backends.transforms.fuse_view_copy import FuseViewCopyTransform
from executorch.backends.transforms.mean_to_sum_div import MeanToSumDiv
from executorch.backends.transforms.postpone_permute_below_squeeze_view import (
    PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView,
)
from executorch.backends.transforms.rank_0_to_rank_1 import Rank0ToRank1Pass
from executorch.backends.transforms.remove_clone_ops import RemoveCloneOpsTransform
from executorch.backends.transforms.remove_getitem_op import RemoveGetItemPass
from executorch.backends.transforms.remove_permutes_around_elementwise_ops import (
    RemovePermutesAroundElementwiseOps,
)
from executorch.backends.transforms.replace_nop_transpose_or_permute_with_view import (
    ReplaceNopTransposeOrPermuteWithViewPass,
)
from executorch.backends.transforms.replace_scalar_with_tensor import (
    ReplaceScalarWithTensorArgPass,
)
from executorch.backends.transforms.view_copy_to_squeeze_unsqueeze import (
    ViewCopyToSqueezeUnsqueezePass,
)
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.dialects._ops import ops as exir_ops
from executorch.exir.graph_facts import op_name

aten = exir_ops.edge.aten
QD = exir_ops.edge.quantized_decomposed
INT8 = (-128, 127, torch.int8)


def graph_of(write: Callable[..., Any], *inputs: torch.Tensor) -> GraphModule:
    """The graph that `write(call, *inputs)` makes, `call(op, *args)` for each call."""
    builder = GraphBuilder()

    def call(op: Any, *args: Any, **kwargs: Any) -> Any:
        return builder.call_operator(op, args, kwargs)

    values = [builder.placeholder(f"x{place}", each) for place, each in enumerate(inputs)]
    result = write(call, *values)
    builder.output(list(result) if isinstance(result, tuple) else [result])
    return builder.get_graph_module()


def calls(graph_module: GraphModule) -> list[str]:
    return [
        name.removeprefix("aten.") for node in graph_module.graph.nodes if (name := op_name(node))
    ]


def check(
    one: Any, write: Callable[..., Any], inputs: tuple[torch.Tensor, ...], expected: list[str]
) -> GraphModule:
    """Runs the pass: the calls that are left, and the same numbers as before."""
    graph_module = graph_of(write, *inputs)
    wanted, before = graph_module(*inputs), calls(graph_module)
    result = one(graph_module)
    assert calls(result.graph_module) == expected
    assert result.modified or expected == before
    for found, value in zip(result.graph_module(*inputs), wanted, strict=True):
        torch.testing.assert_close(found, value)
    values = [n.meta["val"].shape for n in result.graph_module.graph.nodes if op_name(n)]
    assert all(shape is not None for shape in values)
    return result.graph_module


X = torch.randn(2, 3, 4)
view, permute, relu = aten.view_copy.default, aten.permute_copy.default, aten.relu.default


def test_products_become_linear() -> None:
    w, b = torch.randn(5, 4), torch.randn(5)

    def with_views(call: Any, x: Any, w: Any, b: Any) -> Any:
        flat = call(view, x, [6, 4])
        product = call(aten.addmm.default, b, flat, call(permute, w, [1, 0]))
        return call(view, product, [2, 3, 5])

    check(AddmmToLinearTransform(), with_views, (X, w, b), ["linear.default"])

    def plain(call: Any, x: Any, w: Any) -> Any:
        return call(aten.mm.default, x, call(aten.t_copy.default, w))

    made = check(AddmmToLinearTransform(), plain, (torch.randn(3, 4), w), ["linear.default"])
    assert get_shape(made.graph.find_nodes(op="placeholder")[1]) == (5, 4)

    def not_transposed(call: Any, x: Any, w: Any) -> Any:
        return call(aten.mm.default, x, w)

    check(AddmmToLinearTransform(), not_transposed, (torch.randn(3, 5), w), ["mm.default"])


def test_views_join() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(view, call(relu, call(view, call(view, x, [6, 4]), [24])), [4, 6])

    check(FuseViewCopyTransform(), write, (X,), ["relu.default", "view_copy.default"])

    def back(call: Any, x: Any) -> Any:
        return call(relu, call(view, call(view, x, [24]), [2, 3, 4]))

    for one in (FuseViewCopyTransform(), FuseCascadedViewOps()):
        check(one, back, (X,), ["relu.default"])

    def twice(call: Any, x: Any) -> Any:
        return call(view, call(view, x, [24]), [4, 6])

    check(FuseCascadedViewOps(), twice, (X,), ["view_copy.default"])


def test_permutes_join() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(permute, call(aten.transpose_copy.int, x, 0, 1), [2, 0, 1])

    check(FuseCascadedTransposeOrPermuteOps(), write, (X,), ["permute_copy.default"])

    def back(call: Any, x: Any) -> Any:
        return call(relu, call(permute, call(permute, x, [2, 0, 1]), [1, 2, 0]))

    check(FuseCascadedTransposeOrPermuteOps(), back, (X,), ["relu.default"])


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
    check(postpone, adds, (X,), sunk)
    source = torch.randn([*X.shape[:place], 1, *X.shape[place:]])
    turned = [place, *(dim + (dim >= place) for dim in order)]

    def drops(call: Any, x: Any) -> Any:
        return call(view, call(permute, x, turned), [X.shape[dim] for dim in order])

    check(postpone, drops, (source,), sunk)


def test_mean_is_sum_and_div() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(aten.mean.dim, x, [1, 2], True), call(aten.mean.dim, x, [-1])

    expected = ["sum.dim_IntList", "full.default", "div.Tensor"] * 2
    check(MeanToSumDiv(), write, (X,), expected)


def test_inputs_without_dimensions_get_one() -> None:
    graph_module = graph_of(lambda call, x, y: call(aten.add.Tensor, x, y), torch.tensor(2.0), X)
    made = Rank0ToRank1Pass()(graph_module).graph_module
    assert [n.meta["val"].dim() for n in made.graph.find_nodes(op="placeholder")] == [1, 3]
    torch.testing.assert_close(made(torch.tensor([2.0]), X)[0], X + 2)


def test_copies_go() -> None:
    clone = aten.clone.default

    def write(call: Any, x: Any) -> Any:
        return call(relu, call(clone, call(clone, x)))

    check(RemoveCloneOpsTransform(), write, (X,), ["relu.default"])
    result = RemoveCloneOpsTransform()(graph_of(lambda call, x: call(relu, x), X))
    assert not result.modified
    image = torch.randn(1, 3, 4, 4)

    def to_channels_last(call: Any, x: Any) -> Any:
        order = {"dim_order": [0, 2, 3, 1]}
        return call(exir_ops.edge.dim_order_ops._clone_dim_order.default, x, **order)

    kept = ["dim_order_ops._clone_dim_order.default"]
    check(RemoveCloneOpsTransform(), to_channels_last, (image,), kept)

    def at_both_ends(call: Any, x: Any) -> Any:
        return call(clone, x)

    check(RemoveCloneOpsTransform(), at_both_ends, (X,), [])
    check(
        RemoveCloneOpsTransform(preserve_input_output_copies=True),
        at_both_ends,
        (X,),
        ["clone.default"],
    )

    def pair(call: Any, x: Any) -> Any:
        stored = call(QD.quantize_per_tensor.default, x, 0.1, 0, *INT8)
        value = call(QD.dequantize_per_tensor.default, stored, 0.1, 0, *INT8)
        return call(QD.quantize_per_tensor.default, value, 0.1, 0, *INT8)

    check(
        RemoveCloneOpsTransform(), pair, (X,), ["quantized_decomposed.quantize_per_tensor.default"]
    )
    assert (
        len(
            calls(
                RemoveCloneOpsTransform(eliminate_quant_dequant_pairs=False)(
                    graph_of(pair, X)
                ).graph_module
            )
        )
        == 3
    )


def getitem_graph(op: Any, args: tuple, used: list[int]) -> GraphModule:
    builder = GraphBuilder()
    made = builder.call_operator(op, (builder.placeholder("x", torch.randn(1, 3, 4, 4)), *args))
    builder.output([builder.call_getitem(made, place) for place in used])
    return builder.get_graph_module()


def test_of_two_results_the_used_one_is_left() -> None:
    image = torch.randn(1, 3, 4, 4)
    for op, args, name in (
        (aten.max_pool2d_with_indices.default, ([2, 2], [2, 2]), "max_pool2d.default"),
        (aten.max.dim, (2, True), "amax.default"),
    ):
        graph_module = getitem_graph(op, args, [0])
        wanted = graph_module(image)[0]
        result = RemoveGetItemPass()(graph_module)
        assert result.modified and calls(result.graph_module) == [name]
        torch.testing.assert_close(result.graph_module(image)[0], wanted)
    both = RemoveGetItemPass()(getitem_graph(aten.max.dim, (2,), [0, 1])).graph_module
    assert calls(both) == ["max.dim"]
    with pytest.raises(AssertionError, match="indices of .* are used"):
        RemoveGetItemPass()(getitem_graph(aten.max_pool2d_with_indices.default, ([2, 2],), [1]))


def test_numbers_become_tensors() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(aten.mul.Scalar, call(aten.add.Scalar, x, 2), 0.5)

    names = ["full.default", "add.Tensor", "full.default", "mul.Tensor"]
    check(ReplaceScalarWithTensorArgPass(), write, (X,), names)
    only_add = ReplaceScalarWithTensorArgPass({aten.add.Scalar: aten.add.Tensor})
    check(only_add, write, (X,), ["full.default", "add.Tensor", "mul.Scalar"])


def test_views_of_ones_say_so() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(view, x, [2, 1, 3, 4]), call(view, x, [6, 4])

    expected = ["unsqueeze_copy.default", "view_copy.default"]
    check(ViewCopyToSqueezeUnsqueezePass(), write, (X,), expected)

    def drops(call: Any, x: Any) -> Any:
        return call(view, x, [3, 4])

    check(
        ViewCopyToSqueezeUnsqueezePass(), drops, (torch.randn(1, 3, 1, 4),), ["squeeze_copy.dims"]
    )


@pytest.mark.parametrize("skip", [False, True])
def test_integers_are_computed_in_32_bits(skip: bool) -> None:
    x = torch.arange(6).reshape(2, 3)

    def write(call: Any, x: Any) -> Any:
        ones = call(aten.full.default, [2, 3], 1, dtype=torch.int64)
        return call(aten.mul.Tensor, call(aten.add.Tensor, x, ones), x)

    graph_module = graph_of(write, x)
    made = I64toI32(_skip_dim_order=skip)(graph_module).graph_module
    assert made(x)[0].dtype == torch.int64
    assert torch.equal(made(x)[0], (x + 1) * x)
    arithmetic = [
        n for n in made.graph.nodes if op_name(n) in ("aten.add.Tensor", "aten.mul.Tensor")
    ]
    assert {n.meta["val"].dtype for n in arithmetic} == {torch.int32}
    assert not I64toI32()(graph_of(lambda call, x: call(relu, x), X)).modified


@pytest.mark.parametrize(
    "options",
    [{}, {"is_causal": True}, {"attn_mask": "float"}, {"attn_mask": "bool"}, {"scale": 0.3}],
    ids=str,
)
def test_attention_is_taken_apart(options: dict[str, Any]) -> None:
    masks = {"float": torch.randn(5, 5), "bool": torch.ones(5, 5, dtype=torch.bool).tril()}
    q, k, v = (torch.randn(2, 3, 5, 4) for _ in range(3))
    mask = masks.get(options.get("attn_mask", ""))
    given = {name: value for name, value in options.items() if name != "attn_mask"}

    class Attention(nn.Module):
        def forward(
            self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *mask: torch.Tensor
        ) -> torch.Tensor:
            return nn.functional.scaled_dot_product_attention(q, k, v, *mask, **given)

    inputs = (q, k, v, *([] if mask is None else [mask]))
    program = torch.export.export(Attention(), inputs)
    made = DecomposeScaledDotProductAttention()(program.graph_module).graph_module
    assert Counter(calls(made))["bmm.default"] == 2
    assert "scaled_dot_product_attention.default" not in calls(made)
    torch.testing.assert_close(made(*inputs)[0], Attention()(*inputs))


def test_grouped_attention_is_refused() -> None:
    class Grouped(nn.Module):
        def forward(self, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
            return nn.functional.scaled_dot_product_attention(q, k, k, enable_gqa=True)

    program = torch.export.export(Grouped(), (torch.randn(1, 4, 5, 4), torch.randn(1, 2, 5, 4)))
    with pytest.raises(ValueError, match="grouped queries .*4 heads on 2"):
        DecomposeScaledDotProductAttention()(program.graph_module)


def edge_program(module: nn.Module, *inputs: torch.Tensor) -> ExportedProgram:
    exported = torch.export.export(module.eval(), inputs)
    return to_edge(
        exported, compile_config=EdgeCompileConfig(_check_ir_validity=False)
    ).exported_program()


@pytest.mark.parametrize(
    "convolution",
    [nn.Conv2d(3, 4, 3, bias=False), nn.Conv2d(3, 6, 2, groups=3), nn.ConvTranspose2d(3, 4, 2)],
    ids=["plain", "grouped", "transposed"],
)
def test_batch_norms_go_into_convolutions(convolution: nn.Module) -> None:
    norm = nn.BatchNorm2d(convolution.out_channels)
    norm.running_mean.uniform_(-1, 1), norm.running_var.uniform_(0.5, 2)
    model, x = nn.Sequential(convolution, norm, nn.ReLU()).eval(), torch.randn(2, 3, 6, 6)
    from executorch.exir.program._programs import apply_passes

    program = edge_program(model, x)
    fused = apply_passes(program, [FuseBatchNormWithConvPass(program)])
    assert calls(fused.graph_module) == ["convolution.default", "relu.default"]
    torch.testing.assert_close(fused.module()(x), model(x), rtol=1e-4, atol=1e-5)


class ToMine(AtenToDialectPass):
    pass


@ToMine.register_dialect_substitution(relu)
def _relu(node: Any, dialect_pass: AtenToDialectPass) -> DialectNodeSpec | None:
    if node.meta["val"].dim() != 3:
        return None
    return DialectNodeSpec(aten.clamp.default, (*node.args, 0.0))


def test_calls_are_substituted_by_a_dialect() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(relu, x), call(relu, call(view, x, [24]))

    check(ToMine(None), write, (X,), ["clamp.default", "view_copy.default", "relu.default"])
    with pytest.raises(RuntimeError, match="ToMine has a substitution for"):
        ToMine.register_dialect_substitution(relu)(_relu)
    assert AtenToDialectPass._DIALECT_SUBSTITUTIONS == {}


def test_arguments_by_name() -> None:
    graph_module = graph_of(lambda call, x: call(aten.mean.dim, x, [1]), X)
    (mean,) = (n for n in graph_module.graph.nodes if op_name(n))
    assert permutes.get_arg(mean, "dim") == [1] and permutes.get_arg(mean, "keepdim", bool) is False
    permutes.set_arg(mean, "dim", [2])
    permutes.set_arg(mean, "keepdim", True)
    graph_module.recompile()
    torch.testing.assert_close(graph_module(X)[0], X.mean(2, keepdim=True))
    with pytest.raises(
        ValueError, match="has no argument 'axis'; it has self, dim, keepdim, dtype"
    ):
        permutes.get_arg(mean, "axis")
    with pytest.raises(TypeError, match="expected int"):
        permutes.get_arg(mean, "dim", int)


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
