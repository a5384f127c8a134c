# SPDX-License-Identifier: BSD-3-Clause
"""Translations in place of the frontend's own, which are wrong for small or large numbers: by epsilons that coremltools
adds, by logarithms of what has become 0, or by squares that halves do not hold (a model in float16 has each value
between two operations in halves). Each takes the first arguments of its operator, in the schema's order.

before: log_softmax(x) = log(softmax(x) + 1e-45)     after: log_softmax(x) = d - log(sum(exp(d))), d = x - max(x)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from executorch.backends.apple.coreml.aot.library import ct

types = ct.converters.mil.mil.types
is_symbolic = types.symbolic.is_symbolic
is_current_opset_version_compatible_with = (
    ct.converters.mil.mil.block.is_current_opset_version_compatible_with
)


class _Builder:
    """coremltools' builder of operations, which refuses float32 beside halves. Numbers are of the dtype of what is
    computed, and so is data, which the frontend has in float32."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        build = getattr(ct.converters.mil.Builder, name)

        def made(**given: Any) -> Any:
            floats = [each for each in given.values() if _is_float(each)]
            floats.sort(key=lambda each: each.val is not None)  # data last
            number = types.nptype_from_builtin(floats[0].dtype) if floats else float
            return build(**{name: _as(number, each) for name, each in given.items()})

        return made


def _is_float(given: Any) -> bool:
    return isinstance(given, ct.converters.mil.mil.Var) and types.is_float(given.dtype)


def _as(number: Any, given: Any) -> Any:
    if type(given) is float:
        return number(given)
    return given.val.astype(number) if _is_float(given) and given.val is not None else given


mb = _Builder()
# Of softplus, what is beyond is the operand itself in float32: log(1 + exp(x)) - x is exp(-x).
_SOFT = 17.0


def _float(x: Any) -> Any:
    return x if types.is_float(x.dtype) else mb.cast(x=x, dtype="fp32")


# ---- Functions of one value ----


def reciprocal(x: Any) -> Any:
    return mb.real_div(x=1.0, y=_float(x))


def rsqrt(x: Any) -> Any:
    return mb.rsqrt(x=_float(x), epsilon=0.0)


def log(x: Any) -> Any:
    return mb.log(x=_float(x), epsilon=0.0)


def log2(x: Any) -> Any:
    return mb.mul(x=log(x), y=1 / math.log(2))


def log10(x: Any) -> Any:
    return mb.mul(x=log(x), y=1 / math.log(10))


def _near_zero(x: Any, near: Any, far: Any) -> Any:
    return mb.select(cond=mb.less(x=mb.abs(x=x), y=0.5), a=near, b=far)


def log1p(x: Any) -> Any:
    """1 + x forgets a small x: there 2 * atanh(x / (2 + x)) is the same."""
    x = _float(x)
    half = mb.atanh(x=mb.real_div(x=x, y=mb.add(x=x, y=2.0)))
    return _near_zero(x, mb.mul(x=half, y=2.0), log(mb.add(x=x, y=1.0)))


def expm1(x: Any) -> Any:
    """exp(x) - 1 forgets a small x: there 2 * t / (1 - t) with t = tanh(x / 2) is the same."""
    x = _float(x)
    t = mb.tanh(x=mb.mul(x=x, y=0.5))
    near = mb.real_div(x=mb.mul(x=t, y=2.0), y=mb.sub(x=1.0, y=t))
    return _near_zero(x, near, mb.sub(x=mb.exp(x=x), y=1.0))


def softplus(x: Any, beta: float, threshold: float) -> Any:
    """The frontend forgets the threshold."""
    scaled = x if beta == 1 else mb.mul(x=x, y=float(beta))
    soft = mb.softplus(x=scaled)
    soft = soft if beta == 1 else mb.mul(x=soft, y=1.0 / beta)
    if threshold >= _SOFT:
        return soft
    return mb.select(cond=mb.greater(x=scaled, y=float(threshold)), a=x, b=soft)


def logit(x: Any, eps: float | None) -> Any:
    """Limited behind the logarithm: 1 - eps is 1 in halves."""
    within = x if eps is None else mb.clip(x=x, alpha=0.0, beta=1.0)
    found = log(mb.real_div(x=within, y=mb.sub(x=1.0, y=within)))
    if eps is None:
        return found
    largest = math.log((1 - eps) / eps)
    return mb.clip(x=found, alpha=-largest, beta=largest)


