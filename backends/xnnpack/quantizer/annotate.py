# SPDX-License-Identifier: BSD-3-Clause
"""Annotates a captured graph for torchao: inputs and outputs of the operators that compute on 8-bit values.

before: conv(x, w) -> batch_norm -> relu -> view    x and w: inputs of conv; output: of relu; view shares it"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import (
    QuantizationAnnotation,
    QuantizationConfig,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.backends.xnnpack.aot.conv3d import interleaves_depth
from executorch.backends.xnnpack.aot.ops import Quantized
from executorch.backends.xnnpack.quantizer.captured import (
    captured_name,
    function_name,
    is_float,
    large_values,
    row_of,
)
from executorch.exir.graph_facts import num_dynamic_sizes

# XNNPACK has float results of 8-bit inputs for these, of convolutions for those without groups.
DYNAMIC = (
    torch.ops.aten.linear.default,
    torch.ops.aten.conv2d.default,
    torch.ops.aten.conv_transpose2d.input,
)
_CLAMPS = frozenset({"relu", "relu6", "hardtanh"})
_PASSING = frozenset(each for each in Quantized if each is not Quantized.NO)
# These take part without a neighbour that is quantized.
_ON_THEIR_OWN = frozenset({"cat"})


class Annotator:
    """One pass in graph order; `config_of` gives the configuration of a node."""

    def __init__(
        self, model: GraphModule, config_of: Callable[[Node], QuantizationConfig | None]
    ) -> None:
        self._model = model
        self._config_of = config_of
        self._large = large_values(model)
        self._useful = _read_by_weights(model)

    def run(self) -> None:
        for node in self._model.graph.nodes:
            row = row_of(node) if node.op == "call_function" else None
            if row is None or Q_ANNOTATION_KEY in node.meta or not self._fits(node):
                continue
            config = self._config_of(node)
            match row.quantized:
                case Quantized.GEMM if config is not None:
                    self._gemm(node, config)
                case Quantized.ARITHMETIC if config is not None:
                    self._arithmetic(node, config)
                case Quantized.LOOKUP_TABLE if config is not None and _is_moved_or_added(node):
                    self._arithmetic(node, config)
                case Quantized.SHARED_PARAMETERS:
                    self._same(node, config)

    def _fits(self, node: Node) -> bool:
        values = (node, *node.all_input_nodes)
        return all(is_float(each) and each not in self._large for each in values)

    def _gemm(self, node: Node, config: QuantizationConfig) -> None:
        source, weight = node.args[:2]
        if weight.op != "get_attr" or source.op == "get_attr" or _is_outside(node):
            return
        if config.output_activation is None and not _can_be_dynamic(node):
            return
        if config.input_activation is None or config.weight is None:
            return
        inputs: dict[Node, QuantizationSpecBase | None] = {
            source: config.input_activation,
            weight: _weight_spec(node, config),
        }
        _annotate(node, inputs, None)
        self._annotate_result(node, config)

    def _arithmetic(self, node: Node, config: QuantizationConfig) -> None:
        operands = node.all_input_nodes
        if config.output_activation is None or not self._has_quantized_operand(operands):
            return
        if node not in self._useful or not _is_over_image_if_mean(node):
            return
        _annotate(node, dict.fromkeys(operands, config.input_activation), None)
        self._annotate_result(node, config)

    def _same(self, node: Node, config: QuantizationConfig | None) -> None:
        """Follows its first operand where that one is quantized."""
        operands = node.all_input_nodes
        first = operands[0]
        if first.op == "get_attr":
            return
        if _output_spec(first) is not None:
            spec: QuantizationSpecBase = SharedQuantizationSpec(first)
        elif config is not None and self._starts(node, config):
            spec = config.input_activation
        else:
            return
        shared = SharedQuantizationSpec((first, node))
        inputs = {first: spec} | dict.fromkeys(operands[1:], shared)
        _annotate(node, inputs, shared)

    def _starts(self, node: Node, config: QuantizationConfig) -> bool:
        return (
            config.output_activation is not None
            and function_name(node) in _ON_THEIR_OWN
            and self._has_quantized_operand(node.all_input_nodes)
        )

    def _has_quantized_operand(self, operands: list[Node]) -> bool:
        """int8 pays where a neighbour has it; alone among floats it costs conversions and accuracy. An input
        counts as one that has, and what is an input but for moves and limits, too."""
        return any(
            _origin(each).op == "placeholder" or _output_spec(each) is not None for each in operands
        )

    def _annotate_result(self, node: Node, config: QuantizationConfig) -> None:
        """The output of what lowering folds into one: an operator, its batch norm and its limits."""
        last = node
        for folds in (lambda user: captured_name(user) == "aten.batch_norm.default", _is_clamp):
            user = _only_user(last)
            if user is not None and folds(user):
                _annotate(last, _inputs(last), None)
                last = user
        _annotate(last, _inputs(last), config.output_activation)


def _read_by_weights(model: GraphModule) -> set[Node]:
    """Nodes whose values, moved or computed on in int8, get to an operator with weights or out of the model. Others,
    such as the sums between a transformer's layers that only norms read, would be rounded for nothing."""
    found: set[Node] = set()
    for node in reversed(model.graph.nodes):
        row = row_of(node) if node.op == "call_function" else None
        kind = Quantized.NO if row is None else row.quantized
        passes = captured_name(node) == "aten.batch_norm.default" or kind in _PASSING
        if node.op == "output" or kind is Quantized.GEMM or (passes and node in found):
            found.update(node.all_input_nodes)
    return found


