# SPDX-License-Identifier: BSD-3-Clause
"""Unary and binary operators, comparisons, selection."""

from __future__ import annotations

from dataclasses import replace

from kernels.test.op_case import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    FLOATS,
    I8,
    I16,
    I32,
    I64,
    INF,
    INTS,
    NAN,
    REALS,
    SPECIAL,
    U8,
    Case,
    case,
    t,
    vals,
)

# Operators of one tensor: name and the range where they are defined.
TO_FLOAT = {
    "acos": (-1, 1), "acosh": (1, 4), "asin": (-1, 1), "asinh": (-3, 3), "atan": (-3, 3), "atanh": (-0.9, 0.9),
    "cos": (-6, 6), "cosh": (-3, 3), "erf": (-3, 3), "erfc": (-3, 3), "exp": (-4, 4), "expm1": (-3, 3), "log": (0.1, 5),
    "log10": (0.1, 5), "log1p": (-0.9, 5), "log2": (0.1, 5), "reciprocal": (0.5, 3), "rsqrt": (0.5, 4),
    "sigmoid": (-6, 6), "sin": (-6, 6), "sinh": (-3, 3), "sqrt": (0, 5), "tan": (-1.2, 1.2), "tanh": (-4, 4),
}  # fmt: skip
_SAME = ["abs", "ceil", "floor", "neg", "relu", "round", "sign", "trunc"]
_TEST = ["isinf", "isnan", "logical_not"]


def _unary() -> list[Case]:
    cases = []
    for name, (low, high) in TO_FLOAT.items():
        for dtype in FLOATS:
            cases.append(case(f"{name}.out", t(3, 70, dtype=dtype, low=low, high=high)))
        for dtype in (I32, U8, BOOL):
            cases.append(case(f"{name}.out", t(2, 5, dtype=dtype, low=1, high=2)))
        cases.append(case(f"{name}.out", t(2, 3, 4, 5, low=low, high=high, channels_last=True)))
        cases.append(case(f"{name}.out", t(low=low, high=high)))
        cases.append(case(f"{name}.out", t(0, 3)))
    for name in _SAME:
        cases += [
            case(f"{name}.out", t(5, 61, dtype=dtype, low=0 if dtype == U8 else -9, high=9))
            for dtype in REALS
        ]
        cases.append(case(f"{name}.out", SPECIAL))
    for name in _TEST:
        cases += [case(f"{name}.out", t(4, 5, dtype=dtype)) for dtype in [*REALS, BOOL]]
        cases.append(case(f"{name}.out", SPECIAL))
    cases.append(case("sign.out", t(7, dtype=BOOL)))
    cases.append(case("gelu.out", SPECIAL, approximate="tanh"))
    # Not inf: eager's vectors give NaN for it, its scalars inf.
    cases.append(case("gelu.out", vals(0.0, -0.0, 1.5, -0.5, -9.0, -1e30, -INF, NAN)))
    for dtype in [*INTS, BOOL]:
        cases.append(case("bitwise_not.out", t(3, 4, dtype=dtype, low=0, high=9)))
    for dtype in FLOATS:
        x = t(3, 70, dtype=dtype, low=-5, high=5)
        cases += [
            case("gelu.out", x), case("gelu.out", x, approximate="tanh"), case("elu.out", x),
            case("elu.out", x, 0.7, 1.2, 0.9), case("leaky_relu.out", x), case("leaky_relu.out", x, 0.3),
            case("hardtanh.out", x), case("hardtanh.out", x, 0.0, 6.0), case("hardtanh.out", x, NAN, 6.0),
            case("clamp.out", x, NAN), case("clamp.out", x, None, NAN), case("clamp.out", x, NAN, 2),
            case("logit.out", t(9, dtype=dtype, low=0.1, high=0.9)),
            case("logit.out", t(9, dtype=dtype, low=-0.1, high=1.1), 0.05),
            case("glu.out", t(4, 6, dtype=dtype), 1), case("glu.out", t(2, 4, 3, dtype=dtype), -2),
        ]  # fmt: skip
    for dtype in [F32, I32, I64, U8]:
        x = t(40, dtype=dtype, low=0, high=9)
        cases += [
            case("clamp.out", x, 2, 5),
            case("clamp.out", x, None, 4),
            case("clamp.out", x, 1.5),
        ]
    cases.append(case("hardtanh.out", t(20, dtype=I32, low=-5, high=5), -2, 3))
    cases.append(case("clamp.out", SPECIAL, -1.0, 1.0))
    cases.append(case("clamp.out", SPECIAL, -1.0, NAN))
    cases.append(case("clamp.out", t(5, dtype=I32, low=-5, high=5), NAN))
    cases.append(case("clamp.Tensor_out", t(3, 4), vals(0, NAN, -1, 1), t(3, 1)))
    cases.append(case("clamp.Tensor_out", t(3, 4), t(4, low=-1, high=0), t(3, 1, low=0, high=1)))
    cases.append(
        case("clamp.Tensor_out", t(3, 4, dtype=I32, low=-5, high=5), None, t(4, dtype=I64))
    )
    cases.append(case("clamp.Tensor_out", t(3, 4), t(4)))
    return cases


