# SPDX-License-Identifier: BSD-3-Clause
"""The cases: operator, inputs, and tolerance or reference where the usual ones do not do."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch

F16, F32, F64, BF16 = torch.float16, torch.float32, torch.float64, torch.bfloat16
I8, U8, I16, I32, I64, BOOL = (
    torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool,
)  # fmt: skip
FLOATS = [F32, F64, F16, BF16]
INTS = [I32, I64, U8, I8, I16]
REALS = [*FLOATS, *INTS]

_TOLERANCES = {
    F16: (2e-3, 2e-3), BF16: (1.6e-2, 1e-2), F32: (1e-5, 1e-5), F64: (1e-9, 1e-9),
    torch.complex64: (1e-4, 1e-4), torch.complex128: (1e-9, 1e-9),
}  # fmt: skip


@dataclass(frozen=True)
class Input:
    """A tensor to be made: random in [low, high) unless `values` are given."""

    shape: tuple[int, ...]
    dtype: torch.dtype = F32
    low: float = -2.0
    high: float = 2.0
    channels_last: bool = False
    permuted: tuple[int, ...] = ()  # memory order
    values: tuple[float, ...] = ()

    def make(self, seed: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        if self.values:
            tensor = torch.tensor(self.values, dtype=F64).reshape(self.shape)
        elif self.dtype.is_complex:
            tensor = torch.randn(self.shape, generator=generator, dtype=torch.complex128)
        elif self.dtype == BOOL:
            tensor = torch.rand(self.shape, generator=generator) > 0.5
        else:
            tensor = torch.rand(self.shape, generator=generator, dtype=F64)
            tensor = tensor * (self.high - self.low) + self.low
        tensor = (
            tensor.trunc()
            if not self.dtype.is_floating_point and tensor.is_floating_point()
            else tensor
        )
        tensor = tensor.to(self.dtype)
        if self.channels_last:
            return tensor.contiguous(memory_format=torch.channels_last)
        if self.permuted:
            ordered = torch.empty_permuted(self.shape, self.permuted, dtype=self.dtype)
            return ordered.copy_(tensor)
        return tensor


@dataclass(frozen=True)
class Case:
    """One call. Arguments that are left out take their defaults."""

    op: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    reference: Callable[..., Any] | None = None
    rtol: float | None = None
    atol: float | None = None

    @property
    def name(self) -> str:
        return self.op if "::" in self.op else f"aten::{self.op}"

    def tolerance(self, dtype: torch.dtype) -> tuple[float, float]:
        rtol, atol = _TOLERANCES.get(dtype, (0.0, 0.0))
        return self.rtol or rtol, self.atol or atol

    def __str__(self) -> str:
        parts = [_brief(a) for a in [*self.args, *self.kwargs.values()]]
        return f"{self.op}({','.join(parts)})"


def _brief(value: Any) -> str:
    if isinstance(value, Input):
        order = "cl" if value.channels_last else "p" if value.permuted else ""
        return f"{str(value.dtype)[6:]}{list(value.shape)}{order}".replace(" ", "")
    if isinstance(value, list):
        return "[" + ",".join(_brief(v) for v in value) + "]"
    return str(value).replace(" ", "")


def t(*shape: int, dtype: torch.dtype = F32, **options: Any) -> Input:
    return Input(shape, dtype, **options)


def vals(*values: float, dtype: torch.dtype = F32, shape: tuple[int, ...] | None = None) -> Input:
    return Input(shape if shape is not None else (len(values),), dtype, values=values)


def case(
    op: str, *args: Any, reference: Any = None, rtol: Any = None, atol: Any = None, **kwargs: Any
) -> Case:
    return Case(op, args, kwargs, reference, rtol, atol)


INF, NAN = float("inf"), float("nan")
SPECIAL = vals(0.0, -0.0, 1.5, 2.5, -0.5, -1.5, INF, -INF, NAN)

# Operators of one tensor: name and the range where they are defined.
_TO_FLOAT = {
    "acos": (-1, 1), "acosh": (1, 4), "asin": (-1, 1), "asinh": (-3, 3), "atan": (-3, 3), "atanh": (-0.9, 0.9),
    "cos": (-6, 6), "cosh": (-3, 3), "erf": (-3, 3), "erfc": (-3, 3), "exp": (-4, 4), "expm1": (-3, 3), "log": (0.1, 5),
    "log10": (0.1, 5), "log1p": (-0.9, 5), "log2": (0.1, 5), "reciprocal": (0.5, 3), "rsqrt": (0.5, 4),
    "sigmoid": (-6, 6), "sin": (-6, 6), "sinh": (-3, 3), "sqrt": (0, 5), "tan": (-1.2, 1.2), "tanh": (-4, 4),
}  # fmt: skip
_SAME = ["abs", "ceil", "floor", "neg", "relu", "round", "sign", "trunc"]
_TEST = ["isinf", "isnan", "logical_not"]


def _unary() -> list[Case]:
    cases = []
    for name, (low, high) in _TO_FLOAT.items():
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
    for dtype in [*INTS, BOOL]:
        cases.append(case("bitwise_not.out", t(3, 4, dtype=dtype, low=0, high=9)))
    for dtype in FLOATS:
        x = t(3, 70, dtype=dtype, low=-5, high=5)
        cases += [
            case("gelu.out", x), case("gelu.out", x, approximate="tanh"), case("elu.out", x),
            case("elu.out", x, 0.7, 1.2, 0.9), case("leaky_relu.out", x), case("leaky_relu.out", x, 0.3),
            case("hardtanh.out", x), case("hardtanh.out", x, 0.0, 6.0),
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
    for dtype in [F32, F16, I64, BOOL]:
        cases.append(
            case("where.self_out", t(3, 1, dtype=BOOL), t(3, 4, dtype=dtype), t(4, dtype=dtype))
        )
    cases.append(case("where.self_out", t(700, dtype=BOOL), t(700), t()))
    cases.append(case("where.self_out", t(5, dtype=BOOL), t(5, dtype=I32), t(5)))
    return cases


def _reduce() -> list[Case]:
    cases = []
    shapes = [
        t(3, 50),
        t(2, 3, 7, 7),
        t(2, 16, 6, 5, channels_last=True),
        t(40, 300),
        t(6, 4, 5, permuted=(1, 2, 0)),
    ]
    for x in shapes:
        for dims in ([0], [-1], [0, 1], []):
            for name in ("sum.IntList_out", "mean.out", "amax.out", "amin.out"):
                cases.append(case(name, x, dims, True, rtol=1e-4))
                cases.append(case(name, x, dims, rtol=1e-4))
        cases += [
            case("sum.IntList_out", x, None, rtol=1e-4),
            case("mean.dtype_out", x), case("prod.int_out", x, 0, rtol=1e-4),
            case("var.out", x, [0]), case("var.correction_out", x, [-1], correction=0), case("any.all_out", x),
            case("var_mean.correction_out", x, [0, 1], correction=1, keepdim=True), case("argmax.out", x, 0),
            case("var.correction_out", x), case("argmin.out", x, -1, True), case("argmax.out", x),
            case("max.dim_max", x, 0), case("min.dim_min", x, -1, True), case("max.unary_out", x),
            case("min.unary_out", x), case("cumsum.out", x, 0), case("cumsum.out", x, -1, rtol=1e-4),
        ]  # fmt: skip
    cases.append(case("mean.out", t(2, 3, 7, 7), [2, 3], True))
    for dtype in [F16, BF16, F64]:
        x = t(4, 33, dtype=dtype)
        for name in ("sum.IntList_out", "mean.out", "amax.out", "var.out"):
            cases.append(case(name, x, [1], rtol=2e-2 if dtype != F64 else None))
        cases += [
            case("prod.out", t(5, dtype=dtype)),
            case("max.dim_max", x, 0),
            case("cumsum.out", t(6, dtype=dtype), 0),
        ]
    for dtype in [*INTS, BOOL]:
        x = t(4, 9, dtype=dtype, low=0, high=9)
        cases += [
            case("sum.IntList_out", x, [1]), case("amax.out", x, [0]),
            case("any.out", x, 1), case("any.dims_out", x, [0]),
            case("prod.int_out", x, 1), case("max.dim_max", x, 1), case("min.unary_out", x), case("cumsum.out", x, 1),
            case("any.out", x, 0, True), case("any.dims_out", x),
        ]  # fmt: skip
        if dtype != BOOL:
            cases.append(case("argmin.out", x, 1))
    cases.append(case("sum.IntList_out", t(4, 9), [1], dtype=F64))
    cases.append(case("sum.IntList_out", t(0, 3), [0]))
    cases.append(case("mean.out", t(0, 3), [0]))
    cases.append(case("any.all_out", t(0, dtype=BOOL)))
    cases.append(case("argmax.out", vals(1, NAN, 3, NAN)))
    cases.append(case("max.dim_max", vals(1, NAN, 3, 4), 0))
    cases.append(case("amax.out", SPECIAL, [0]))
    cases += [
        case("sum.IntList_out", t(), [0]),
        case("argmax.out", t()),
        case("cumsum.out", t(), 0),
    ]
    return cases


def _views() -> list[Case]:
    cases = []
    for dtype in [F32, I64, BOOL, F16]:
        x = t(3, 4, 5, dtype=dtype)
        cases += [
            case("permute_copy.out", x, [2, 0, 1]), case("permute_copy.out", x, [0, -1, 1]),
            case("transpose_copy.int_out", x, 0, -1), case("t_copy.out", t(4, 5, dtype=dtype)),
            case("view_copy.out", x, [4, -1]), case("unsqueeze_copy.out", x, -1), case("flip.out", x, [0, 2]),
            case("expand_copy.out", t(3, 1, 5, dtype=dtype), [2, 3, 4, -1]), case("repeat.out", x, [2, 1, 3, 2]),
            case("slice_copy.Tensor_out", x, 1, 1, 100, 2), case("slice_copy.Tensor_out", x, -1, -3, -1),
            case("select_copy.int_out", x, 1, -1), case("narrow_copy.out", x, 2, 1, 3),
            case("cat.out", [x, t(3, 2, 5, dtype=dtype)], 1), case("stack.out", [x, x], -1),
            case("split_copy.Tensor_out", x, 2, 1), case("split_with_sizes_copy.out", x, [1, 3], 1),
            case("unbind_copy.int_out", x, 1), case("squeeze_copy.dim_out", t(3, 1, 2, dtype=dtype), 1),
            case("squeeze_copy.dims_out", t(1, 3, 1, dtype=dtype), [0, 1]), case("clone.out", x),
            case("alias_copy.out", x), case("detach_copy.out", x), case("lift_fresh_copy.out", x),
            case("copy.out", x, t(4, 1, dtype=dtype)), case("copy_", x, t(5, dtype=dtype)),
            case("diagonal_copy.out", x, 1, 0, 2), case("diagonal_copy.out", x, -1, 1, 0),
            case("unfold_copy.out", x, 1, 2, 1), case("as_strided_copy.out", x, [2, 3], [5, 2], 4),
            case("roll.out", x, [1, -2], [0, 2]), case("roll.out", x, [7]),
            case("tril.out", x), case("tril.out", x, -1),
            case("tril.out", x, 2), case("select_scatter.out", x, t(3, 5, dtype=dtype), 1, 2),
            case("slice_scatter.out", x, t(3, 2, 5, dtype=dtype), 1, 0, 4, 2),
            case("constant_pad_nd.out", x, [1, 2, 0, 3], 1), case("constant_pad_nd.out", x, [-1, 2, 1, -2]),
        ]  # fmt: skip
    big = t(2, 64, 30, 31)
    cases += [
        case("permute_copy.out", big, [0, 2, 3, 1]), case("permute_copy.out", big, [3, 2, 1, 0]),
        case("permute_copy.out", t(), []), case("flip.out", big, [3]), case("view_copy.out", t(0, 4), [2, 0]),
        case("cat.out", [t(3, 4), t(0), t(2, 4)], 0), case("cat.out", [t(2), t(2, dtype=I32)], 0),
        case("view_copy.out", t(2, 3, 4, 5, channels_last=True), [6, 20]), case("expand_copy.out", t(), [3]),
        case("pixel_shuffle.out", t(2, 12, 3, 4), 2), case("pixel_unshuffle.out", t(2, 3, 6, 4), 2),
        case("view_as_real_copy.out", t(3, 4, dtype=torch.complex64)),
        case("_conj_physical.out", t(3, 4, dtype=torch.complex64)),
        case("_conj_physical.out", t(3, 4, dtype=torch.complex128)),
        case("repeat.out", t(2), [0, 3]), case("select_copy.int_out", big, 1, 5),
        case("permute_copy.out", t(2, 3, 4, 5, channels_last=True), [1, 0, 2, 3]),
        case("constant_pad_nd.out", t(2, 3, 4, 5), [1, 1, 2, 2], 0.5),
        case("copy.out", t(3, 4), t(4, dtype=I32)), case("copy_", t(3, dtype=I32), t(3)),
        case("clone.out", t(2, 3, 4, 5, channels_last=True)),
    ]  # fmt: skip
    for n, pad in ((1, [1, 2]), (2, [1, 2, 0, 3]), (3, [1, 2, 0, 3, 2, 1])):
        shape = [2, 3, 4, 5, 6][: n + 2]
        for mode in ("reflection", "replication"):
            cases.append(case(f"{mode}_pad{n}d.out", t(*shape), pad))
            cases.append(case(f"{mode}_pad{n}d.out", t(*shape[1:], dtype=F16), pad))
    return cases


def _conversions() -> list[Case]:
    cases = []
    for source in [*REALS, BOOL]:
        for target in [*REALS, BOOL]:
            x = t(3, 7, dtype=source, low=0 if target == U8 else -9, high=9)
            for op in ("_to_copy.out", "dim_order_ops::_to_dim_order_copy.out"):
                cases.append(case(op, x, reference=lambda x, to=target: x.to(to)))
    x = t(2, 3, 4, 5)
    last = torch.channels_last
    cases += [
        case("dim_order_ops::_clone_dim_order.out", x, dim_order=[0, 2, 3, 1],
             reference=lambda x: x.contiguous(memory_format=last)),
        case("dim_order_ops::_to_dim_order_copy.out", x, dim_order=[0, 2, 3, 1],
             reference=lambda x: x.to(F16, memory_format=last)),
        case("dim_order_ops::_clone_dim_order.out", x, reference=lambda x: x.clone()),
        case("et_copy::_h2d_copy.out", x, reference=lambda x: x.clone()),
        case("et_copy::_d2h_copy.out", x, reference=lambda x: x.clone()),
    ]  # fmt: skip
    return cases


def _creation() -> list[Case]:
    cases = []
    for dtype in [F32, I64, BOOL, F16, U8]:
        cases += [
            case("full.out", [2, 3], 1, reference=lambda d=dtype: torch.full([2, 3], 1, dtype=d)),
            case("full_like.out", t(4, dtype=dtype), 1, reference=lambda x: torch.full_like(x, 1)),
            case("ones.out", [3], reference=lambda d=dtype: torch.ones(3, dtype=d)),
            case("zeros.out", [3, 0, 2], reference=lambda d=dtype: torch.zeros(3, 0, 2, dtype=d)),
            case("zeros.out", [300], reference=lambda d=dtype: torch.zeros(300, dtype=d)),
            case("scalar_tensor.out", 1, reference=lambda d=dtype: torch.scalar_tensor(1, dtype=d)),
            case("fill.Scalar_out", t(3, 4, dtype=dtype), 1),
            case("fill.Tensor_out", t(3, 4, dtype=dtype), t(dtype=dtype)),
        ]  # fmt: skip
    x = t(3, 4, low=1, high=2)
    cases += [
        case("native_dropout.out", x, 0.5, False),
        case("native_dropout.out", x, 1.0, True),
        case("full.out", [], -2.5, reference=lambda: torch.full([], -2.5)),
        case("full.out", [2], -INF, reference=lambda: torch.full([2], -INF)),
        case("arange.out", 7, reference=lambda: torch.arange(7)),
        case("arange.out", 4.5, reference=lambda: torch.arange(4.5)),
        case("arange.start_out", 2, 11, 3, reference=lambda: torch.arange(2, 11, 3)),
        case("arange.start_out", 5, -2, -2, reference=lambda: torch.arange(5, -2, -2)),
        case("arange.start_out", 0.5, 3, 0.5, reference=lambda: torch.arange(0.5, 3, 0.5)),
    ]
    return cases


def _attention() -> list[Case]:
    """Sizes around tiles, blocks of keys and blocks of queries; every kind of mask."""
    op = "scaled_dot_product_attention.out"
    cases = []
    for dtype in FLOATS:
        near: dict[str, Any] = {"rtol": 2e-2, "atol": 2e-2}
        if dtype in (F32, F64):
            near = {"rtol": 1e-4, "atol": 1e-5}

        def make(*shape: int, dtype: torch.dtype = dtype) -> Input:
            return t(*shape, dtype=dtype)

        q, k, v = make(2, 4, 9, 20), make(2, 4, 13, 20), make(2, 4, 13, 7)
        allowed, added = t(9, 13, dtype=BOOL), make(2, 1, 9, 13)
        cases += [
            case(op, q, k, v, **near), case(op, q, k, v, is_causal=True, **near),
            case(op, q, k, v, allowed, **near), case(op, q, k, v, added, scale=0.3, **near),
            case(op, q, k, v, t(2, 4, 1, 13, dtype=BOOL), **near), case(op, q, k, v, make(9, 1), **near),
            case(op, q, make(2, 2, 13, 20), make(2, 2, 13, 7), enable_gqa=True, **near),
            case(op, make(3, 70, 32), make(3, 200, 32), make(3, 200, 64), is_causal=True, **near),
            case(op, make(2, 1, 33), make(2, 401, 33), make(2, 401, 48), **near),
            case(op, make(5, 8), make(6, 8), make(6, 8), **near),
            case(op, make(2, 3, 0, 4), make(2, 3, 5, 4), make(2, 3, 5, 4), **near),
        ]  # fmt: skip
        if dtype != F64:
            large = make(1, 2, 300, 40), make(1, 2, 260, 40), make(1, 2, 260, 40)
            cases.append(case(op, *large, t(300, 260, dtype=BOOL), **near))
            cases.append(case(op, *large, make(300, 260), **near))
    permuted = [t(2, 3, 5, 8, permuted=(0, 2, 1, 3)) for _ in range(3)]
    cases.append(case(op, *permuted))
    forbidden = vals(*(4 * [0.0] + 4 * [1.0]), dtype=BOOL, shape=(2, 4))
    cases.append(case(op, t(1, 2, 8), t(1, 4, 8), t(1, 4, 8), forbidden))
    return cases


def _narrow_products() -> list[Case]:
    """Sizes around words, vectors, tiles and blocks of the 8- and 16-bit products."""
    cases = []
    for m, k, n in ((1, 1, 1), (3, 7, 5), (9, 64, 49), (17, 33, 100), (30, 1030, 70), (2, 0, 3)):
        a, b = t(m, k, dtype=I8, low=-128, high=128), t(k, n, dtype=I8, low=-128, high=128)
        cases += [case("_int_mm.out", a, b), case("_int_mm.out", a, replace(b, permuted=(1, 0)))]
        for low, high in ((-128, -128), (-128, 127), (127, -128)):
            a, b = Input((m, k), I8, low, low), Input((k, n), I8, high, high)
            cases.append(case("_int_mm.out", a, b))
        for dtype in (F16, BF16):
            loose: dict[str, Any] = {"atol": 0.05, "rtol": 2e-2 if dtype == BF16 else 4e-3}
            a, b, w = t(m, k, dtype=dtype), t(k, n, dtype=dtype), t(n, k, dtype=dtype)
            bias = t(n, dtype=dtype)
            cases += [
                case("mm.out", a, b, **loose),
                case("bmm.out", t(3, m, k, dtype=dtype), t(3, k, n, dtype=dtype), **loose),
                case("addmm.out", bias, a, b, **loose),
                case("addmm.out", t(m, n, dtype=dtype), a, b, **loose),
            ]
            if k > 0:
                cases.append(case("linear.out", a, w, bias, **loose))
    return cases


def _matmul() -> list[Case]:
    cases = []
    for dtype in [F32, F64, F16, BF16, I64, I32]:
        a, b = t(5, 7, dtype=dtype), t(7, 9, dtype=dtype)
        cases += [
            case("mm.out", a, b), case("bmm.out", t(3, 5, 7, dtype=dtype), t(3, 7, 4, dtype=dtype)),
            case("addmm.out", t(9, dtype=dtype), a, b), case("addmm.out", t(5, 1, dtype=dtype), a, b, beta=2, alpha=3),
            case("addmm.out", t(5, 9, dtype=dtype), a, b, beta=0),
        ]  # fmt: skip
        if dtype.is_floating_point:
            cases.append(
                case("linear.out", t(2, 3, 7, dtype=dtype), t(9, 7, dtype=dtype), t(9, dtype=dtype))
            )
            cases.append(case("linear.out", t(3, 7, dtype=dtype), t(9, 7, dtype=dtype)))
    cases += [
        case("mm.out", t(65, 130), t(130, 300), rtol=1e-4, atol=1e-4),
        case(
            "mm.out", t(33, 20, permuted=(1, 0)), t(20, 40, permuted=(1, 0)), rtol=1e-4, atol=1e-4
        ),
        case("mm.out", t(3, 0), t(0, 4)),
        case("mm.out", t(0, 3), t(3, 4)),
        case("bmm.out", t(0, 2, 3), t(0, 3, 2)),
        case("linear.out", t(1, 300), t(513, 300), t(513), rtol=1e-4, atol=1e-4),
        *_narrow_products(),
        *_attention(),
        case("linear.out", t(7), t(9, 7), t(9)),
        case("addmm.out", t(300), t(17, 300), t(300, 300, permuted=(1, 0)), rtol=1e-4, atol=1e-4),
    ]
    return cases


def _convolution() -> list[Case]:
    cases = []
    rows = [
        (t(2, 3, 20), t(4, 3, 5), t(4), ([2], [2], [1], False, [0], 1)),
        (t(2, 4, 20), t(4, 1, 3), t(4), ([1], [1], [2], False, [0], 4)),
        (t(1, 3, 17, 19), t(8, 3, 3, 3), t(8), ([2, 2], [1, 1], [1, 1], False, [0, 0], 1)),
        (t(2, 6, 9, 11), t(6, 1, 3, 3), None, ([1, 2], [1, 0], [1, 2], False, [0, 0], 6)),
        (t(2, 6, 9, 11), t(4, 3, 3, 2), t(4), ([2, 1], [0, 1], [2, 1], False, [0, 0], 2)),
        (t(1, 5, 7, 7), t(9, 5, 1, 1), t(9), ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)),
        (
            t(1, 2, 5, 6, 7),
            t(3, 2, 3, 2, 3),
            t(3),
            ([1, 2, 1], [1, 0, 1], [1, 1, 2], False, [0, 0, 0], 1),
        ),
        (t(2, 4, 6), t(4, 3, 3), t(3), ([2], [1], [1], True, [1], 1)),
        (t(2, 4, 5, 6), t(4, 3, 3, 3), t(6), ([2, 3], [1, 0], [1, 2], True, [1, 0], 2)),
        (
            t(1, 2, 3, 4, 5),
            t(2, 2, 2, 3, 2),
            None,
            ([1, 2, 1], [0, 1, 0], [1, 1, 1], True, [0, 0, 0], 1),
        ),
        # Several bands of channels, shifted rows, ends of vectors; filters turned around; padded rows left out.
        (t(1, 38, 4, 9, 11), t(14, 19, 3, 3, 3), t(14), ([2], [1], [1], False, [0], 2)),
        (t(1, 70, 13, 21), t(13, 70, 3, 3), t(13), ([1, 1], [1, 1], [1, 1], False, [0, 0], 1)),
        (t(2, 9, 11, 10), t(9, 5, 3, 4), None, ([1, 1], [2, 0], [1, 2], True, [0, 1], 3)),
        (t(1, 20, 14, 15), t(17, 20, 3, 3), t(17), ([1, 1], [6, 5], [6, 5], False, [0, 0], 1)),
        (t(1, 5, 11, 30), t(5, 1, 7, 7), t(5), ([1, 1], [3, 3], [1, 1], False, [0, 0], 5)),
    ]
    for x, w, b, args in rows:
        cases.append(case("convolution.out", x, w, b, *args, rtol=1e-4, atol=1e-4))
    x, w, b, args = rows[2]
    for dtype in (F16, BF16, F64):
        row = [Input(i.shape, dtype) for i in (x, w, b)]
        cases.append(case("convolution.out", *row, *args, rtol=2e-2, atol=5e-2))
    last = t(2, 8, 9, 10, channels_last=True)
    cases.append(
        case(
            "convolution.out",
            last,
            t(4, 8, 3, 3, channels_last=True),
            t(4),
            *args,
            rtol=1e-4,
            atol=1e-4,
        )
    )
    cases.append(
        case(
            "convolution.out",
            last,
            t(8, 1, 3, 3),
            t(8),
            [1, 1],
            [1, 1],
            [1, 1],
            False,
            [0, 0],
            8,
            rtol=1e-4,
            atol=1e-4,
        )
    )
    return cases


def _norms() -> list[Case]:
    cases = []
    for dtype in FLOATS:
        x = t(2, 6, 4, 5, dtype=dtype)
        c = t(6, dtype=dtype)
        positive = t(6, dtype=dtype, low=0.5, high=2)
        cases += [
            case("_softmax.out", x, -1, False),
            case("_softmax.out", x, 1, False), case("_log_softmax.out", x, 3, False),
            case("_log_softmax.out", x, 0, False),
            case("native_layer_norm.out", x, [4, 5], t(4, 5, dtype=dtype), t(4, 5, dtype=dtype), 1e-5),
            case("native_layer_norm.out", x, [5], None, None, 1e-3),
            case("native_group_norm.out", x, c, c, 2, 6, 20, 3, 1e-5),
            case("native_group_norm.out", x, None, None, 2, 6, 20, 2, 1e-5),
            case("_native_batch_norm_legit_no_training.out", x, c, c, c, positive, 0.1, 1e-5),
            case("_native_batch_norm_legit_no_training.out", x, None, None, c, positive, 0.1, 1e-5),
        ]  # fmt: skip
    x = t(2, 6, 4, 5, channels_last=True)
    c, positive = t(6), t(6, low=0.5, high=2)
    cases += [
        case("_native_batch_norm_legit_no_training.out", x, c, c, c, positive, 0.1, 1e-5),
        case("_softmax.out", x, 1, False),
        case("_softmax.out", t(3, 700), 1, False), case("_softmax.out", t(), 0, False),
        case("_softmax.out", vals(-INF, 1, 2), 0, False), case("_softmax.out", t(2, 0), 1, False),
        case("_native_batch_norm_legit.no_stats_out", t(4, 6, 5), c, c, True, 0.1, 1e-5),
        case("_native_batch_norm_legit.no_stats_out", t(4, 6, 5), None, None, True, 0.1, 1e-5),
        case("native_layer_norm.out", t(3, 768), [768], t(768), t(768), 1e-12),
        case("native_layer_norm.out", t(3, 4, low=1000, high=1001), [4], None, None, 1e-5, rtol=1e-3, atol=2e-3),
        case("_native_batch_norm_legit.out", t(4, 6, 5), c, c, c, positive, True, 0.1, 1e-5),
        case("_native_batch_norm_legit.out", t(4, 6, 5), c, c, c, positive, False, 0.1, 1e-5),
    ]  # fmt: skip
    return cases


def _pools() -> list[Case]:
    cases = []
    for x in [
        t(2, 3, 11, 13),
        t(3, 11, 13),
        t(2, 3, 11, 13, channels_last=True),
        t(2, 3, 11, 13, dtype=F16),
    ]:
        cases += [
            case("max_pool2d_with_indices.out", x, [3, 3], [2, 2], [1, 1]),
            case("max_pool2d_with_indices.out", x, [2, 3], [2, 1], [0, 1], [2, 1], True),
            case("max_pool2d_with_indices.out", x, [2, 2]),
            case("avg_pool2d.out", x, [3, 3], [2, 2], [1, 1]), case("avg_pool2d.out", x, [2, 3]),
            case("avg_pool2d.out", x, [3, 2], [2, 2], [1, 0], True, False),
            case("avg_pool2d.out", x, [3, 3], [2, 2], [1, 1], True, True, 5),
            case("_adaptive_avg_pool2d.out", x, [1, 1]), case("_adaptive_avg_pool2d.out", x, [4, 5]),
            case("_adaptive_avg_pool2d.out", x, [0, 2]),
        ]  # fmt: skip
    for x in (t(2, 3, 17), t(3, 17), t(2, 3, 17, dtype=F64)):
        cases += [
            case("avg_pool1d.out", x, [3], [2], [1]), case("avg_pool1d.out", x, [4], [3], [2], True, False),
            case("adaptive_avg_pool1d.out", x, [5]), case("adaptive_avg_pool1d.out", x, [20]),
        ]  # fmt: skip
    for x in (t(2, 3, 5, 7, 6), t(3, 5, 7, 6), t(1, 2, 5, 7, 6, dtype=F64)):
        cases += [
            case("avg_pool3d.out", x, [3, 3, 2], [2, 2, 1], [1, 1, 0]), case("avg_pool3d.out", x, [2]),
            case("avg_pool3d.out", x, [3, 2, 2], [2], [1], True, False, None),
            case("avg_pool3d.out", x, [2, 2, 2], [2], [0], False, True, 3),
            case("_adaptive_avg_pool3d.out", x, [2, 3, 4]), case("_adaptive_avg_pool3d.out", x, [1, 1, 1]),
            case("max_pool3d_with_indices.out", x, [3, 3, 2], [2, 2, 1], [1, 1, 0]),
            case("max_pool3d_with_indices.out", x, [2], [2], [1], [2, 1, 2], True),
        ]  # fmt: skip
    cases.append(case("avg_pool2d.out", t(2, 6, 6, dtype=I64, low=-9, high=9), [2, 3]))
    for dtype in (F32, F64, F16):
        x = t(2, 3, 7, 9, dtype=dtype)
        cases += [
            case("_adaptive_avg_pool2d_backward.out", t(2, 3, 4, 5, dtype=dtype), x),
            case("avg_pool2d_backward.grad_input", t(2, 3, 4, 5, dtype=dtype), x, [3, 3], [2, 2], [1, 1],
                 False, True, None),
            case("avg_pool2d_backward.grad_input", t(2, 3, 3, 8, dtype=dtype), x, [3, 2], [2, 1], [0, 0],
                 False, False, 5),
        ]  # fmt: skip
    cases.append(
        case("max_pool2d_with_indices.out", t(1, 2, 6, 6, dtype=I32, low=-9, high=9), [2, 2])
    )
    # Overlapping windows add up; every index is one that lies in the input.
    for grad in (t(2, 3, 3, 4), t(3, 3, 4), t(2, 3, 3, 4, dtype=F64)):
        x = Input((*grad.shape[:-2], 7, 9), grad.dtype)
        at = Input(grad.shape, I64, low=0, high=63)
        tail = [[3, 3], [2, 2], [0, 0], [1, 1], False, at]
        cases.append(case("max_pool2d_with_indices_backward.grad_input", grad, x, *tail))
    return cases


def _indexing() -> list[Case]:
    cases = []
    i = t(4, dtype=I64, low=0, high=3)
    for dtype in [F32, F16, I64, BOOL]:
        x = t(3, 5, 6, dtype=dtype)
        weight = t(9, 6, dtype=dtype)
        cases += [
            case("embedding.out", weight, t(2, 7, dtype=I64, low=0, high=9)),
            case("embedding.out", weight, t(4, dtype=I32, low=0, high=9)),
            case("index_select.out", x, 1, t(7, dtype=I64, low=0, high=5)), case("index_select.out", x, 0, i),
            case("index.Tensor_out", x, [i]), case("index.Tensor_out", x, [None, t(2, 3, dtype=I64, low=-5, high=5)]),
            case("index.Tensor_out", x, [i, None, i]), case("index.Tensor_out", x, [i, i, i]),
            case("index.Tensor_out", x, [t(2, 1, dtype=I64, low=0, high=3), t(3, dtype=I64, low=0, high=5)]),
            case("index.Tensor_out", x, [vals(1, 0, 1, dtype=BOOL)]),
            case("index_put.out", x, [i], t(4, 5, 6, dtype=dtype)) if dtype == BOOL else
            case("index_put.out", x, [vals(0, 2, dtype=I64)], t(5, 6, dtype=dtype)),
            case("index_put.out", x, [None, vals(0, 3, dtype=I64), None], t(3, 2, 6, dtype=dtype)),
            case("index_put.out", x, [None, None, vals(5, 0, dtype=I64)], t(2, dtype=dtype)),
            case("index_put_", x, [vals(0, 2, dtype=I64), vals(1, 4, dtype=I64)], t(2, 6, dtype=dtype)),
            case("gather.out", x, 1, t(3, 2, 6, dtype=I64, low=0, high=5)),
            case("gather.out", x, 2, t(2, 4, 3, dtype=I64, low=0, high=6)),
            case("scatter.src_out", x, 1, vals(4, 1, 0, dtype=I64, shape=(1, 3, 1)), x),
            case("scatter.value_out", x, 0, vals(2, 0, dtype=I64, shape=(1, 2, 1)), 1),
            case("masked_fill.Scalar_out", x, t(5, 1, dtype=BOOL), 1),
            case("masked_scatter.out", x, t(5, 6, dtype=BOOL), t(100, dtype=dtype)),
            case("masked_select.out", x, t(3, 5, 6, dtype=BOOL)), case("masked_select.out", x, t(6, dtype=BOOL)),
            case("nonzero.out", t(3, 4, dtype=dtype, low=-1, high=2)),
        ]  # fmt: skip
        cases += [
            case("index_copy.out", x, 1, vals(2, 0, dtype=I64), t(3, 2, 6, dtype=dtype)),
            case("index_copy.out", x, -1, vals(5, 5, dtype=I64), t(3, 5, 2, dtype=dtype)),
            case("index_copy.out", t(dtype=dtype), 0, vals(0, dtype=I64), t(1, dtype=dtype)),
        ]
        if dtype != BOOL:
            cases.append(
                case("scatter_add.out", x, 1, t(3, 4, 6, dtype=I64, low=0, high=5), x, rtol=1e-2)
            )
            for way in ("sum", "prod", "mean", "amax", "amin"):
                for own in (True, False):
                    args = (x, 1, t(3, 4, 6, dtype=I64, low=0, high=5), x, way)
                    options = {"include_self": own, "rtol": 2e-2, "atol": 1e-2}
                    cases.append(case("scatter_reduce.two_out", *args, **options))
            cases.append(case("index_put.out", x, [i], t(4, 5, 6, dtype=dtype), True, rtol=1e-2))
    for k, dim, largest in ((3, -1, True), (2, 0, False), (5, 1, True)):
        cases.append(
            case(
                "topk.values",
                t(4, 7, low=-100, high=100),
                min(k, 4 if dim == 0 else 7),
                dim,
                largest,
            )
        )
    cases += [
        case("topk.values", vals(1, NAN, 3, 2), 2), case("topk.values", t(), 0),
        case("repeat_interleave.Tensor_out", vals(1, 0, 3, 2, dtype=I64)),
        case("nonzero.out", t()), case("embedding.out", t(9, 0), i), case("gather.out", t(3), 0, vals(2, 0, dtype=I64)),
        case("index.Tensor_out", t(3, 40, 50), [None, t(9, dtype=I64, low=0, high=40)]),
    ]  # fmt: skip
    return cases


def _distances() -> list[Case]:
    cases = []
    for p in (0.0, 1.0, 2.0, 3.0, INF):
        cases.append(
            case("_cdist_forward.out", t(2, 3, 5), t(2, 4, 5), p, None, rtol=1e-4, atol=1e-4)
        )
        cases.append(case("_pdist_forward.out", t(6, 5), p, rtol=1e-4, atol=1e-4))
    return cases


def _resizing() -> list[Case]:
    cases = []
    for x in [t(2, 3, 5, 6), t(2, 3, 5, 6, channels_last=True), t(1, 2, 4, 4, dtype=F16)]:
        cases += [
            case("upsample_nearest2d.vec_out", x, [7, 11], None),
            case("upsample_nearest2d.vec_out", x, None, [2.0, 1.5]),
            case("upsample_bilinear2d.vec_out", x, [7, 11], False, None),
            case("upsample_bilinear2d.vec_out", x, [7, 11], True, None),
            case("upsample_bilinear2d.vec_out", x, None, False, [2.0, 1.5]),
            case("upsample_bilinear2d.vec_out", x, [3, 3], False, None),
        ]  # fmt: skip
        if x.dtype != F16:  # which eager has not
            cases += [
                case("_upsample_bilinear2d_aa.out", x, [7, 11], False),
                case("_upsample_bilinear2d_aa.out", x, [2, 3], True),
                case("_upsample_bilinear2d_aa.out", x, [2, 2], False, scales_h=0.4, scales_w=0.35),
            ]  # fmt: skip
        points = t(x.shape[0], 3, 7, 2, dtype=x.dtype, low=-1.6, high=1.6)
        for mode, padding, align in itertools.product(range(3), range(3), (False, True)):
            cases.append(
                case(
                    "grid_sampler_2d.out",
                    x,
                    points,
                    mode,
                    padding,
                    align,
                    atol=3e-2 if x.dtype == F16 else 1e-4,
                )
            )
    return cases


def _stable(dim: int, descending: bool) -> Callable[..., Any]:
    """Equal values keep their order, which eager does not promise but the kernel does."""
    return lambda x: torch.sort(x, dim=dim, descending=descending, stable=True)


def _sorting() -> list[Case]:
    cases = []
    for dtype in [*REALS, BOOL]:
        for dim, descending in itertools.product((0, -1), (False, True)):
            x = t(5, 40, dtype=dtype, low=0 if dtype == U8 else -9, high=9)
            cases.append(
                case("sort.values", x, dim, descending, reference=_stable(dim, descending))
            )
    cases += [
        case("sort.values", SPECIAL, reference=_stable(0, False)),
        case("sort.values", SPECIAL, 0, True, reference=_stable(0, True)),
        case("sort.values", t()),
        case("sort.values", t(0, 3), 1), case("sort.values", t(2, 3, 4, 5, channels_last=True), 1),
    ]  # fmt: skip
    return cases


def _gradients() -> list[Case]:
    """Convolution's gradient: output, input, weight and numbers of one convolution each."""
    rows = [
        ((2, 4, 5, 6), (2, 3, 7, 8), (4, 3, 3, 3), [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
        ((2, 4, 4, 4), (2, 4, 7, 8), (4, 2, 3, 3), [2, 2], [1, 1], [1, 1], False, [0, 0], 2),
        ((1, 6, 3, 4), (1, 3, 7, 8), (6, 1, 3, 3), [1, 1], [0, 0], [2, 2], False, [0, 0], 3),
        ((2, 4, 5), (2, 3, 9), (4, 3, 3), [2], [1], [1], False, [0], 1),
        ((1, 2, 3, 3, 3), (1, 2, 4, 4, 4), (2, 2, 2, 2, 2), [1, 1, 1], [0, 0, 0], [1, 1, 1], False, [0, 0, 0], 1),
        ((2, 6, 9, 9), (2, 4, 4, 4), (4, 3, 3, 3), [2, 2], [0, 0], [1, 1], True, [0, 0], 2),
        ((1, 3, 8, 9), (1, 2, 4, 4), (2, 3, 3, 4), [2, 2], [1, 1], [1, 1], True, [1, 1], 1),
    ]  # fmt: skip
    cases = []
    for grad, x, weight, *numbers in rows:
        for dtype in (F32, F64):
            tensors = [t(*shape, dtype=dtype) for shape in (grad, x, weight)]
            cases.append(
                case(
                    "convolution_backward.out",
                    *tensors,
                    [grad[1]],
                    *numbers,
                    [True, True, True],
                    rtol=1e-4,
                    atol=1e-4,
                )
            )
    tensors = [t(*shape, channels_last=True) for shape in rows[0][:3]]
    cases.append(
        case(
            "convolution_backward.out",
            *tensors,
            [4],
            *rows[0][3:],
            [True, True, True],
            rtol=1e-4,
            atol=1e-4,
        )
    )
    return cases


def _norm_gradients() -> list[Case]:
    cases = []
    everything = [True, True, True]
    for dtype in (F32, F64):
        loose = {"rtol": 1e-4, "atol": 1e-5} if dtype == F32 else {}
        for weight in (t(20, dtype=dtype), None):
            x, g = t(6, 20, dtype=dtype), t(6, 20, dtype=dtype)
            row = t(6, 1, dtype=dtype)
            shift = None if weight is None else weight
            mask = everything if weight is not None else [True, False, False]
            if weight is not None:
                args = (g, x, [20], row, row, weight, shift, mask)
                cases.append(case("native_layer_norm_backward.out", *args, **loose))
        cases.append(
            case(
                "native_layer_norm_backward.out", t(3, 4, 5, dtype=dtype), t(3, 4, 5, dtype=dtype), [4, 5],
                t(3, 1, 1, dtype=dtype), t(3, 1, 1, dtype=dtype), t(4, 5, dtype=dtype), t(4, 5, dtype=dtype),
                everything, **loose,
            )
        )  # fmt: skip
        x = t(2, 6, 3, 4, dtype=dtype)
        for group in (1, 2, 6):
            row = t(2, group, dtype=dtype)
            args = (x, x, row, row, t(6, dtype=dtype), 2, 6, 12, group, everything)
            cases.append(case("native_group_norm_backward.out", *args, **loose))
    return cases


def _fourier() -> list[Case]:
    cases = []
    for dtype, pair in ((F32, torch.complex64), (F64, torch.complex128)):
        loose = {"rtol": 1e-4, "atol": 1e-4} if dtype == F32 else {"rtol": 1e-9, "atol": 1e-9}
        for n in (1, 2, 5, 8, 12, 31, 37, 64, 74, 97, 120):
            half = n // 2 + 1
            cases += [
                case("_fft_r2c.out", t(3, n, dtype=dtype), [1], 0, True, **loose),
                case("_fft_r2c.out", t(n, 2, dtype=dtype), [0], 1, False, **loose),
                case("_fft_c2r.out", t(3, half, dtype=pair), [1], 2, n, **loose),
                case("_fft_r2c.out", t(37, n, dtype=dtype), [1], 1, False, **loose),
                case("_fft_c2r.out", t(37, half, dtype=pair), [1], 0, n, **loose),
            ]
        cases += [
            case("_fft_r2c.out", t(3, 4, 6, dtype=dtype), [0, 2, 1], 2, True, **loose),
            case("_fft_c2r.out", t(3, 4, 6, dtype=pair), [0, 1, 2], 1, 10, **loose),
            case("_fft_r2c.out", t(2, 3, 4, 6, dtype=dtype, channels_last=True), [1, 3], 0, True, **loose),
            case("_fft_c2c.out", t(3, 37, dtype=pair), [1], 2, False, **loose),
            case("_fft_c2c.out", t(35, 38, dtype=pair), [1], 0, True, **loose),
            case("_fft_c2c.out", t(2, 42, 19, dtype=pair), [1], 1, False, **loose),
            case("_fft_c2c.out", t(2, 16, 20, dtype=pair), [0, 1, 2], 2, False, **loose),
            case("_fft_c2c.out", t(3, 4, 6, dtype=pair), [0, 2], 1, True, **loose),
        ]  # fmt: skip
    return cases


def _bags() -> list[Case]:
    cases = []
    at = vals(1, 2, 4, 5, 4, 3, 2, 9, dtype=I64)
    offsets = vals(0, 4, 4, dtype=I64)
    for dtype in FLOATS:
        w = t(10, 5, dtype=dtype)
        for mode in (0, 1, 2):
            for last in (False, True):
                for padding in (-1, 2):
                    starts = vals(0, 3, 8, dtype=I64) if last else offsets
                    args = (w, at, starts, False, mode, False, None, last, padding)
                    cases.append(case("_embedding_bag.out", *args))
        args = (w, at, offsets, False, 0, False, t(8, dtype=dtype))
        cases.append(case("_embedding_bag.out", *args))
        for options in ([-1, False], [4, True]):
            for index in (t(3, 4, dtype=I64, low=0, high=7), t(12, dtype=I32, low=0, high=7)):
                grad = t(*index.shape, 6, dtype=dtype)
                cases.append(case("embedding_dense_backward.out", grad, index, 8, *options))
    cases.append(
        case(
            "_embedding_bag.out",
            t(10, 3),
            vals(1, 1, 1, dtype=I32),
            vals(0, 2, dtype=I32),
            False,
            1,
        )
    )
    return cases


def _blocks() -> list[Case]:
    cases = []
    for dtype in (F32, F64, BF16):
        cases += [
            case("col2im.out", t(2, 12, 12, dtype=dtype), [4, 5], [2, 2], [1, 1], [0, 0], [1, 1]),
            case("col2im.out", t(18, 20, dtype=dtype), [7, 9], [3, 3], [1, 1], [1, 1], [2, 2]),
            case("col2im.out", t(1, 6, 9, dtype=dtype), [8, 5], [3, 1], [2, 1], [1, 0], [2, 2]),
        ]  # fmt: skip
    return cases


C64, C128 = torch.complex64, torch.complex128
# Every operator that takes complex numbers, with arguments after the first tensor.
_COMPLEX_UNARY = [*(n for n in _TO_FLOAT if n not in ("erf", "erfc")), "neg", "abs", "logical_not", "_conj_physical"]


def _complex() -> list[Case]:
    cases = []
    for dtype, real in ((C64, F32), (C128, F64)):
        x, y, r = t(3, 300, dtype=dtype), t(300, dtype=dtype), t(3, 300, dtype=real)
        cases += [case(f"{name}.out", x) for name in _COMPLEX_UNARY]
        for name in ("add", "sub", "mul", "div"):
            cases += [case(f"{name}.out", a, b) for a, b in ((x, y), (x, r), (r, x), (x, t(300, dtype=I32)))]
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
            case("masked_fill.Scalar_out", x, t(300, dtype=BOOL), 2), case("_conj_physical.out", r),
            case("gather.out", x, 1, t(3, 9, dtype=I64, low=0, high=300)),
            case("index_select.out", x, 1, t(4, dtype=I64, low=0, high=300)),
            case("mul.out", t(2, 3, 4, 5, dtype=dtype, channels_last=True), t(2, 3, 4, 5, dtype=dtype)),
            case("exp.out", t(dtype=dtype)), case("sum.IntList_out", t(0, 3, dtype=dtype), [0]),
        ]  # fmt: skip
    return cases


CASES: list[Case] = [
    *_unary(), *_binary(), *_reduce(), *_views(), *_conversions(), *_creation(), *_matmul(), *_convolution(), *_norms(),
    *_pools(), *_indexing(), *_resizing(), *_distances(), *_sorting(), *_gradients(), *_norm_gradients(),
    *_fourier(), *_bags(), *_blocks(), *_complex(),
]  # fmt: skip
