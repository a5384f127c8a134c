# SPDX-License-Identifier: BSD-3-Clause
"""How far a result may be from the exact one: units in the last place (ULP) of its dtype, and for operators that add
many terms a bound of their own, from the number of terms and their magnitudes.

u is the unit of rounding of the arithmetic: 2^-24, as kernels add 16-bit floats in float32, and 2^-53 for float64.
Formulas are those of Higham, Accuracy and Stability of Numerical Algorithms, chapters 3 and 4, with small terms of
higher order left to the constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from executorch.codegen.schema import Schema
from kernels.test.exact import spacing, wide_call, widened
from kernels.test.known_differences import Arguments, arguments_of

# Of an elementwise operator. A kernel that computes in float32 and rounds once is at most one unit off in 16 bits.
# Float64 is compared with eager's float64, which errs as well.
ULPS = {
    torch.float16: 1, torch.bfloat16: 1, torch.float32: 4, torch.float64: 8,
    torch.complex64: 8, torch.complex128: 16,
}  # fmt: skip
# Results of 16 bits that equal the rounded exact one, at least: one that is cut off, not rounded, is met here.
ROUNDED_SHARE = 0.97


@dataclass(frozen=True)
class Setting:
    """A call, as a formula sees it."""

    schema: Schema
    values: list[Any]
    a: Arguments  # the values by name, floats as float64
    position: int  # of the result among the results
    exact: Tensor
    u: float
    half_unit: float  # of rounding to the result's dtype, where that has 16 bits; else 0

    def again(self, values: list[Any]) -> Tensor:
        return wide_call(self.schema, values)[self.position]

    @property
    def terms(self) -> float:
        """Elements of the first input for each of the result: those that a reduction adds."""
        x = self.a.get("self", self.a.get("input"))
        return x.numel() / max(self.exact.numel(), 1)


Formula = Callable[[Setting], Tensor]


@dataclass(frozen=True)
class Rule:
    """Operators, the formula of what is allowed, and what it follows from."""

    ops: str  # names without overload, or with it where overloads differ
    allowed: Formula
    why: str
    ulps: float | None = None  # instead of ULPS, on top of the formula
    rounded: float = ROUNDED_SHARE


def _most_elements(s: Setting) -> float:
    return max(v.numel() for v in s.a.values() if isinstance(v, Tensor))


def _nothing(s: Setting) -> Tensor:
    return torch.zeros(s.exact.shape, dtype=torch.float64)


def _of_magnitude(s: Setting) -> Tensor:
    """What the operator gives for the magnitudes of its inputs: the sum of the magnitudes of the terms."""

    def magnitude(v: Any) -> Any:
        if isinstance(v, Tensor) and v.dtype.is_floating_point:
            return v.abs()
        return abs(v) if isinstance(v, float) else v

    return s.again([magnitude(v) for v in s.values]).abs()


def _sum_of(terms: Callable[[Setting], float]) -> Formula:
    """(n + 4) u times the sum of magnitudes: any order of adding n products stays within."""
    return lambda s: (terms(s) + 4) * s.u * _of_magnitude(s)


def _along(name: str, dim: int) -> Callable[[Setting], float]:
    return lambda s: s.a[name].shape[dim] if s.a[name].dim() else 1


def _kernel_taps(s: Setting) -> float:
    weight = s.a["weight"]
    return weight.numel() / (s.a["groups"] if s.a["transposed"] else max(weight.shape[0], 1))


def _window_taps(s: Setting) -> float:
    kernel = s.a["kernel_size"]
    return math.prod(kernel) if len(kernel) > 1 else kernel[0] ** 3


def _all_of(*names: str) -> Callable[[Setting], float]:
    return lambda s: sum(s.a[n].numel() for n in names if isinstance(s.a.get(n), Tensor))


def _product(s: Setting) -> Tensor:
    """n factors: n u of the product."""
    return (s.terms + 1) * s.u * s.exact.abs()


def _softmax(s: Setting) -> Tensor:
    """exp(x - max) errs by u |x - max|, their sum by n u: relative to the result."""
    x = s.a["self"]
    n = x.shape[s.a["dim"]] if x.dim() else 1
    below = (x - x.amax(s.a["dim"], keepdim=True)).abs().nan_to_num(0.0, 0.0, 0.0)
    return (n + 8 + 2 * below) * s.u * s.exact.abs()


def _log_softmax(s: Setting) -> Tensor:
    """x - max - log(sum): u of each number that is added, n u of the sum's logarithm."""
    x = s.a["self"]
    n = x.shape[s.a["dim"]] if x.dim() else 1
    top = x.amax(s.a["dim"], keepdim=True)
    return s.u * (n + 8 + 2 * (x.abs() + top.abs() + (x - top).abs()).nan_to_num(0.0, 0.0, 0.0))


