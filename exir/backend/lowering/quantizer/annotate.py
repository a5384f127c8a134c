# SPDX-License-Identifier: BSD-3-Clause
"""Annotates a captured graph for torchao: inputs and outputs of the operators that compute on quantized values.

before: conv(x, w) -> batch_norm -> relu -> view    x and w: inputs of conv; output: of relu; view shares it"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer import (
    FixedQParamsQuantizationSpec,
    QuantizationAnnotation,
    QuantizationConfig,
    QuantizationSpec,
    QuantizationSpecBase,
    SharedQuantizationSpec,
)
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.exir.backend.lowering.annotation import Annotation, FixedParameters, Kind
from executorch.exir.backend.lowering.quantizer.captured import (
    CapturedTable,
    captured_name,
    function_name,
    is_float,
    large_values,
)

_BATCH_NORM = "aten.batch_norm.default"
# Functions that cut a result to limits; `clamp` does so by numbers alone.
CLAMPS = frozenset({"relu", "relu6", "hardtanh", "clamp"})


class Annotator:
    """One pass in graph order; `config_of` gives the configuration of a node. `everywhere`: for what computes on
    quantized values alone; otherwise arithmetic is quantized where its neighbours are, too. `folded`: functions that
    lowering makes part of the operator before them."""

    def __init__(
        self,
        model: GraphModule,
        table: CapturedTable,
        config_of: Callable[[Node], QuantizationConfig | None],
        everywhere: bool = False,
        folded: frozenset[str] = CLAMPS,
    ) -> None:
        self._model = model
        self._table = table
        self._config_of = config_of
        self._everywhere = everywhere
        self._folded = folded
        self._large = large_values(model)
        self._useful = self._read_by_weights()

    def run(self) -> None:
        for node in self._model.graph.nodes:
            annotation = self._table.annotation_of(node)
            if annotation.kind is Kind.NONE or Q_ANNOTATION_KEY in node.meta:
                continue
            if not self._fits(node, annotation) or not annotation.when(node):
                continue
            config = self._config_of(node)
            match annotation.kind:
                case Kind.GEMM if config is not None:
                    self._gemm(node, annotation, config)
                case Kind.ARITHMETIC | Kind.FIXED if config is not None:
                    self._arithmetic(node, annotation, config)
                case Kind.LOOKUP if config is not None and self._is_moved_or_added(node):
                    self._arithmetic(node, annotation, config)
                case Kind.SHARED:
                    self._shared(node, annotation, config)

    def annotate_io(self, config: QuantizationConfig) -> None:
        """Float inputs and outputs of the model."""
        for node in self._model.graph.find_nodes(op="placeholder"):
            if node.users and is_float(node):
                _annotate(node, {}, config.input_activation)
        (output,) = self._model.graph.find_nodes(op="output")
        floats = filter(is_float, output.all_input_nodes)
        _annotate(output, dict.fromkeys(floats, config.output_activation), None)

    def _fits(self, node: Node, annotation: Annotation) -> bool:
        values = [node, *node.all_input_nodes]
        if annotation.mixed:
            values = _floats(values)
            if not _floats(node.all_input_nodes):
                return False
        return all(is_float(each) and each not in self._large for each in values)

    def _gemm(self, node: Node, annotation: Annotation, config: QuantizationConfig) -> None:
        places = [node.args[place] for place in annotation.places if place < len(node.args)]
        source, weight, bias = (*places, None, None)[:3]
        if (
            weight is None
            or weight.op != "get_attr"
            or source.op == "get_attr"
            or config.weight is None
        ):
            return
        if config.input_activation is None and not annotation.weight_only:
            return
        is_dynamic = config.input_activation is not None and config.output_activation is None
        if is_dynamic and not _can_be_dynamic(node, annotation):
            return
        inputs: dict[Node, QuantizationSpecBase | None] = {
            source: _operand_spec(source, config.input_activation),
            weight: _weight_spec(node, config),
        }
        if bias is not None and config.bias is not None:
            inputs[bias] = _bias_spec(node, source, weight, config)
        _annotate(node, inputs, None)
        self._annotate_result(node, config.output_activation)

    def _arithmetic(self, node: Node, annotation: Annotation, config: QuantizationConfig) -> None:
        operands = node.all_input_nodes
        if annotation.operands is not None:
            operands = [node.args[place] for place in annotation.operands]
        if annotation.mixed:
            operands = _floats(operands)
        if config.output_activation is None:
            return
        pays = self._has_quantized_operand(operands) and node in self._useful
        if not pays and not self._everywhere:
            return
        source = config.input_activation
        if annotation.fixed_inputs is not None:
            source = fixed_spec(annotation.fixed_inputs, source)
        inputs = {each: _operand_spec(each, source) for each in operands}
        if annotation.fixed is not None:
            _annotate(node, inputs, fixed_spec(annotation.fixed, config.output_activation))
            return
        _annotate(node, inputs, None)
        if is_float(node):
            self._annotate_result(node, config.output_activation)

    def _shared(
        self, node: Node, annotation: Annotation, config: QuantizationConfig | None
    ) -> None:
        """Follows its first operand where that one is quantized."""
        operands = node.all_input_nodes
        if annotation.mixed:  # of constants alone, too: a table of rows
            operands = sorted(_floats(operands), key=lambda each: each.op == "get_attr")
        first = operands[0]
        if first.op == "get_attr" and not annotation.mixed:
            return
        if _output_spec(first) is not None:
            spec: QuantizationSpecBase = SharedQuantizationSpec(first)
        elif config is not None and self._starts(node, annotation, config):
            spec = config.input_activation
        else:
            return
        shared = SharedQuantizationSpec((first, node))
        inputs = {first: spec} | dict.fromkeys(operands[1:], shared)
        _annotate(node, inputs, shared if is_float(node) else None)

    def _starts(self, node: Node, annotation: Annotation, config: QuantizationConfig) -> bool:
        if config.output_activation is None:
            return False
        if self._everywhere:
            return True
        return annotation.starts and self._has_quantized_operand(node.all_input_nodes)

    def _has_quantized_operand(self, operands: list[Node]) -> bool:
        """Few bits pay where a neighbour has them; alone among floats they cost conversions and accuracy. An input
        counts as one that has, and what is an input but for moves and limits, too."""
        return any(
            self._origin(each).op == "placeholder" or _output_spec(each) is not None
            for each in operands
        )

    def _annotate_result(self, node: Node, spec: QuantizationSpecBase | None) -> None:
        """The output of what lowering folds into one: an operator, its batch norm and its limits."""
        last = node
        for folds in (lambda user: captured_name(user) == _BATCH_NORM, self._is_folded):
            user = _only_user(last)
            if user is not None and folds(user):
                _annotate(last, _inputs(last), None)
                last = user
        _annotate(last, _inputs(last), spec)

    def _is_folded(self, node: Node) -> bool:
        if function_name(node) == "clamp":
            limits = (*node.args[1:], *node.kwargs.values())
            if any(isinstance(limit, Node) for limit in limits):
                return False
        return function_name(node) in self._folded

    def _read_by_weights(self) -> set[Node]:
        """Nodes whose values, moved or computed on in few bits, get to an operator with weights or out of the model.
        Others, such as the sums between a transformer's layers that only norms read, would be rounded for nothing."""
        found: set[Node] = set()
        for node in reversed(self._model.graph.nodes):
            kind = self._table.kind_of(node)
            passes = captured_name(node) == _BATCH_NORM or kind is not Kind.NONE
            if node.op == "output" or kind is Kind.GEMM or (passes and node in found):
                found.update(node.all_input_nodes)
        return found

    def _origin(self, node: Node) -> Node:
        """The value of which `node` has the numbers: moved, cut to limits."""
        while self._table.kind_of(node) is Kind.SHARED and len(node.all_input_nodes) == 1:
            node = node.all_input_nodes[0]
        return node

    def _is_moved_or_added(self, node: Node) -> bool:
        """Whether an activation's values are only moved, added and multiplied by weights: they are rounded there
        anyway, and moves of floats would part what computes on bytes. Gates and means lose by it."""
        kinds = (Kind.GEMM, Kind.SHARED)
        return self._everywhere or all(
            function_name(user) == "add" or self._table.kind_of(user) in kinds
            for user in node.users
        )