def elu(x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    """The frontend's own reads the first of three numbers."""
    scaled = x if input_scale == 1 else mb.mul(x=x, y=float(input_scale))
    made = mb.elu(x=scaled, alpha=float(alpha))
    if input_scale != 1:
        made = mb.select(cond=mb.greater(x=x, y=0.0), a=x, b=made)
    return mb.mul(x=made, y=float(scale))


def selu(x: Any) -> Any:
    return elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1)


def atan2(y: Any, x: Any) -> Any:
    """The frontend shifts a small x, and has 0 for the angle of (0, -1)."""
    x, y = _float(x), _float(y)
    zero = mb.mul(x=mb.add(x=x, y=y), y=0.0)  # in the sizes of both
    x, y = mb.add(x=x, y=zero), mb.add(x=y, y=zero)
    pi = mb.add(x=zero, y=math.pi)
    turn = mb.select(cond=mb.less(x=y, y=0.0), a=mb.mul(x=pi, y=-1.0), b=pi)
    angle = mb.atan(x=mb.real_div(x=y, y=x))
    angle = mb.select(cond=mb.less(x=x, y=0.0), a=mb.add(x=angle, y=turn), b=angle)
    upright = mb.mul(x=mb.sign(x=y), y=math.pi / 2)
    return mb.select(cond=mb.equal(x=x, y=0.0), a=upright, b=angle)


def log_softmax(x: Any, dim: int) -> Any:
    below = mb.sub(x=x, y=mb.reduce_max(x=x, axes=[dim], keep_dims=True))
    return mb.sub(x=below, y=mb.reduce_log_sum_exp(x=below, axes=[dim], keep_dims=True))


# ---- Norms ----


def rms_norm(x: Any, shape: list[int], weight: Any, eps: float | None) -> Any:
    """x beside -x has the mean 0 and the variance of x's squares: a layer norm, whose inside is not in halves. (The
    frontend's own adds eps to squares of x / max, and divides by 0 for a row of zeros.)"""
    eps = torch.finfo(torch.float32).eps if eps is None else eps  # of halves, too
    both = mb.concat(values=[x, mb.mul(x=x, y=-1.0)], axis=x.rank - 1)
    normed = mb.layer_norm(x=both, axes=list(range(-len(shape), 0)), epsilon=float(eps))
    first, _ = mb.split(x=normed, num_splits=2, axis=x.rank - 1)
    return first if weight is None else mb.mul(x=first, y=weight)


def layer_norm(x: Any, shape: list[int], weight: Any, bias: Any, eps: float) -> Any:
    """The frontend's own has an eps of float32 beside halves."""
    given = {name: each for name, each in (("gamma", weight), ("beta", bias)) if each is not None}
    axes = list(range(-len(shape), 0))
    return mb.layer_norm(x=x, axes=axes, epsilon=float(eps), **given)


def native_layer_norm(x: Any, shape: list[int], weight: Any, bias: Any, eps: float) -> Any:
    return layer_norm(x, shape, weight, bias, eps), None, None