def _conditioned(terms: Callable[[Setting], float]) -> Formula:
    """A stable way gives the exact result of inputs that are (n + 8) u off: as far as eight drawn changes of inputs
    by u move the result, (n + 8) times."""

    def allowed(s: Setting) -> Tensor:
        generator = torch.Generator().manual_seed(1)

        def moved(v: Any) -> Any:
            if isinstance(v, list):
                return [moved(one) for one in v]
            if not isinstance(v, Tensor) or not (v.dtype.is_floating_point or v.dtype.is_complex):
                return v
            wide = widened(v)
            sign = torch.randint(0, 2, v.shape, generator=generator) * 2.0 - 1.0
            return wide * (1 + sign * 2**-24)

        scale = s.u / 2**-24
        furthest = _nothing(s)
        for _ in range(8):
            change = (s.again([moved(v) for v in s.values]) - s.exact).abs()
            furthest = torch.maximum(furthest, change.nan_to_num(0.0, 0.0, 0.0))
        return (terms(s) + 8) * scale * furthest

    return allowed


def _variance(s: Setting) -> Tensor:
    """Of n numbers with the mean square q: (n + 8) u (v + 2 sqrt(q v)), as differences from the mean err by u of the
    numbers that they are of, and n / (n - ddof) times the square of the mean's error, (n + 8) u sqrt(q)."""
    x, dim = s.a["self"], s.a.get("dim")
    dims = dim or list(range(x.dim()))
    keep = s.a.get("keepdim", False)
    if s.position == 1:  # var_mean's mean
        return (s.terms + 4) * s.u * (x.abs().mean(dims, keep) if dims else x.abs())
    square = (x * x).mean(dims, keep) if dims else x * x
    error = (s.terms + 8) * s.u
    v = s.exact.clamp(min=0)
    share = v / (x.var(dims, correction=0, keepdim=keep) if dims else v)  # n / (n - ddof)
    return error * (v + 2 * (square * v).sqrt()) + share.nan_to_num(1.0) * error**2 * square


def _magnitude_of_argument(s: Setting) -> Tensor:
    """x times a factor of 0 to 1 that is made of a sum with 1, which errs by u: 4 u |x|."""
    return 4 * s.u * s.a["self"].abs()


def _of_logarithm(s: Setting) -> Tensor:
    """exp(q) of the logarithm q: q errs by u |q|, and near 1 the result is 1 less what errs by u."""
    return s.u * (4 + 2 * s.exact.abs().log().abs()) * s.exact.abs()


def _of_odds(s: Setting) -> Tensor:
    """log(p / (1 - p)): 1 - p and the ratio err by u each, and the logarithm by as much in absolute terms."""
    return torch.full_like(s.exact, 3 * s.u)


def _length_of_complex(s: Setting) -> Tensor:
    """Two units for a complex number; of a real one as it is."""
    return (2 * s.u if s.a["self"].dtype.is_complex else 0) * s.exact.abs()


def _sum_with_factor(s: Setting) -> Tensor:
    """x + alpha y: the product is rounded before it is added, and may be near -x."""
    alpha = s.a.get("alpha", 1)
    if alpha == 1:
        return _nothing(s)
    product = (torch.as_tensor(s.a["other"]) * abs(alpha)).abs()
    rsub = s.schema.name == "rsub"
    product = s.a["self"].abs() * abs(alpha) if rsub else product
    return (2 * s.u * product).expand(s.exact.shape)


def _powers(s: Setting) -> Tensor:
    """exp(y log x): y log x errs by u of itself."""
    return 2 * s.u * s.exact.abs() * s.exact.abs().log().abs().nan_to_num(0.0, 0.0, 0.0)


