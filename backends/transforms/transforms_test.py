# SPDX-License-Identifier: BSD-3-Clause
"""Each pass on a graph of its pattern: what is left of the calls, and that the numbers stay."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import ExportedProgram
from torch.fx import GraphModule

from executorch.backends.test.graph_builder import GraphBuilder
from executorch.backends.test.pass_checks import calls, check, graph_of
from executorch.backends.transforms import get_shape
from executorch.backends.transforms import permute_pass_utils as permutes
from executorch.backends.transforms.addmm_mm_to_linear import AddmmToLinearTransform
from executorch.backends.transforms.aten_to_dialect_pass import AtenToDialectPass, DialectNodeSpec
from executorch.backends.transforms.convert_dtype_pass import I64toI32
from executorch.backends.transforms.fuse_batch_norm_with_conv import FuseBatchNormWithConvPass
from executorch.backends.transforms.fuse_cascaded_view_ops import FuseCascadedViewOps
from executorch.backends.transforms.fuse_view_copy import FuseViewCopyTransform
from executorch.backends.transforms.mean_to_sum_div import MeanToSumDiv
from executorch.backends.transforms.rank_0_to_rank_1 import Rank0ToRank1Pass
from executorch.backends.transforms.remove_clone_ops import RemoveCloneOpsTransform
from executorch.backends.transforms.remove_getitem_op import RemoveGetItemPass
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


def test_mean_is_sum_and_div() -> None:
    def write(call: Any, x: Any) -> Any:
        return call(aten.mean.dim, x, [1, 2], True), call(aten.mean.dim, x, [-1])

    expected = ["sum.dim_IntList", "full.default", "div.Tensor"] * 2
    check(MeanToSumDiv(), write, (X,), expected)


def test_inputs_without_dimensions_get_two() -> None:
    graph_module = graph_of(lambda call, x, y: call(aten.add.Tensor, x, y), torch.tensor(2.0), X)
    made = Rank0ToRank1Pass()(graph_module).graph_module
    assert made is graph_module
    assert [n.meta["val"].dim() for n in made.graph.find_nodes(op="placeholder")] == [2, 3]
    torch.testing.assert_close(made(torch.tensor([[2.0]]), X)[0], X + 2)


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


def test_copies_go_where_nothing_is_known_of_values() -> None:
    graph_module = graph_of(lambda call, x: call(relu, call(aten.clone.default, x)), X)
    for node in graph_module.graph.nodes:
        node.meta.clear()
    result = RemoveCloneOpsTransform()(graph_module)
    assert result.modified and calls(graph_module) == ["relu.default"]


def test_a_copy_between_a_pair_goes_with_it() -> None:
    w = torch.randn(5, 4)

    def write(call: Any, x: Any, w: Any) -> Any:
        stored = call(QD.quantize_per_tensor.default, x, 0.1, 0, *INT8)
        value = call(QD.dequantize_per_tensor.default, stored, 0.1, 0, *INT8)
        again = call(QD.quantize_per_tensor.default, call(aten.clone.default, value), 0.1, 0, *INT8)
        last = call(QD.dequantize_per_tensor.default, again, 0.1, 0, *INT8)
        return call(aten.linear.default, last, w)

    names = ["quantize_per_tensor.default", "dequantize_per_tensor.default"]
    kept = [f"quantized_decomposed.{name}" for name in names]
    check(RemoveCloneOpsTransform(), write, (X, w), [*kept, "linear.default"])


def test_a_copy_of_an_image_in_channels_last_goes_and_the_layout_stays() -> None:
    class Copy(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.clone() + 1

    image = torch.randn(1, 3, 4, 4).to(memory_format=torch.channels_last)
    program = torch.export.export(Copy(), (image,))
    made = RemoveCloneOpsTransform()(_with_edge_clones(program.graph_module)).graph_module
    assert calls(made) == ["add.Tensor"]
    (added,) = (node for node in made.graph.nodes if op_name(node))
    assert added.meta["val"].dim_order() == (0, 2, 3, 1)


def _with_edge_clones(graph_module: GraphModule) -> GraphModule:
    for node in graph_module.graph.nodes:
        if op_name(node) == "aten.clone.default":
            node.target = aten.clone.default
    return graph_module


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
    assert made is graph_module
    assert made(x)[0].dtype == torch.int64
    assert torch.equal(made(x)[0], (x + 1) * x)
    arithmetic = [
        n for n in made.graph.nodes if op_name(n) in ("aten.add.Tensor", "aten.mul.Tensor")
    ]
    assert {n.meta["val"].dtype for n in arithmetic} == {torch.int32}
    assert not I64toI32()(graph_of(lambda call, x: call(relu, x), X)).modified


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


def test_a_substituted_call_has_all_that_was_known_of_the_old_one() -> None:
    graph_module = graph_of(lambda call, x: call(relu, x), X)
    (old,) = (node for node in graph_module.graph.nodes if op_name(node))
    old.meta |= {"stack_trace": "model.py, line 3", "spec": "as planned", "mine": 1}
    value = old.meta["val"]
    ToMine(None)(graph_module)
    (made,) = (node for node in graph_module.graph.nodes if op_name(node))
    assert (
        made.meta["val"] is value and made.meta["spec"] == "as planned" and made.meta["mine"] == 1
    )
    before, place = made.meta["stack_trace"].split("\n", 1)
    assert before == "model.py, line 3"
    assert "transforms_test.py" in place and "in _relu" in place


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
