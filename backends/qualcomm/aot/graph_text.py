# SPDX-License-Identifier: BSD-3-Clause
"""A graph as text, a line for each operator, without names: what it reads, its parameters, what it gives.

    Conv2d  F32[1,8,8,3] F32[3,3,3,4]=d0a1 F32[4]=77b2 -> F32[1,4,4,4]  dilation=U32[2](1,1) group=U32(1) ..

`=d0a1`: of a constant, a digest of its data; `{..}`: its encoding."""

from __future__ import annotations

import hashlib
import struct

from executorch.backends.qualcomm.aot.graph import (
    Array,
    DataType,
    Encoding,
    Graph,
    Operator,
    Parameter,
    Tensor,
    TensorType,
)

_SHORT = {
    "UFIXED_POINT_": "UQ",
    "SFIXED_POINT_": "SQ",
    "FLOAT_": "F",
    "UINT_": "U",
    "INT_": "I",
    "BOOL_": "B",
}


def lines(graph: Graph) -> list[str]:
    return [operator_text(graph, each) for each in graph.operators]


def operator_text(graph: Graph, operator: Operator) -> str:
    read, given = (
        " ".join(map(tensor_text, graph.of(places)))
        for places in (operator.inputs, operator.outputs)
    )
    parameters = " ".join(
        f"{name}={parameter_text(each)}" for name, each in sorted(operator.parameters.items())
    )
    return f"{operator.type}  {read} -> {given}  {parameters}".rstrip()


def tensor_text(tensor: Tensor) -> str:
    text = f"{dtype_text(tensor.dtype)}[{','.join(map(str, tensor.dims))}]"
    if tensor.encoding is not None:
        text += encoding_text(tensor.encoding)
    if tensor.type is TensorType.STATIC:
        text += f"={digest(tensor.data.contiguous().numpy().tobytes())}"
    return text


def dtype_text(dtype: DataType) -> str:
    for name, short in _SHORT.items():
        if dtype.name.startswith(name):
            return short + dtype.name.removeprefix(name)
    return dtype.name


def encoding_text(encoding: Encoding) -> str:
    """Scales in the seven digits that float32 has, a digest of several."""
    scales = ",".join(map(number_text, encoding.scales))
    offsets = ",".join(dict.fromkeys(map(str, encoding.offsets)))
    if len(encoding.scales) > 1:
        scales = digest(scales.encode())
    bits = f" {encoding.bitwidth} bits" if encoding.bitwidth else ""
    bits += f" blocks {digest(encoding.block_scales)}" if encoding.block_scales else ""
    axis = "" if encoding.axis is None else f" axis {encoding.axis}"
    return f"{{{scales} {offsets}{axis}{bits}}}"


def parameter_text(parameter: Parameter) -> str:
    kind = dtype_text(parameter.dtype)
    if isinstance(parameter, Array):
        dims = ",".join(map(str, parameter.dims))
        return f"{kind}[{dims}]({','.join(map(str, parameter.values))})"
    is_float = parameter.dtype is DataType.FLOAT_32
    value = number_text(parameter.value) if is_float else str(int(parameter.value))
    return f"{kind}({value})"


def number_text(value: float) -> str:
    """As float32 has it."""
    return f"{struct.unpack('f', struct.pack('f', value))[0]:.6g}"


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:6]
