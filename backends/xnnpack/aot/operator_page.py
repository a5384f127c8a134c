# SPDX-License-Identifier: BSD-3-Clause
"""What the page of operators says of a row on 8-bit values."""

from __future__ import annotations

from executorch.exir.backend.lowering.annotation import Kind
from executorch.exir.backend.lowering.op_table import Row

_TEXTS = {
    Kind.NONE: "",
    Kind.GEMM: "static and dynamic int8 activations; int8 weights, constant",
    Kind.ARITHMETIC: "static int8, results of a range of their own",
    Kind.SHARED: "static int8, shared quantization parameters",
    Kind.LOOKUP: "static int8 where inputs and results are, by a look-up table",
}


def quantization(row: Row) -> str:
    return _TEXTS[row.annotation.kind]