_SHAPES = [
    ((3, 70), (3, 70)),
    ((3, 1, 5), (4, 1)),
    ((4,), (2, 3, 4)),
    ((), (3,)),
    ((0, 3), (3,)),
    ((600,), ()),
]
_ARITHMETIC = [
    "add",
    "sub",
    "mul",
    "div",
    "remainder",
    "fmod",
    "maximum",
    "minimum",
    "atan2",
    "floor_divide",
]
_TENSOR = {"remainder": "Tensor_out", "fmod": "Tensor_out"}
_COMPARE = ["eq", "ge", "gt", "le", "lt", "ne"]


def _binary() -> list[Case]:
    cases = []
    for name in _ARITHMETIC:
        op = f"{name}.{_TENSOR.get(name, 'out')}"
        for a, b in _SHAPES:
            cases.append(case(op, t(*a), t(*b, low=0.5, high=3)))
        for dtype in REALS:
            low = 1 if dtype == U8 else -7
            other = t(4, 9, dtype=dtype, low=1, high=7)
            cases.append(case(op, t(4, 9, dtype=dtype, low=low, high=7), other))
        for a, b in [(F32, I64), (F16, F32), (I32, I64), (BF16, F16), (U8, I8)]:
            cases.append(case(op, t(6, dtype=a, low=1, high=5), t(6, dtype=b, low=1, high=5)))
        cases.append(case(op, t(2, 3, 4, 5, channels_last=True), t(2, 3, 4, 5, low=1, high=3)))
        cases.append(case(op, t(2, 3, 4, 5), t(3, 1, 1, low=1, high=3)))
        cases.append(case(op, vals(7, -7, 7, -7, 0), vals(2, 2, -2, -2, 5)))
    for name in ("add", "mul"):
        cases.append(case(f"{name}.out", t(6, dtype=BOOL), t(6, dtype=BOOL)))
    for dtype in [F32, I32, F16, U8]:
        x = t(5, 6, dtype=dtype, low=1, high=9)
        for name in ("add", "sub", "mul", "div"):
            cases += [case(f"{name}.Scalar_out", x, 3), case(f"{name}.Scalar_out", x, 2.5)]
        cases += [
            case("rsub.Scalar_out", x, 3), case("rsub.Scalar_out", x, 3, 2), case("add.Scalar_out", x, 3, 2),
            case("sub.Scalar_out", x, 3, 2), case("add.out", x, x, alpha=3), case("sub.out", x, x, alpha=2),
            case("remainder.Scalar_out", x, 4), case("fmod.Scalar_out", x, 4), case("remainder.Scalar_out", x, -2.5),
            case("fmod.Scalar_out", x, 2.5), case("pow.Tensor_Scalar_out", x, 2), case("pow.Tensor_Scalar_out", x, 3),
            case("pow.Scalar_out", 2, x), case("pow.Tensor_Tensor_out", x, t(6, dtype=dtype, low=0, high=4)),
        ]  # fmt: skip
    for exponent in (0.5, -0.5, 1.7, -1.0, 0.0, -2):
        cases.append(case("pow.Tensor_Scalar_out", t(3, 70, low=0.5, high=4), exponent))
    cases.append(case("pow.Tensor_Scalar_out", t(9, dtype=I32, low=1, high=9), 0.5))
    cases.append(case("pow.Scalar_out", 2.5, t(5)))
    for mode in ("floor", "trunc", None):
        for dtype in [F32, F64, I32, I64]:
            x = t(40, dtype=dtype, low=-9, high=9)
            cases.append(
                case("div.out_mode", x, t(40, dtype=dtype, low=1, high=4), rounding_mode=mode)
            )
            cases.append(case("div.Scalar_mode_out", x, -3, rounding_mode=mode))
    cases.append(case("maximum.out", SPECIAL, vals(*([NAN] + [1.0] * 8))))
    cases.append(case("minimum.out", SPECIAL, vals(*([NAN] + [1.0] * 8))))
    for name in _COMPARE:
        for dtype in [F32, I64, F16, BOOL, U8]:
            x = t(5, 60, dtype=dtype, low=0, high=3)
            cases.append(case(f"{name}.Tensor_out", x, t(60, dtype=dtype, low=0, high=3)))
            cases.append(case(f"{name}.Scalar_out", x, 1))
        cases.append(case(f"{name}.Tensor_out", t(4, dtype=I32), t(4)))
        cases.append(case(f"{name}.Scalar_out", t(4, dtype=I32, high=3), 1.5))
        cases.append(case(f"{name}.Scalar_out", SPECIAL, 1.5))
    for name in ("logical_and", "logical_or", "logical_xor"):
        for a, b in [(BOOL, BOOL), (F32, BOOL), (I32, I64)]:
            cases.append(case(f"{name}.out", t(3, 4, dtype=a), t(4, dtype=b)))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        for dtype in [I32, U8, BOOL, I64]:
            x = t(3, 4, dtype=dtype, low=0, high=100)
            cases.append(case(f"{name}.Tensor_out", x, t(4, dtype=dtype, low=0, high=100)))
            cases.append(case(f"{name}.Scalar_out", x, True if dtype == BOOL else 6))
    for name in ("bitwise_left_shift", "bitwise_right_shift"):
        for dtype in [I32, I8, I64]:
            x = t(8, dtype=dtype, low=-50, high=100)
            cases.append(
                case(
                    f"{name}.Tensor_out", x, t(8, dtype=dtype, low=0, high=9 if dtype != I8 else 7)
                )
            )
            cases.append(case(f"{name}.Tensor_Scalar_out", x, 2))
        # Whole vectors and a rest, by more bits than there are and by negative ones.
        x = t(3, 37, dtype=I64, low=-50, high=100)
        for shape in [(3, 37), (37,), (3, 1), ()]:
            cases.append(case(f"{name}.Tensor_out", x, t(*shape, dtype=I64, low=-4, high=80)))
            cases.append(case(f"{name}.Tensor_out", t(*shape, dtype=I64, low=-9), x))
    for dtype in [F32, F16, I64, BOOL]:
        cases.append(
            case("where.self_out", t(3, 1, dtype=BOOL), t(3, 4, dtype=dtype), t(4, dtype=dtype))
        )
    cases.append(case("where.self_out", t(700, dtype=BOOL), t(700), t()))
    cases.append(case("where.self_out", t(5, dtype=BOOL), t(5, dtype=I32), t(5)))
    return cases


