# SPDX-License-Identifier: BSD-3-Clause
"""Annotates captured graphs: a rule for each operator, in the order of the graph.

Rules are the released package's, 1.4.1, where results are right: see the README for those that are not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.observer import FixedQParamsObserver
from torchao.quantization.pt2e.quantizer import (
    QuantizationAnnotation,
    QuantizationSpec,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.backends.samsung.quantizer.qconfig import QuantizationConfig
from executorch.exir.backend.lowering.quantizer.captured import captured_name, is_float
from executorch.exir.backend.lowering.steps import limits_of
from executorch.exir.graph_facts import only_user

Rule = Callable[[Node, QuantizationConfig], None]
_GEMM = ("aten.conv1d.default", "aten.conv2d.default", "aten.linear.default")
# What gives the values that it reads.
_SAME = frozenset(
    f"aten.{name}.default" for name in ("alias", "clone", "contiguous", "detach", "dropout")
)
_ADD = "aten.add.Tensor"


def annotate(model: GraphModule, config: QuantizationConfig) -> None:
    """Limits behind convolutions and linear layers first; what is annotated stays as it is."""
    for node in model.graph.nodes:
        _annotate_limited(node, config)
    for node in model.graph.nodes:
        if _is_annotated(node) or not _is_value(node):
            continue
        if node.op == "placeholder":
            _mark(node, {}, config.output_activation)
        rule = RULES.get(captured_name(node)) if node.op == "call_function" else None
        if rule is not None and _is_value(node.all_input_nodes[0]):  # not made of integers
            rule(node, config)


def _is_value(node: Node) -> bool:
    """Float, or several values of which the first is."""
    value = node.meta.get("val")
    first = value[0] if isinstance(value, tuple | list) and value else value
    return isinstance(first, torch.Tensor) and first.dtype == torch.float32


def _is_annotated(node: Node) -> bool:
    return Q_ANNOTATION_KEY in node.meta


def _mark(
    node: Node,
    inputs: dict[Node, QuantizationSpecBase],
    output: QuantizationSpecBase | None,
) -> None:
    node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(inputs, output, _annotated=True)


def _origin(node: Node) -> Node | None:
    """The call whose values these are, if its result is annotated."""
    while node.op == "call_function" and captured_name(node) in _SAME:
        node = node.args[0]
    is_quantized = node.op == "call_function" and _is_annotated(node)
    return node if is_quantized and node.meta[Q_ANNOTATION_KEY].output_qspec is not None else None


def _input_spec(node: Node, config: QuantizationConfig) -> QuantizationSpecBase:
    origin = _origin(node)
    return config.input_activation if origin is None else SharedQuantizationSpec(origin)


def _floats(nodes: Sequence[Node]) -> list[Node]:
    return [each for each in nodes if is_float(each)]


# ---- Rules ----


def _annotate_limited(node: Node, config: QuantizationConfig) -> None:
    is_limit = node.op == "call_function" and limits_of(node) in ((0.0, torch.inf), (0.0, 6.0))
    before = node.args[0] if is_limit and captured_name(node) != "aten.clamp.default" else None
    if isinstance(before, Node) and captured_name(before) in _GEMM and only_user(before) is node:
        _mark(before, _gemm_inputs(before, config), None)
        _mark(node, {}, config.output_activation)


def _gemm_inputs(node: Node, config: QuantizationConfig) -> dict[Node, QuantizationSpecBase]:
    return {node.args[0]: _input_spec(node.args[0], config), node.args[1]: config.weight}


def _gemm(node: Node, config: QuantizationConfig) -> None:
    _mark(node, _gemm_inputs(node, config), config.output_activation)


def _plain(node: Node, config: QuantizationConfig) -> None:
    """Operands and result have ranges of their own."""
    inputs = dict.fromkeys(_floats(node.all_input_nodes), config.input_activation)
    _mark(node, inputs, config.output_activation)


def _first(node: Node, config: QuantizationConfig) -> None:
    """The same of the first operand alone."""
    _mark(node, {node.args[0]: config.input_activation}, config.output_activation)


def _joined(node: Node, config: QuantizationConfig) -> None:
    """All operands and the result have one range."""
    first, *rest = _floats(node.all_input_nodes)
    shared = SharedQuantizationSpec((first, node))
    _mark(node, {first: config.input_activation} | dict.fromkeys(rest, shared), shared)


def _binary(node: Node, config: QuantizationConfig) -> None:
    """Two tensors have one range, a number none."""
    is_pair = (
        all(isinstance(each, Node) for each in node.args[:2]) and len(node.all_input_nodes) > 1
    )
    (_joined if is_pair else _plain)(node, config)


def _sum(node: Node, config: QuantizationConfig) -> None:
    """A number is added to what is quantized alone; sums of sums have ranges of their own."""
    if len(node.all_input_nodes) == 1:
        if _origin(node.args[0]) is not None:
            _plain(node, config)
        return
    operands = [captured_name(each) for each in node.all_input_nodes]
    own = captured_name(node) == _ADD and any(
        each in (_ADD, "aten.dropout.default") for each in operands
    )
    (_plain if own else _binary)(node, config)


def _moved(node: Node, config: QuantizationConfig) -> None:
    """The result has the range of what it is moved from."""
    source = node.args[0]
    _mark(node, {source: _input_spec(source, config)}, SharedQuantizationSpec((source, node)))


def _indexed(node: Node, config: QuantizationConfig) -> None:
    """The same, and values that are put in; each item of several."""
    source = node.args[0]
    shared = SharedQuantizationSpec((source, node))
    others = [each for each in _floats(node.all_input_nodes) if each is not source]
    _mark(node, {source: config.input_activation} | dict.fromkeys(others, shared), shared)
    if isinstance(node.meta["val"], tuple | list):
        for item in node.users:
            _mark(item, {}, shared)


def _softmax(node: Node, config: QuantizationConfig) -> None:
    """A mask that is added before it would take all the range: such a sum stays float."""
    source = node.args[0]
    if captured_name(source) == _ADD:
        source.meta.pop(Q_ANNOTATION_KEY, None)
    is_quantized = _origin(source) is not None
    inputs = {source: _input_spec(source, config)} if is_quantized else {}
    _mark(node, inputs, config.output_activation)


def _embedding(node: Node, config: QuantizationConfig) -> None:
    """Rows have the range of their table."""
    table = node.args[0]
    _mark(node, {table: config.input_activation}, SharedQuantizationSpec((table, node)))


def _norm(place: int) -> Rule:
    """`place`: of the weight, which has one dimension: no scales by channel."""

    def rule(node: Node, config: QuantizationConfig) -> None:
        inputs: dict[Node, QuantizationSpec] = {node.args[0]: config.input_activation}
        weight = node.args[place] if place < len(node.args) else None
        if isinstance(weight, Node):
            inputs[weight] = config.input_activation
        _mark(node, inputs, config.output_activation)

    return rule


def _sigmoid(node: Node, config: QuantizationConfig) -> None:
    """From 0 to 1."""
    like = config.output_activation
    fixed = FixedQParamsObserver.with_args(
        scale=1 / 256,
        zero_point=like.quant_min,
        dtype=like.dtype,
        qscheme=like.qscheme,
        quant_min=like.quant_min,
        quant_max=like.quant_max,
    )
    spec = QuantizationSpec(like.dtype, fixed, like.quant_min, like.quant_max, like.qscheme)
    _mark(node, {node.args[0]: config.input_activation}, spec)


_RULES: tuple[tuple[Rule, str], ...] = (
    (
        _plain,
        "bmm.default div.Tensor divide.Tensor matmul.default mul.Scalar rsub.Scalar sum.dim_IntList "
        "scaled_dot_product_attention.default",
    ),
    (_binary, "mul.Tensor"),
    (_sum, "add.Tensor sub.Tensor"),
    (
        _first,
        "adaptive_avg_pool2d.default avg_pool2d.default ceil.default clamp.default cos.default gelu.default "
        "hardsigmoid.default hardswish.default hardtanh.default leaky_relu.default mean.default mean.dim "
        "pow.Tensor_Scalar prelu.default relu.default relu6.default rsqrt.default sin.default sqrt.default "
        "tanh.default topk.default upsample_bilinear2d.vec upsample_nearest2d.vec",
    ),
    (
        _moved,
        "_unsafe_view.default expand.default flatten.using_ints max_pool2d.default "
        "max_pool2d_with_indices.default pad.default permute.default reshape.default select.int slice.Tensor "
        "squeeze.default squeeze.dim squeeze_copy.dims to.dtype transpose.int unsqueeze.default "
        "unsqueeze_copy.default view.default",
    ),
    (_softmax, "_safe_softmax.default _softmax.default log_softmax.int softmax.int"),
    (_joined, "cat.default concat.default stack.default"),
    (_indexed, "index.Tensor index_put.default unbind.int"),
    (_gemm, "conv1d.default conv2d.default linear.default"),
    (_embedding, "embedding.default"),
    (_sigmoid, "sigmoid.default"),
    (_norm(2), "group_norm.default layer_norm.default rms_norm.default"),
    (_norm(1), "_native_batch_norm_legit_no_training.default"),
)
RULES = {f"aten.{name}": rule for rule, names in _RULES for name in names.split()}
