# SPDX-License-Identifier: BSD-3-Clause
"""What TFLite's operators ask of the scales and zero points of what they read and write: rows see to it, and this says
of a model that they did."""

from __future__ import annotations

import math

import torch

from executorch.backends.nxp.aot.graph import Graph, Operator, QParams, Tensor
from executorch.exir.error import InternalError

# Operands that have the result's.
_SAME = {
    **dict.fromkeys(
        ("AVERAGE_POOL_2D", "MAX_POOL_2D", "PAD", "RESHAPE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR",
         "SLICE", "TRANSPOSE"), 1),
    **dict.fromkeys(("MAXIMUM", "MINIMUM"), 2),
    "PADV2": 3,
    "CONCATENATION": None,
}  # fmt: skip
_FIXED = {
    "SOFTMAX": QParams((1 / 256,), (-128,)),
    "LOGISTIC": QParams((1 / 256,), (-128,)),
    "TANH": QParams((1 / 128,), (0,)),
}
# Places of input, weight and bias.
_GEMM = {
    "CONV_2D": (0, 1, 2),
    "DEPTHWISE_CONV_2D": (0, 1, 2),
    "FULLY_CONNECTED": (0, 1, 2),
    "TRANSPOSE_CONV": (2, 1, 3),
}
_CLOSE = 1e-6


def check_quantization(graph: Graph) -> None:
    """InternalError that names the operator."""
    for op in graph.operators:
        reason = _why_wrong(op, graph)
        if reason:
            name = graph.tensors[op.outputs[0]].name
            raise InternalError(f"NeutronBackend: {op.kind} that makes {name}: {reason}")


def _why_wrong(op: Operator, graph: Graph) -> str:
    operands = [graph.tensors[each] for each in op.inputs]
    result = graph.tensors[op.outputs[0]]
    if op.kind in _SAME:
        found = [each for each in operands[: _SAME[op.kind]] if each.dtype == torch.int8]
        if any(each.qparams != result.qparams for each in found):
            return f"qparams of operands {[each.qparams for each in found]}, of the result {result.qparams}"
    if op.kind in _FIXED and result.qparams != _FIXED[op.kind]:
        return f"expected {_FIXED[op.kind]}, found {result.qparams}"
    if op.kind in _GEMM:
        return _why_bias_wrong(*(operands[place] for place in _GEMM[op.kind]))
    return ""


def _why_bias_wrong(source: Tensor, weight: Tensor, bias: Tensor) -> str:
    expected = [source.qparams.scales[0] * each for each in weight.qparams.scales]
    pairs = zip(expected, bias.qparams.scales, strict=True)
    is_close = all(math.isclose(a, b, rel_tol=_CLOSE) for a, b in pairs)
    if bias.dtype == torch.int32 and is_close and not any(bias.qparams.zero_points):
        return ""
    return f"expected an int32 bias with scales {expected}, found {bias.dtype}, {bias.qparams}"
