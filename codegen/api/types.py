# SPDX-License-Identifier: BSD-3-Clause
"""The C++ types of kernels, for scripts that write signatures with torchgen; those of `torch::executor` are ours."""

from __future__ import annotations

from torchgen.api.types import (
    BaseCppType,
    BaseCType,
    Binding,
    CType,
    Expr,
    MutRefCType,
    NamedCType,
    boolT,
    doubleT,
    longT,
)

halfT = BaseCppType("torch::executor", "Half")
bfloat16T = BaseCppType("torch::executor", "BFloat16")
stringT = BaseCppType("std", "string_view")
optionalT = BaseCppType("std", "optional")
scalarT = BaseCppType("torch::executor", "Scalar")
tensorT = BaseCppType("torch::executor", "Tensor")
tensorListT = BaseCppType("torch::executor", "TensorList")
scalarTypeT = BaseCppType("torch::executor", "ScalarType")
memoryFormatT = BaseCppType("torch::executor", "MemoryFormat")
intArrayRefT = BaseCppType("torch::executor", "IntArrayRef")
contextT = BaseCppType("torch::executor", "KernelRuntimeContext")
# The first parameter of each kernel.
contextArg = Binding(
    name="context",
    nctype=NamedCType(name="context", type=MutRefCType(BaseCType(contextT))),
    argument=None,  # type: ignore[arg-type]
    default=None,
)

__all__ = [
    "BaseCType", "BaseCppType", "Binding", "CType", "Expr", "MutRefCType", "NamedCType", "bfloat16T",
    "boolT", "contextArg", "contextT", "doubleT", "halfT", "intArrayRefT", "longT",
    "memoryFormatT", "optionalT", "scalarT", "scalarTypeT", "stringT", "tensorListT", "tensorT",
]  # fmt: skip
