# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Names of dtypes in edge.yaml and in its makers."""

import torch

regular_tensor_dtypes_to_str: dict[torch.dtype, str] = {
    torch.bool: "Bool",
    torch.uint8: "Byte",
    torch.int8: "Char",
    torch.int16: "Short",
    torch.int32: "Int",
    torch.int64: "Long",
    torch.float16: "Half",
    torch.bfloat16: "BFloat16",
    torch.float32: "Float",
    torch.float64: "Double",
    torch.uint16: "UInt16",
    torch.complex64: "ComplexFloat",
    torch.complex128: "ComplexDouble",
}
regular_tensor_str_to_dtypes = {name: dtype for dtype, name in regular_tensor_dtypes_to_str.items()}
quantized_tensor_dtypes_to_str: dict[torch.dtype, str] = {
    torch.qint8: "QInt8",
    torch.quint8: "QUInt8",
    torch.qint32: "QInt32",
    torch.quint4x2: "QUInt4x2",
    torch.quint2x4: "QUInt2x4",
}
quantized_tensor_str_to_dtypes = {
    name: dtype for dtype, name in quantized_tensor_dtypes_to_str.items()
}