def _floats(nodes: list[Node]) -> list[Node]:
    return [each for each in nodes if is_float(each)]


def fixed_spec(parameters: FixedParameters, like: QuantizationSpec) -> FixedQParamsQuantizationSpec:
    """The same range of values in the dtype of `like`; around 0 where that is symmetric."""
    bits = math.ceil(math.log2(like.quant_max - like.quant_min + 1))
    scale, point = (
        parameters.scale * 2.0 ** (8 - bits),
        int(parameters.zero_point * 2 ** (bits - 8)),
    )
    if like.qscheme == torch.per_tensor_symmetric and point:
        half = 2 ** (bits - 1)
        scale, point = scale * (half + abs(point)) / half, 0
    if like.quant_min >= 0:
        point += 2 ** (bits - 1)
    return FixedQParamsQuantizationSpec(
        like.dtype, scale, point, like.quant_min, like.quant_max, like.qscheme
    )


def _operand_spec(node: Node, spec: QuantizationSpecBase | None) -> QuantizationSpecBase | None:
    """Of what has fixed parameters, also moved, these: others would have it quantized once more."""
    return SharedQuantizationSpec(node) if _is_fixed(node) and spec is not None else spec


def _is_fixed(node: Node) -> bool:
    spec = _output_spec(node)
    while isinstance(spec, SharedQuantizationSpec):
        of = spec.edge_or_node
        spec = _inputs(of[1]).get(of[0]) if isinstance(of, tuple) else _output_spec(of)
    return isinstance(spec, FixedQParamsQuantizationSpec)


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
    return replace(weight, ch_axis=1)


def _bias_spec(
    node: Node, source: Node, weight: Node, config: QuantizationConfig
) -> QuantizationSpecBase | None:
    """One for all biases, or what makes it of the two whose products a bias is added to."""
    return config.bias(node, source, weight) if callable(config.bias) else config.bias


def _can_be_dynamic(node: Node, annotation: Annotation) -> bool:
    return captured_name(node) in annotation.dynamic and annotation.dynamic_when(node)


def _only_user(node: Node) -> Node | None:
    users = list(node.users)
    return (
        users[0] if len(users) == 1 and isinstance(users[0].target, torch._ops.OpOverload) else None
    )