def _moments(s: Setting) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of a norm's forward pass: input, mean, 1 / sqrt(variance + eps) and weight, in shapes that broadcast."""
    x, a = s.a["input"], s.a
    _, mean, rstd, *_ = wide_call(s.schema, s.values)
    weight = torch.ones((), dtype=torch.float64) if a["weight"] is None else a["weight"]
    if "layer" in s.schema.name:
        return x, mean, rstd, weight
    rows = [1, x.shape[1], *[1] * (x.dim() - 2)]
    weight = weight.reshape(rows) if weight.dim() else weight
    if "group" in s.schema.name:
        each = a["C"] // a["group"]
        shape = [x.shape[0], *rows[1:]]
        mean, rstd = (t.repeat_interleave(each, 1).reshape(shape) for t in (mean, rstd))
        return x, mean, rstd, weight
    if not mean.numel():
        mean, rstd = a["running_mean"], (a["running_var"] + a["eps"]).rsqrt()
    return x, mean.reshape(rows), rstd.reshape(rows), weight


def _norm(s: Setting) -> Tensor:
    """(x - m) r w + b with n numbers for a mean m, of mean square q = v + m^2: m errs by n u sqrt(q), x - m by u of
    both, r by half of what v errs by (_variance), over v + eps. Also where it is x (r w) + (b - m r w)."""
    x, mean, rstd, weight = _moments(s)
    n = x.numel() / max(mean.numel(), 1) + 8
    q = (rstd**-2 + mean**2).sqrt()
    if s.position == 0:
        return n * s.u * rstd * weight.abs() * (x.abs() + q) * (1 + q * rstd)
    found = q if s.position == 1 else rstd * (1 + 2 * q * rstd)
    if s.position > 2:  # a running mean or variance
        return n * s.u * (s.exact.abs() + (q**2 + q).reshape(-1))
    return (
        (n * s.u * found).expand(mean.shape).reshape(-1)[: s.exact.numel()].reshape(s.exact.shape)
    )


def _batch_norm(s: Setting) -> Tensor:
    """As _norm(); in 16 bits by the statistics that are given back, whose rounding moves the result by their unit
    of |m| r w and of the result, less its bias."""
    if s.exact.numel() == 0:
        return _nothing(s)
    extra = _norm(s)
    if s.position or not s.half_unit:
        return extra
    x, mean, rstd, weight = _moments(s)
    return extra + s.half_unit * rstd * weight.abs() * ((x - mean).abs() + mean.abs())


def _added_in_place(s: Setting) -> Tensor:
    """n numbers added one by one in the result's own dtype, as no memory is asked for: n of its units of their
    magnitudes. n is what the operator gives for ones that are added to zeros."""
    first = s.schema.arguments[0].name

    def count(name: str, v: Any) -> Any:
        is_float = isinstance(v, Tensor) and v.dtype.is_floating_point
        return torch.full_like(v, float(name != "self" or first != "self")) if is_float else v

    names = [a.name for a in s.schema.arguments]
    n = s.again([count(name, v) for name, v in zip(names, s.values, strict=False)]).abs()
    return (n + 1) * max(s.u, s.half_unit) * _of_magnitude(s)


def _gradients_of_pool(s: Setting) -> Tensor:
    """At most as many gradients as a window has places, four without one, added in the result's own dtype, as no memory
    is asked for: its unit of their magnitudes each."""
    kernel = s.a.get("kernel_size", [2, 2])
    n = math.prod(kernel) if len(kernel) > 1 else kernel[0] ** 2
    return (n + (0 if s.half_unit else 4)) * max(s.u, s.half_unit) * _of_magnitude(s)