def group_norm(x: Any, groups: int, weight: Any, bias: Any, eps: float) -> Any:
    images, *image = x.shape
    shape = [images, groups, -1]
    if is_symbolic(images):
        shape = [-1, groups, math.prod(_known(image)) // groups]
    rows = mb.layer_norm(x=mb.reshape(x=x, shape=shape), axes=[-1], epsilon=float(eps))
    found = mb.reshape(x=rows, shape=mb.shape(x=x))
    of_channels = [1, -1] + [1] * (x.rank - 2)
    if weight is not None:
        found = mb.mul(x=found, y=mb.reshape(x=weight, shape=of_channels))
    return found if bias is None else mb.add(x=found, y=mb.reshape(x=bias, shape=of_channels))


def native_group_norm(x: Any, weight: Any, bias: Any, *sizes: Any) -> Any:
    *_, groups, eps = sizes
    return group_norm(x, groups, weight, bias, eps), None, None


def cosine_similarity(x: Any, y: Any, dim: int, eps: float) -> Any:
    """Each over its own norm. (The frontend's own has an eps of the product of both, squared.)"""

    def normed(each: Any) -> Any:
        norm = mb.reduce_l2_norm(x=each, axes=[dim], keep_dims=True)
        return mb.real_div(x=each, y=mb.maximum(x=norm, y=float(eps)))

    return mb.reduce_sum(x=mb.mul(x=normed(x), y=normed(y)), axes=[dim])


def _known(sizes: list[Any]) -> list[int]:
    if any(map(is_symbolic, sizes)):
        raise NotImplementedError("sizes that are known are expected")
    return [int(size) for size in sizes]


# ---- Attention ----


def attention(
    q: Any, k: Any, v: Any, mask: Any, dropout: float, is_causal: bool, scale: float | None, fewer: bool
) -> Any:  # fmt: skip
    """What sees nothing is 0, and what is not seen has no part, however large its score. (The frontend's own masks by
    -30000.) iOS 18 has it as one operation, without a scale."""
    if dropout or fewer:
        raise NotImplementedError("no dropout, and as many keys as queries are expected")
    mask = _seen_so_far(q, k) if is_causal else mask
    leading = {tuple(each.shape[:-2]) for each in (q, k, v)}
    is_one = scale is None and q.rank > 2 and len(leading) == 1
    if is_one and is_current_opset_version_compatible_with(ct.target.iOS18):
        found = mb.scaled_dot_product_attention(query=q, key=k, value=v, attn_mask=mask)
    else:
        scale = 1 / math.sqrt(_known(q.shape[-1:])[0]) if scale is None else scale
        scores = mb.matmul(x=mb.mul(x=q, y=float(scale)), y=k, transpose_y=True)
        if mask is not None:
            scores = mb.add(x=scores, y=_added(mask, scores))
        found = mb.matmul(x=mb.softmax(x=scores, axis=-1), y=v)
    sees = None if mask is None else _sees_any(mask)
    return found if sees is None else mb.select(cond=sees, a=found, b=0.0)


def _added(mask: Any, scores: Any) -> Any:
    if mask.dtype != types.bool:
        return mask
    return mb.cast(x=log(mask), dtype=types.builtin_to_string(scores.dtype))


def _seen_so_far(q: Any, k: Any) -> Any:
    """Of booleans [rows, rows before]."""
    rows, before = (mb.slice_by_index(x=mb.shape(x=x), begin=[-2], end=[-1]) for x in (q, k))
    all_true = mb.fill(shape=mb.concat(values=[rows, before], axis=0), value=True)
    return mb.band_part(x=all_true, lower=-1, upper=0)


def _sees_any(mask: Any) -> Any:
    """By row; None where that is known of all."""
    if mask.op is not None and mask.op.op_type == "band_part":
        return None
    if mask.dtype == types.bool:
        return mb.greater(x=mb.reduce_max(x=_float(mask), axes=[-1], keep_dims=True), y=0.5)
    return mb.greater(x=mb.reduce_max(x=mask, axes=[-1], keep_dims=True), y=-math.inf)


# ---- Resizing ----


def upsample_nearest(x: Any, sizes: Any, factors: Any) -> Any:
    """By places that PyTorch gives: Core ML has others where a size is no multiple."""
    counts = _known(x.shape[2:])
    for place, count in enumerate(counts):
        size, factor = (each if each is None else [each[place]] for each in (sizes, factors))
        line = torch.arange(count, dtype=torch.float32).reshape(1, 1, -1)
        places = torch.ops.aten.upsample_nearest1d.vec(line, size, factor).int().flatten()
        if places.tolist() != list(range(count)):
            x = mb.gather(x=x, indices=places.numpy(), axis=place + 2)
    return x


def upsample_nearest_by(x: Any, sizes: Any, *factors: Any) -> Any:
    return upsample_nearest(x, sizes, None if None in factors else factors)


TRANSLATIONS: dict[str, Callable[..., Any]] = {
    "reciprocal": reciprocal,
    "rsqrt": rsqrt,
    "log": log,
    "log2": log2,
    "log10": log10,
    "log1p": log1p,
    "expm1": expm1,
    "softplus": softplus,
    "elu": elu,
    "selu": selu,
    "atan2": atan2,
    "log_softmax": log_softmax,
    "_log_softmax": log_softmax,
    "logit": logit,
    "scaled_dot_product_attention": attention,
    "rms_norm": rms_norm,
    "layer_norm": layer_norm,
    "native_layer_norm": native_layer_norm,
    "group_norm": group_norm,
    "cosine_similarity": cosine_similarity,
    "native_group_norm": native_group_norm,
    "upsample_nearest1d": upsample_nearest_by,
    "upsample_nearest2d": upsample_nearest_by,
    "upsample_nearest1d.vec": upsample_nearest,
    "upsample_nearest2d.vec": upsample_nearest,
}