def _origin(node: Node) -> Node:
    """The value of which `node` has the numbers: moved, cut to limits."""
    while node.op == "call_function":
        row = row_of(node)
        if (
            row is None
            or row.quantized is not Quantized.SHARED_PARAMETERS
            or len(node.all_input_nodes) != 1
        ):
            break
        node = node.all_input_nodes[0]
    return node


def _inputs(node: Node) -> dict[Node, QuantizationSpecBase | None]:
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    return {} if annotation is None else annotation.input_qspec_map


def _output_spec(node: Node) -> QuantizationSpecBase | None:
    annotation = node.meta.get(Q_ANNOTATION_KEY)
    return None if annotation is None else annotation.output_qspec


def _annotate(
    node: Node,
    inputs: dict[Node, QuantizationSpecBase | None],
    output: QuantizationSpecBase | None,
) -> None:
    node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(
        input_qspec_map=inputs, output_qspec=output, _annotated=True
    )


def _weight_spec(node: Node, config: QuantizationConfig) -> QuantizationSpecBase:
    """The output channels of a transposed convolution come second."""
    weight = config.weight
    if not function_name(node).startswith("conv_transpose") or weight.ch_axis is None:
        return weight
    fields = {name: getattr(weight, name) for name in weight.__dataclass_fields__}
    return type(weight)(**{**fields, "ch_axis": 1})


def _is_outside(node: Node) -> bool:
    """Convolutions over three dimensions that no row takes."""
    name = function_name(node)
    if name not in ("conv3d", "conv_transpose3d"):
        return False
    # bias, stride, padding, another, groups, dilation of a transposed one
    defaults = (None, [1], [0], [0], 1, [1])
    given = (*node.args, *defaults[len(node.args) - 2 :])
    if given[6] != 1 or num_dynamic_sizes(node) or num_dynamic_sizes(node.args[0]):
        return True
    return name != "conv3d" and not interleaves_depth(node, node.args[1], given[3], given[7])


def _can_be_dynamic(node: Node) -> bool:
    groups = node.args[6] if len(node.args) > 6 else 1
    return node.target in DYNAMIC and groups == 1


def _is_clamp(node: Node) -> bool:
    if function_name(node) == "clamp":
        limits = (*node.args[1:], *node.kwargs.values())
        return all(not isinstance(limit, Node) for limit in limits)
    return function_name(node) in _CLAMPS


def _is_over_image_if_mean(node: Node) -> bool:
    """Means over height and width alone. They have a range of their own: it is narrower than that of the pixels."""
    match function_name(node):
        case "adaptive_avg_pool2d" | "adaptive_avg_pool3d":
            return all(size == 1 for size in node.meta["val"].shape[2:])
        case "mean":
            dims = node.args[1] if len(node.args) > 1 else None
            rank = node.args[0].meta["val"].dim()
            over = sorted(dim % rank for dim in dims or ())
            return rank in (4, 5) and over == list(range(2, rank))
    return True


def _is_moved_or_added(node: Node) -> bool:
    """Whether an activation's values are only moved, added and multiplied by weights: they are rounded to int8 there
    anyway, and moves of floats would part what computes on bytes. Gates and means lose by it."""
    return all(
        function_name(user) == "add"
        or (
            (row := row_of(user)) is not None
            and row.quantized in (Quantized.GEMM, Quantized.SHARED_PARAMETERS)
        )
        for user in node.users
    )


def _only_user(node: Node) -> Node | None:
    users = list(node.users)
    return (
        users[0] if len(users) == 1 and isinstance(users[0].target, torch._ops.OpOverload) else None
    )