RULES = [
    Rule("alias_copy as_strided_copy cat clone constant_pad_nd copy copy_ detach_copy diagonal_copy embedding"
         " expand_copy fill flip full full_like gather index index_copy index_select lift_fresh_copy masked_fill"
         " masked_scatter masked_select narrow_copy ones permute_copy pixel_shuffle pixel_unshuffle"
         " reflection_pad1d reflection_pad2d reflection_pad3d repeat repeat_interleave replication_pad1d"
         " replication_pad2d replication_pad3d roll scatter select_copy select_scatter slice_copy slice_scatter"
         " split_copy split_with_sizes_copy squeeze_copy stack t_copy transpose_copy tril unbind_copy unfold_copy"
         " unsqueeze_copy upsample_nearest2d view_copy view_as_complex_copy view_as_real_copy where zeros _to_copy"
         " scalar_tensor _conj_physical", _nothing, "moves: elements as they are, rounded once to another dtype", 0),
    Rule("abs", _length_of_complex, "exact, but the length of a complex number", 0),
    Rule("add sub rsub", _sum_with_factor, "a product and a sum"),
    Rule("gelu", _magnitude_of_argument, "x times a probability, which is small by a difference from 1"),
    Rule("erfc", _of_logarithm, "exp of a fit of the logarithm"),
    Rule("logit", _of_odds, "the logarithm of a ratio near 1"),
    Rule("pow", _powers, "exp of a product with a logarithm"),
    Rule("neg sign ceil floor round trunc relu clamp maximum minimum max min amax amin max_pool2d_with_indices"
         " max_pool3d_with_indices fmod", _nothing, "one of the arguments, or exact by its definition", 0),
    Rule("sum mean", _sum_of(lambda s: s.terms), "sums"),
    Rule("mm", _sum_of(_along("self", -1)), "sums of products"),
    Rule("bmm", _sum_of(_along("self", -1)), "sums of products"),
    Rule("addmm", _sum_of(_along("mat1", -1)), "sums of products"),
    Rule("linear", _sum_of(_along("input", -1)), "sums of products"),
    Rule("convolution", _sum_of(_kernel_taps), "sums of products"),
    Rule("avg_pool1d avg_pool2d avg_pool3d", _sum_of(_window_taps), "sums over a window"),
    Rule("adaptive_avg_pool1d _adaptive_avg_pool2d _adaptive_avg_pool3d cumsum", _sum_of(_all_of("self")), "sums"),
    Rule("avg_pool2d_backward max_pool2d_with_indices_backward _adaptive_avg_pool2d_backward", _gradients_of_pool,
         "sums over the windows that overlap, in 16 bits as eager's", rounded=0.4),
    Rule("col2im", _sum_of(_all_of("self")), "sums over the windows that overlap"),
    Rule("embedding_dense_backward index_put index_put_", _added_in_place,
         "sums over the places of an index, in 16 bits as eager's", rounded=0.6),
    Rule("scatter_add", _sum_of(_all_of("src")), "sums over the places of an index"),
    Rule("_embedding_bag", _sum_of(_all_of("indices")), "sums over a bag"),
    Rule("upsample_bilinear2d _upsample_bilinear2d_aa", _sum_of(_all_of("self", "input")), "weighted sums"),
    Rule("prod", _product, "products"),
    Rule("_softmax", _softmax, "exponentials over their sum"),
    Rule("_log_softmax", _log_softmax, "a difference of logarithms"),
    Rule("var var_mean", _variance, "squares of differences from the mean"),
    Rule("native_layer_norm native_group_norm", _norm, "differences from a mean, over a deviation"),
    Rule("_native_batch_norm_legit _native_batch_norm_legit_no_training", _batch_norm,
         "the same; in 16 bits by statistics of 16 bits, as eager's", rounded=0.6),
    Rule("native_group_norm_backward", _conditioned(_most_elements),
         "several sums, whose small results are differences of large ones", rounded=0.93),
    Rule("convolution_backward native_layer_norm_backward"
         " scaled_dot_product_attention _cdist_forward _pdist_forward scatter_reduce grid_sampler_2d"
         " _fft_r2c _fft_c2r _fft_c2c", _conditioned(_most_elements),
         "several sums, one on another"),
]  # fmt: skip
_RULES = {op: rule for rule in RULES for op in rule.ops.split()}
ELEMENTWISE = Rule("", _nothing, "elementwise: one function of the elements at a place")


def rule_of(schema: Schema) -> Rule:
    return _RULES.get(f"{schema.name}.{schema.overload}", _RULES.get(schema.name, ELEMENTWISE))


def allowance(
    schema: Schema, values: list[Any], position: int, exact: Tensor, dtype: torch.dtype
) -> Tensor:
    """How far each element of a result may be from the exact one."""
    rule = rule_of(schema)
    half = dtype in (torch.float16, torch.bfloat16, torch.float32, torch.complex64)
    u = 2.0**-24 if half else 2.0**-52
    named = {name: widened(v) for name, v in arguments_of(schema, values).items()}
    half_unit = {torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}.get(dtype, 0.0)
    setting = Setting(schema, values, named, position, exact, u, half_unit)
    ulps = ULPS[dtype] if rule.ulps is None else rule.ulps
    extra = rule.allowed(setting).nan_to_num(0.0, 0.0, 0.0)
    return ulps * spacing(exact, dtype) + extra
