# SPDX-License-Identifier: BSD-3-Clause
"""Annotates captured graphs: `register_annotator` puts a function beside operators, `annotate` asks it of each call."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch._ops import OpOverload
from torch.fx import Graph, Node
from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, QuantizationSpec
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from executorch.backends.mediatek.quantizer.qconfig import QuantizationConfig
from executorch.exir.backend.lowering.patterns import Call, Value, find
from executorch.exir.backend.lowering.quantizer.captured import is_float
from executorch.exir.graph_facts import only_user

AnnotateFunction = Callable[[Node, QuantizationConfig], None]
OP_TO_ANNOTATOR: dict[OpOverload, AnnotateFunction] = {}
_aten = torch.ops.aten
_GEMM = (_aten.conv1d.default, _aten.conv2d.default, _aten.linear.default)
_ARITHMETIC = (
    *(_aten.add.Scalar, _aten.add.Tensor, _aten.add_.Scalar, _aten.add_.Tensor),
    *(_aten.sub.Scalar, _aten.sub.Tensor, _aten.sub_.Scalar, _aten.sub_.Tensor),
    *(_aten.mul.Scalar, _aten.mul.Tensor, _aten.mul_.Scalar, _aten.mul_.Tensor),
    *(_aten.div.Scalar, _aten.div.Tensor, _aten.div_.Scalar, _aten.div_.Tensor),
    *(_aten.divide.Scalar, _aten.divide.Tensor, _aten.rsub.Scalar, _aten.rsub.Tensor),
)
_OTHERS = (
    *(_aten.pow.Scalar, _aten.pow.Tensor_Scalar, _aten.pow.Tensor_Tensor),
    *(_aten.bmm.default, _aten.matmul.default, _aten.gelu.default, _aten.silu.default),
    *(_aten.leaky_relu.default, _aten.prelu.default, _aten.group_norm.default),
    _aten.layer_norm.default,
)
# The NPU computes them with what is before them.
_LIMITS = (_aten.relu.default, _aten.relu_.default, _aten.relu6.default)


def _rms_norm(square: Call) -> Call:
    """x * rsqrt(mean(square(x)) + eps)."""
    means = Call("aten.mean.dim", square, None, True)
    root = Call("aten.rsqrt.default", Call("aten.add.Tensor", means, None))
    return Call("aten.mul.Tensor", Value("x"), root)


_RMS_NORMS = (
    _rms_norm(Call("aten.mul.Tensor", Value("x"), Value("x"))),
    _rms_norm(Call("aten.pow.Tensor_Scalar", Value("x"), 2)),
)


def register_annotator(ops: Sequence[OpOverload]) -> Callable[[AnnotateFunction], AnnotateFunction]:
    def decorator(annotate_fn: AnnotateFunction) -> AnnotateFunction:
        OP_TO_ANNOTATOR.update(dict.fromkeys(ops, annotate_fn))
        return annotate_fn

    return decorator


def annotate(graph: Graph, quant_config: QuantizationConfig) -> None:
    """Norms first, then limits behind what computes, then call by call; what is annotated stays as it is."""
    for node in graph.nodes:
        _annotate_rms_norm(node, quant_config)
    for node in graph.nodes:
        _annotate_limited(node, quant_config)
    for node in graph.nodes:
        if node.op == "placeholder" and is_float(node) and not _is_annotated(node):
            _mark(node, {}, quant_config.activation)
        annotator = OP_TO_ANNOTATOR.get(node.target) if node.op == "call_function" else None
        if annotator is not None and is_float(node) and not _is_annotated(node):
            annotator(node, quant_config)


def _is_annotated(node: Node) -> bool:
    return Q_ANNOTATION_KEY in node.meta


def _mark(
    node: Node, inputs: dict[Node, QuantizationSpec], output: QuantizationSpec | None
) -> None:
    node.meta[Q_ANNOTATION_KEY] = QuantizationAnnotation(inputs, output, _annotated=True)


def _annotate_rms_norm(node: Node, config: QuantizationConfig) -> None:
    """Only its result is quantized."""
    found = next(filter(None, (find(each, node) for each in _RMS_NORMS)), None)
    if found is not None:
        for each in found.calls:
            _mark(each, {}, None)
        _mark(node, {}, config.activation)


def _annotate_limited(node: Node, config: QuantizationConfig) -> None:
    before = node.args[0] if node.target in _LIMITS else None
    if not isinstance(before, Node) or _is_annotated(before) or only_user(before) is not node:
        return
    if before.target in (*_GEMM, *_ARITHMETIC):
        _mark(before, _weight(before, config), None)
        _mark(node, {}, config.activation)


def _weight(node: Node, config: QuantizationConfig) -> dict[Node, QuantizationSpec]:
    return {node.args[1]: config.weight} if node.target in _GEMM else {}


@register_annotator((*_GEMM, *_ARITHMETIC, *_OTHERS))
def _annotate_result(node: Node, quant_config: QuantizationConfig) -> None:
    _mark(node, _weight(node, quant_config), quant_config.activation)


@register_annotator([_aten.embedding.default])
def _annotate_embedding(node: Node, quant_config: QuantizationConfig) -> None:
    _mark(node, {node.args[0]: quant_config.activation}, None)
