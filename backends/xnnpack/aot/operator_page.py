# SPDX-License-Identifier: BSD-3-Clause
"""What the page of operators says of a row on 8-bit values."""

from __future__ import annotations

from executorch.backends.xnnpack.aot.ops import Quantized, Row

_TEXTS = {
    Quantized.NO: "",
    Quantized.GEMM: "static and dynamic int8 activations; int8 weights, constant",
    Quantized.ARITHMETIC: "static int8, results of a range of their own",
    Quantized.SHARED_PARAMETERS: "static int8, shared quantization parameters",
    Quantized.LOOKUP_TABLE: "static int8 where inputs and results are, by a look-up table",
}


def quantization(row: Row) -> str:
    return _TEXTS[row.quantized]
