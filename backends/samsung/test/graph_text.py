# SPDX-License-Identifier: BSD-3-Clause
"""A graph as text, a line for each operator, without names: what it reads, what it gives, its parameters.

    CONV2D  F32n[1,3,8,8] F32n[4,3,3,3]=b02493 -> F32n[1,4,8,8]  dilation_h=1 ..

`n`: of the layout NCHW; `=b02493`: of a constant, a digest of its data; `{..}`: qparams."""

from __future__ import annotations

import hashlib
import struct

from executorch.backends.samsung.aot.graph import NCHW, Graph, Operator, Parameter, QParams, Tensor


def lines(graph: Graph) -> list[str]:
    return [_operator(graph, each) for each in graph.operators]


def _operator(graph: Graph, operator: Operator) -> str:
    sides = operator.inputs, operator.outputs
    read, given = (" ".join(map(_tensor, graph.of(places))) for places in sides)
    parameters = " ".join(
        f"{name}={_value(each)}" for name, each in sorted(operator.parameters.items())
    )
    return f"{operator.type}  {read} -> {given}  {parameters}".rstrip()


def _tensor(tensor: Tensor) -> str:
    dtype = tensor.dtype.replace("FLOAT", "F").replace("INT", "I")
    text = f"{dtype}{'n' * (tensor.layout == NCHW)}[{','.join(map(str, tensor.dims))}]"
    if tensor.qparams is not None:
        text += f"{{{_qparams(tensor.qparams)}}}"
    if tensor.data is not None:
        text += f"={_digest(tensor.data.contiguous().numpy().tobytes())}"
    return text


def _qparams(qparams: QParams) -> str:
    """A digest of several scales."""
    scales = ",".join(map(_value, qparams.scales))
    if len(qparams.scales) > 1:
        scales = _digest(scales.encode())
    points = ",".join(dict.fromkeys(map(str, qparams.zero_points)))
    return " ".join(filter(None, [qparams.type, scales, points]))


def _value(value: Parameter) -> str:
    """Floats in six digits of what float32 has."""
    if isinstance(value, tuple):
        return f"({','.join(map(_value, value))})"
    if isinstance(value, float):
        return f"{struct.unpack('f', struct.pack('f', value))[0]:.6g}"
    return str(value)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:6]
