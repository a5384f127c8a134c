# SPDX-License-Identifier: BSD-3-Clause
"""Complex numbers, in every operator that takes them."""

from __future__ import annotations

import torch

from kernels.test.cases.elementwise import TO_FLOAT
from kernels.test.op_case import BOOL, C64, C128, F32, F64, I32, I64, Case, case, t

# Every operator that takes complex numbers, with arguments after the first tensor.
_COMPLEX_UNARY = [
    *(n for n in TO_FLOAT if n not in ("erf", "erfc")),
    "neg",
    "abs",
    "logical_not",
    "_conj_physical",
]


def _complex() -> list[Case]:
    cases = []
    for dtype, real in ((C64, F32), (C128, F64)):
        x, y, r = t(3, 300, dtype=dtype), t(300, dtype=dtype), t(3, 300, dtype=real)
        cases += [case(f"{name}.out", x) for name in _COMPLEX_UNARY]
        for name in ("add", "sub", "mul", "div"):
            cases += [
                case(f"{name}.out", a, b)
                for a, b in ((x, y), (x, r), (r, x), (x, t(300, dtype=I32)))
            ]
            cases += [case(f"{name}.Scalar_out", x, number) for number in (3, 2.5)]
        for name in ("eq", "ne"):
            cases += [case(f"{name}.Tensor_out", x, other) for other in (x, y, r)]
            cases.append(case(f"{name}.Scalar_out", x, 1))
        for dims in ([0], [1], [0, 1], []):
            cases += [case("sum.IntList_out", x, dims), case("mean.out", x, dims, True)]
        square = t(4, 6, 6, dtype=dtype)
        cases += [
            case("add.out", x, y, alpha=2), case("rsub.Scalar_out", x, 2), case("mean.dtype_out", x),
            case("prod.out", y), case("prod.int_out", x, 0), case("where.self_out", t(300, dtype=BOOL), x, y),
            case("where.self_out", t(300, dtype=BOOL), r, y), case("mm.out", x, t(300, 5, dtype=dtype)),
            case("bmm.out", square, square), case("linear.out", x, t(4, 300, dtype=dtype), t(4, dtype=dtype)),
            case("addmm.out", t(5, dtype=dtype), x, t(300, 5, dtype=dtype), beta=2, alpha=3),
            case("cat.out", [x, r, x], 0), case("copy.out", x, r), case("copy.out", x, y), case("clone.out", x),
            case("_to_copy.out", r, reference=lambda v, to=dtype: v.to(to)), case("permute_copy.out", x, [1, 0]),
            case("_to_copy.out", x, reference=lambda v: v.to(C64)), case("view_copy.out", x, [30, 30]),
            case("_to_copy.out", x, reference=lambda v: v != 0), case("fill.Scalar_out", x, 2.5),
            case("full.out", [4], 2, reference=lambda to=dtype: torch.full([4], 2, dtype=to)),
            case("scatter_add.out", x, 1, t(3, 9, dtype=I64, low=0, high=300), x),
            case("index_put.out", x, [t(7, dtype=I64, low=0, high=3)], t(7, 300, dtype=dtype), True),
            case("masked_fill.Scalar_out", x, t(300, dtype=BOOL), 2), case("_conj_physical.out", r),
            case("gather.out", x, 1, t(3, 9, dtype=I64, low=0, high=300)),
            case("index_select.out", x, 1, t(4, dtype=I64, low=0, high=300)),
            case("mul.out", t(2, 3, 4, 5, dtype=dtype, channels_last=True), t(2, 3, 4, 5, dtype=dtype)),
            case("exp.out", t(dtype=dtype)), case("sum.IntList_out", t(0, 3, dtype=dtype), [0]),
        ]  # fmt: skip
    return cases


CASES: list[Case] = _complex()
