# SPDX-License-Identifier: BSD-3-Clause
"""What operations of an ML Program compute: arithmetic, reductions, products, windows, norms, attention, small weights.
Arguments are those of coremltools' documentation, floats as float32 and integers as int64."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from executorch.backends.test.conformance.backend import Unknown


def ints(value: Any) -> list[int]:
    return [int(each) for each in value.reshape(-1)]


def _of_one(function: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda x: function(x)


def _of_two(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    return lambda x, y: function(x, y)


def _real_div(x: Tensor, y: Tensor) -> Tensor:
    if not (x.is_floating_point() and y.is_floating_point()):
        raise Unknown("real_div of integers")
    return x / y


# ---- One value at a time ----


def _gelu(x: Tensor, mode: str = "EXACT") -> Tensor:
    if mode == "SIGMOID_APPROXIMATION":
        return x * torch.sigmoid(1.702 * x)
    return F.gelu(x, approximate="tanh" if mode == "TANH_APPROXIMATION" else "none")


def _by_channel(alpha: Tensor, x: Tensor) -> Tensor:
    return alpha.reshape(1, -1, *[1] * (x.dim() - 2))


_CASTS = {
    "fp16": torch.float16, "fp32": torch.float32, "int32": torch.int32, "bool": torch.bool, "int8": torch.int8,
    "uint8": torch.uint8, "int16": torch.int16, "uint16": torch.int32,
}  # fmt: skip


def _cast(x: Tensor, dtype: str) -> Tensor:
    return x.to(_CASTS[dtype])


_UNARY: dict[str, Callable[..., Any]] = {
    **{
        name: _of_one(getattr(torch, name))
        for name in (
            "abs acos asin atan atanh ceil cos cosh erf exp exp2 floor round sign sin sinh sqrt square tan tanh "
            "logical_not sigmoid"
        ).split()
    },
    **{name: _of_one(getattr(F, name)) for name in ("relu", "relu6", "silu", "softsign")},
    "softplus": lambda x: torch.logaddexp(x, torch.zeros_like(x)),
    "softplus_parametric": lambda x, alpha, beta: (
        _by_channel(alpha, x) * torch.log1p(torch.exp(_by_channel(beta, x) * x))
    ),
    "identity": lambda x: x,
    "cast": _cast,
    "gelu": _gelu,
    "rsqrt": lambda x, epsilon=1e-12: torch.rsqrt(x + epsilon),
    "log": lambda x, epsilon=1e-45: torch.log(x + epsilon),
    "inverse": lambda x, epsilon=1e-4: 1 / (x + epsilon),
    "clip": lambda x, alpha, beta: torch.minimum(torch.maximum(x, alpha), beta),
    "threshold": lambda x, alpha: torch.maximum(x, alpha),
    "leaky_relu": lambda x, alpha: torch.where(x >= 0, x, alpha * x),
    "elu": lambda x, alpha: torch.where(x >= 0, x, alpha * torch.expm1(x)),
    "prelu": lambda x, alpha: torch.where(x > 0, x, _by_channel(alpha, x) * x),
    "scaled_tanh": lambda x, alpha, beta: alpha * torch.tanh(beta * x),
    "sigmoid_hard": lambda x, alpha, beta: (alpha * x + beta).clamp(0, 1),
    "thresholded_relu": lambda x, alpha: torch.where(x >= alpha, x, torch.zeros_like(x)),
    "clamped_relu": lambda x, alpha, beta: torch.minimum(torch.where(x >= 0, x, alpha * x), beta),
    "linear_activation": lambda x, alpha, beta: alpha * x + beta,
    "softmax": lambda x, axis=-1: torch.softmax(x, int(axis)),
}

_BINARY: dict[str, Callable[..., Any]] = {
    name: _of_two(function)
    for name, function in {
        "add": torch.add, "sub": torch.sub, "mul": torch.mul, "maximum": torch.maximum, "minimum": torch.minimum,
        "pow": torch.pow, "mod": torch.remainder, "floor_div": torch.floor_divide, "real_div": _real_div,
        "equal": torch.eq, "not_equal": torch.ne, "greater": torch.gt, "greater_equal": torch.ge, "less": torch.lt,
        "less_equal": torch.le, "logical_and": torch.logical_and, "logical_or": torch.logical_or,
        "logical_xor": torch.logical_xor,
    }.items()
}  # fmt: skip

# ---- Along axes ----


def _reduced(function: Callable[[Tensor, list[int], bool], Tensor]) -> Callable[..., Tensor]:
    def compute(x: Tensor, axes: Any = None, keep_dims: Any = False) -> Tensor:
        dims = list(range(x.dim())) if axes is None else ints(axes)
        return function(x, dims, bool(keep_dims))

    return compute


def _product(x: Tensor, dims: list[int], keep: bool) -> Tensor:
    for dim in sorted((dim % x.dim() for dim in dims), reverse=True):
        x = x.prod(dim, keepdim=keep)
    return x


def _found_at(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda x, axis=-1, keep_dims=False, output_dtype="int32": function(
        x, int(axis), keepdim=bool(keep_dims)
    )


def _cumsum(x: Tensor, axis: Any = 0, exclusive: Any = False, reverse: Any = False) -> Tensor:
    dim = int(axis)
    x = x.flip(dim) if bool(reverse) else x
    found = x.cumsum(dim)
    found = found - x if bool(exclusive) else found
    return found.flip(dim) if bool(reverse) else found


_ALONG = {
    "reduce_max": _reduced(torch.amax),
    "reduce_min": _reduced(torch.amin),
    "reduce_sum": _reduced(torch.sum),
    "reduce_mean": _reduced(torch.mean),
    "reduce_prod": _reduced(_product),
    "reduce_l1_norm": _reduced(lambda x, dims, keep: x.abs().sum(dims, keep)),
    "reduce_l2_norm": _reduced(lambda x, dims, keep: x.square().sum(dims, keep).sqrt()),
    "reduce_sum_square": _reduced(lambda x, dims, keep: x.square().sum(dims, keep)),
    "reduce_log_sum": _reduced(lambda x, dims, keep: x.sum(dims, keep).log()),
    "reduce_log_sum_exp": _reduced(torch.logsumexp),
    "reduce_argmax": _found_at(torch.argmax),
    "reduce_argmin": _found_at(torch.argmin),
    "cumsum": _cumsum,
}

# ---- Products and windows ----


def _matmul(x: Tensor, y: Tensor, transpose_x: Any = False, transpose_y: Any = False) -> Tensor:
    x = x.mT if bool(transpose_x) else x
    return x @ (y.mT if bool(transpose_y) else y)


def _pads(kind: str, pad: Any, sizes: list[int], strides: list[int], spans: list[int]) -> list[int]:
    """Before and after each dimension; `spans`: what a window covers."""
    if kind == "valid":
        return [0] * 2 * len(sizes)
    if kind == "custom":
        return ints(pad)
    found: list[int] = []
    for size, stride, span in zip(sizes, strides, spans, strict=True):
        total = max((math.ceil(size / stride) - 1) * stride + span - size, 0)
        less = total // 2
        found += [less, total - less] if kind == "same" else [total - less, less]
    return found


def _padded(x: Tensor, pads: list[int], value: float = 0.0) -> Tensor:
    pairs = [pads[i : i + 2] for i in range(0, len(pads), 2)]
    return F.pad(x, [each for pair in reversed(pairs) for each in pair], value=value)


def _conv(
    x: Tensor, weight: Tensor, bias: Any = None, strides: Any = None, pad_type: str = "valid",
    pad: Any = None, dilations: Any = None, groups: Any = 1,
) -> Tensor:  # fmt: skip
    rank = x.dim() - 2
    stride = ints(strides) if strides is not None else [1] * rank
    dilation = ints(dilations) if dilations is not None else [1] * rank
    spans = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    x = _padded(x, _pads(pad_type, pad, list(x.shape[2:]), stride, spans))
    compute = (F.conv1d, F.conv2d, F.conv3d)[rank - 1]
    return compute(x, weight, bias, stride, 0, dilation, int(groups))


def _conv_transpose(
    x: Tensor, weight: Tensor, bias: Any = None, pad: Any = None, output_shape: Any = None,
    pad_type: str = "valid", strides: Any = None, dilations: Any = None, groups: Any = 1,
) -> Tensor:  # fmt: skip
    """Of what is padded, that much is cut off of the whole result."""
    if pad_type not in ("valid", "custom"):
        raise Unknown(f"conv_transpose with pad_type {pad_type}")
    rank = x.dim() - 2
    stride = ints(strides) if strides is not None else [1] * rank
    dilation = ints(dilations) if dilations is not None else [1] * rank
    compute = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[rank - 1]
    found = compute(x, weight, None, stride, 0, 0, int(groups), dilation)
    pads = ints(pad) if pad_type == "custom" else [0] * 2 * rank
    if output_shape is not None:
        wanted = ints(output_shape)[2:]
        sizes = zip(found.shape[2:], wanted, pads[::2], strict=True)
        ends = [size - want - before for size, want, before in sizes]
        pads = [each for pair in zip(pads[::2], ends, strict=True) for each in pair]
    found = _padded(found, [-each for each in pads])
    return found if bias is None else found + _by_channel(bias, found)


def _pooled(kind: str) -> Callable[..., Tensor]:
    def compute(
        x: Tensor, kernel_sizes: Any, strides: Any = None, pad_type: str = "valid", pad: Any = None,
        exclude_padding_from_average: Any = False, ceil_mode: Any = False,
    ) -> Tensor:  # fmt: skip
        kernel = ints(kernel_sizes)
        stride = ints(strides) if strides is not None else [1] * len(kernel)
        pads = _pads(pad_type, pad, list(x.shape[2:]), stride, kernel)
        if pads[::2] != pads[1::2]:
            if kind == "avg" and bool(exclude_padding_from_average):
                raise Unknown("avg_pool that leaves out uneven padding")
            x = _padded(x, pads, -math.inf if kind == "max" else 0.0)
            pads = [0] * len(pads)
        more = (
            {} if kind == "max" else {"count_include_pad": not bool(exclude_padding_from_average)}
        )
        function = getattr(F, f"{kind}_pool{len(kernel)}d")
        return function(x, kernel, stride, pads[::2], ceil_mode=bool(ceil_mode), **more)

    return compute


# ---- Norms and attention ----


def _batch_norm(
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    gamma: Any = None,
    beta: Any = None,
    epsilon: Any = 1e-5,
) -> Tensor:
    return F.batch_norm(x, mean, variance, gamma, beta, eps=float(epsilon))


def _instance_norm(x: Tensor, gamma: Any = None, beta: Any = None, epsilon: Any = 1e-5) -> Tensor:
    return F.instance_norm(x, weight=gamma, bias=beta, eps=float(epsilon))


def _layer_norm(
    x: Tensor, axes: Any = None, gamma: Any = None, beta: Any = None, epsilon: Any = 1e-5
) -> Tensor:
    dims = sorted(dim % x.dim() for dim in (range(x.dim()) if axes is None else ints(axes)))
    variance, mean = torch.var_mean(x, dims, correction=0, keepdim=True)
    found = (x - mean) / torch.sqrt(variance + epsilon)
    kept = [size if dim in dims else 1 for dim, size in enumerate(x.shape)]
    found = found if gamma is None else found * gamma.reshape(kept)
    return found if beta is None else found + beta.reshape(kept)


def _l2_norm(x: Tensor, epsilon: Any = 1e-6) -> Tensor:
    dims = list(range(max(x.dim() - 3, 0), x.dim()))
    return x / torch.sqrt(x.square().sum(dims, keepdim=True) + epsilon)


def _local_response_norm(
    x: Tensor, size: Any, alpha: Any = 1e-4, beta: Any = 0.75, k: Any = 1.0
) -> Tensor:
    return F.local_response_norm(x, int(size), float(alpha), float(beta), float(k))


def _attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Any = None) -> Tensor:
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if attn_mask is not None and attn_mask.dtype is torch.bool:
        scores = scores.masked_fill(~attn_mask, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return torch.softmax(scores, -1) @ value


# ---- Small weights ----


def _of_axis(value: Tensor, x: Tensor, axis: Any) -> Tensor:
    if value.dim() == 0 or value.numel() == 1:
        return value.reshape(())
    sizes = [1] * x.dim()
    sizes[int(axis)] = -1
    return value.reshape(sizes)


_LIMITS = {"int8": (-128, 127), "uint8": (0, 255)}


def _quantize(
    input: Tensor, scale: Tensor, output_dtype: str, zero_point: Any = None, axis: Any = None
) -> Tensor:
    scaled = torch.round(input / _of_axis(scale, input, axis))
    shifted = scaled if zero_point is None else scaled + _of_axis(zero_point, input, axis)
    return shifted.clamp(*_LIMITS[output_dtype])


def _dequantize(input: Tensor, scale: Tensor, zero_point: Any = None, axis: Any = None) -> Tensor:
    shifted = input if zero_point is None else input - _of_axis(zero_point, input, axis)
    return shifted * _of_axis(scale, input, axis)


def _affine(quantized_data: Tensor, zero_point: Tensor, scale: Tensor, axis: Any) -> Tensor:
    return _dequantize(quantized_data, scale, zero_point, axis)


def _spread(value: Tensor, sizes: Any) -> Tensor:
    """Each of `value` as often as a block of it has elements."""
    for dim, size in enumerate(sizes):
        value = value.repeat_interleave(size // value.shape[dim], dim)
    return value


def _blockwise(data: Tensor, scale: Tensor, offset: Any = None) -> Tensor:
    shifted = data if offset is None else data - _spread(offset, data.shape)
    return shifted * _spread(scale, data.shape)


def _palette(indices: Tensor, lut: Tensor, shape: Any = None, vector_axis: Any = None) -> Tensor:
    if shape is not None:
        return _packed_palette(indices, lut, ints(shape))
    if lut.shape[-1] != 1:
        raise Unknown("constexpr_lut_to_dense of vectors")
    entries = _spread(lut.squeeze(-1), (*indices.shape,))
    return entries.gather(-1, indices.unsqueeze(-1)).squeeze(-1)


def _packed_palette(indices: Tensor, lut: Tensor, shape: list[int]) -> Tensor:
    """Of iOS 16: places of so many bits as there are entries for, the lowest bits first."""
    bits = lut.numel().bit_length() - 1
    each = (indices.unsqueeze(-1) >> torch.arange(8)) & 1
    places = each.reshape(-1)[: math.prod(shape) * bits].reshape(-1, bits)
    return lut[(places << torch.arange(bits)).sum(-1)].reshape(shape)


OPERATIONS: dict[str, Callable[..., Any]] = {
    **_UNARY,
    **_BINARY,
    **_ALONG,
    "select": lambda cond, a, b: torch.where(cond.bool(), a, b),
    "linear": lambda x, weight, bias=None: F.linear(x, weight, bias),
    "matmul": _matmul,
    "einsum": lambda values, equation: torch.einsum(equation, *values),
    "conv": _conv,
    "conv_transpose": _conv_transpose,
    "max_pool": _pooled("max"),
    "avg_pool": _pooled("avg"),
    "batch_norm": _batch_norm,
    "instance_norm": _instance_norm,
    "layer_norm": _layer_norm,
    "l2_norm": _l2_norm,
    "local_response_norm": _local_response_norm,
    "scaled_dot_product_attention": _attention,
    "quantize": _quantize,
    "dequantize": _dequantize,
    "constexpr_affine_dequantize": _affine,
    "constexpr_blockwise_shift_scale": _blockwise,
    "constexpr_lut_to_dense": _palette,
}
