# SPDX-License-Identifier: BSD-3-Clause
"""The one table of cases, which every comparison of kernels reads; rows stand in cases/, by family."""

from __future__ import annotations

from kernels.test.cases import complex_numbers, data_movement, elementwise, matmul, reduce, window
from kernels.test.op_case import Case

CASES: list[Case] = [
    *elementwise.CASES,
    *reduce.CASES,
    *data_movement.CASES,
    *matmul.CASES,
    *window.CASES,
    *complex_numbers.CASES,
]