def _own_types() -> list[Case]:
    """Integers and 16-bit floats in their own type: whole vectors, blocks of values and a rest, wrap-around, numbers
    that 16 bits round (PyTorch computes with the rounded one, but where it multiplies or divides)."""
    cases = []
    for dtype in [I8, U8, I16, I32, I64]:
        low = 0 if dtype == U8 else -100
        for a, b in [
            ((5, 271), (5, 271)),
            ((5, 271), (271,)),
            ((5, 271), (5, 1)),
            ((3, 1), (1, 700)),
            ((700,), ()),
        ]:
            x, y = t(*a, dtype=dtype, low=low, high=100), t(*b, dtype=dtype, low=low, high=100)
            for name in ("add", "sub", "mul", "maximum", "minimum"):
                cases.append(case(f"{name}.out", x, y))
            cases += [case("add.out", x, y, alpha=3), case("sub.out", x, y, alpha=-5)]
            cases += [case(f"bitwise_{name}.Tensor_out", x, y) for name in ("and", "or", "xor")]
            near = t(*b, dtype=dtype, low=low // 50, high=2)
            cases += [
                case(f"{name}.Tensor_out", replace(x, low=low // 50, high=2), near)
                for name in _COMPARE
            ]
            cases.append(case("where.self_out", t(*a, dtype=BOOL), x, y))
        x = t(700, dtype=dtype, low=low, high=100)
        cases += [case(f"{name}.out", x) for name in (*_SAME, "isinf", "isnan", "exp", "sigmoid")]
        cases += [
            case("clamp.out", x, low // 4, 30),
            case("clamp.out", x, None, 7),
            case("clamp.out", x, 7, None),
        ]
        cases.append(case("hardtanh.out", x, max(low, -3), 3))
        cases += [
            case(f"{name}.Scalar_out", x, 7) for name in ("add", "sub", "mul", "rsub", *_COMPARE)
        ]
    for dtype in [F16, BF16]:
        x = t(700, dtype=dtype, low=0.05, high=3)
        exact: dict[str, float] = {"rtol": 1e-7, "atol": 1e-7}
        for name in ("add", "sub", "mul", "div", "rsub", "remainder", "fmod", *_COMPARE):
            cases.append(case(f"{name}.Scalar_out", x, 0.3, **exact))
        for mode in ("floor", "trunc"):
            cases.append(case("div.Scalar_mode_out", x, 0.3, rounding_mode=mode, **exact))
        cases += [case("add.Scalar_out", x, 0.3, 0.7), case("add.out", x, x, alpha=0.7)]
        near = replace(x, values=tuple([0.3] * 700))
        cases += [case(f"{name}.Scalar_out", near, 0.3) for name in _COMPARE]
        cases += [case(f"{name}.Tensor_out", x, t(700, dtype=dtype, high=3)) for name in _COMPARE]
    return cases


CASES: list[Case] = [*_unary(), *_binary(), *_own_types()]
