# SPDX-License-Identifier: BSD-3-Clause
"""Operators that compute: element by element, products and convolutions, norms, over axes and windows. Images are
NCHW."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from executorch.backends.samsung.test.reference.row import FLAG, NUMBER, WHOLE, Row, Several


def _expect(name: str, expected: object, found: object) -> None:
    if expected != found:
        raise ValueError(f"{name}: expected {expected}, found {found}")


def _prelu(x: Tensor, slope: Tensor) -> Tensor:
    """One slope, or one for each channel."""
    channels = x.shape[1] if x.dim() > 1 else 1
    if tuple(slope.shape) not in ((), (1,), (channels,)):
        raise ValueError(f"slopes: expected 1 or {channels}, found {tuple(slope.shape)}")
    each = slope.reshape([-1] + [1] * (x.dim() - 2)) if slope.numel() > 1 else slope
    return torch.where(x >= 0, x, x * each)


def _clip(x: Tensor, *, minimum: float, maximum: float) -> Tensor:
    if minimum > maximum:
        raise ValueError(f"limits in order, found {minimum} and {maximum}")
    return x.clamp(minimum, maximum)


# ---- Products ----


def _fc(
    x: Tensor, weight: Tensor, bias: Tensor | None = None, *, in_channels: int, out_channels: int
) -> Tensor:
    """Rows of `weight` are outputs."""
    _expect("weight", (out_channels, in_channels), tuple(weight.shape))
    return _biased(x @ weight.mT, bias, out_channels, -1)


def _biased(x: Tensor, bias: Tensor | None, count: int, dim: int) -> Tensor:
    if bias is None:
        return x
    _expect("bias", (count,), tuple(bias.shape))
    return x + bias.reshape([-1] + [1] * (-1 - dim))


def _batch_matmul(x: Tensor, y: Tensor) -> Tensor:
    _expect("batches", x.shape[:-2], y.shape[:-2])
    return x @ y


_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "RELU": lambda x: x.clamp(min=0),
    "RELU6": lambda x: x.clamp(0, 6),
}


def _conv(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, groups: int, is_depthwise: bool,
          explicit_padding: tuple[int, ...], **parameters: int) -> Tensor:  # fmt: skip
    """Filters [outputs, inputs of a group, height, width]."""
    channels = groups if is_depthwise else parameters["in_channels"]
    _check_channels(x, groups, is_depthwise, parameters)
    outputs = parameters["out_channels"]
    window = (parameters["kernel_h"], parameters["kernel_w"])
    _expect("filters", (outputs, channels // groups, *window), tuple(weight.shape))
    top, left, bottom, right = explicit_padding
    padded = F.pad(x, (left, right, top, bottom))
    steps = {
        name: (parameters[f"{name}_h"], parameters[f"{name}_w"]) for name in ("stride", "dilation")
    }
    return _biased(F.conv2d(padded, weight, None, groups=groups, **steps), bias, outputs, -3)


def _deconv(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, groups: int, is_depthwise: bool,
            explicit_padding: tuple[int, ...], **parameters: int) -> Tensor:  # fmt: skip
    """Filters [outputs of a group, inputs, height, width]; what explicit_padding says is cut off."""
    _check_channels(x, groups, is_depthwise, parameters)
    outputs = parameters["out_channels"]
    window = (parameters["kernel_h"], parameters["kernel_w"])
    wanted = (outputs // groups, parameters["in_channels"], *window)
    _expect("filters", wanted, tuple(weight.shape))
    steps = {
        name: (parameters[f"{name}_h"], parameters[f"{name}_w"]) for name in ("stride", "dilation")
    }
    full = F.conv_transpose2d(x, weight.transpose(0, 1), None, groups=groups, **steps)
    top, left, bottom, right = explicit_padding
    return _biased(F.pad(full, (-left, -right, -top, -bottom)), bias, outputs, -3)


def _check_channels(x: Tensor, groups: int, is_depthwise: bool, parameters: dict[str, int]) -> None:
    _expect("dimensions", 4, x.dim())
    _expect("channels", parameters["in_channels"], x.shape[1])
    if is_depthwise:
        _expect("groups of as many channels", x.shape[1], groups)


def _convolution(function: Callable[..., Tensor], is_depthwise: bool) -> Row:
    def run(*inputs: Tensor, activation: str = "", **parameters: int) -> Tensor:
        made = function(*inputs, is_depthwise=is_depthwise, **parameters)
        return _ACTIVATIONS[activation](made) if activation else made

    whole = (
        "kernel_h kernel_w stride_h stride_w dilation_h dilation_w groups in_channels out_channels"
    )
    parameters = dict.fromkeys(whole.split(), WHOLE)
    padding = {
        "padding": ("EXPLICIT",),
        "padding_type": ("CONSTANT",),
        "explicit_padding": Several(count=4),
    }
    optional = {"activation": tuple(_ACTIVATIONS)}
    return Row(run, (2, 3), {**parameters, **padding}, optional, data=1)


# ---- Norms, axes ----


def _batch_norm(x: Tensor, *data: Tensor, epsilon: float) -> Tensor:
    for each in data:
        _expect("numbers of channels", (x.shape[1],), tuple(each.shape))
    over = [-1] + [1] * (x.dim() - 2)
    weight, bias, mean, variance = (each.reshape(over) for each in data)
    return (x - mean) / (variance + epsilon).sqrt() * weight + bias


def _layer_norm(x: Tensor, weight: Tensor, bias: Tensor, *, epsilon: float) -> Tensor:
    """Over the last dimension."""
    for value in (weight, bias):
        _expect("numbers of the last dimension", (x.shape[-1],), tuple(value.shape))
    off = x - x.mean(-1, keepdim=True)
    return off / ((off * off).mean(-1, keepdim=True) + epsilon).sqrt() * weight + bias


def _mean(x: Tensor, *, axis: tuple[int, ...], keep_dims: bool) -> Tensor:
    _expect("axes, sorted", tuple(sorted({dim % x.dim() for dim in axis})), axis)
    return x.mean(axis, keepdim=keep_dims)


# ---- Windows ----


def _windows(x: Tensor, padding: tuple[int, ...], value: float, *, kernel_h: int, kernel_w: int, stride_h: int,
             stride_w: int, dilation_h: int = 1, dilation_w: int = 1) -> Tensor:  # fmt: skip
    """[batch, channels, rows, columns, elements of a window]"""
    top, left, bottom, right = padding
    padded = F.pad(x, (left, right, top, bottom), value=value)
    for dim, size, stride, dilation in (
        (2, kernel_h, stride_h, dilation_h),
        (3, kernel_w, stride_w, dilation_w),
    ):
        padded = padded.unfold(dim, (size - 1) * dilation + 1, stride)[..., ::dilation]
    return padded.flatten(4)


def _max_pool(x: Tensor, *, explicit_padding: tuple[int, ...], **parameters: int) -> Tensor:
    return _windows(x, explicit_padding, -torch.inf, **parameters).amax(-1)


def _average_pool(
    x: Tensor, *, explicit_padding: tuple[int, ...], count_include_pad: bool, **parameters: int
) -> Tensor:
    total = _windows(x, explicit_padding, 0.0, **parameters).sum(-1)
    counted = _windows(torch.ones_like(x), explicit_padding, float(count_include_pad), **parameters)
    return total / counted.sum(-1)


def _pool(
    function: Callable[..., Tensor], names: str, is_data_movement: bool = False, **more: object
) -> Row:
    whole = "kernel_h kernel_w stride_h stride_w " + names
    parameters = dict.fromkeys(whole.split(), WHOLE)
    padding = {"padding": ("EXPLICIT",), "explicit_padding": Several(count=4)}
    return Row(
        function, parameters={**parameters, **padding, **more}, is_data_movement=is_data_movement
    )


def _resized(is_bilinear: bool) -> Row:
    def run(
        x: Tensor,
        *,
        upsampling_factor: tuple[float, ...],
        align_corners: bool,
        half_pixel_centers: bool,
    ) -> Tensor:
        for dim, factor in zip((2, 3), upsampling_factor, strict=True):
            size = x.shape[dim]
            made = int(size * factor + 1e-6)
            step = (size - 1) / max(made - 1, 1) if align_corners else 1 / factor
            shift = 0.5 if half_pixel_centers and not align_corners else 0.0
            at = ((torch.arange(made, dtype=torch.float64) + shift) * step).clamp(min=0)
            x = _between(x, dim, at - shift) if is_bilinear else _nearest(x, dim, at)
        return x

    parameters = {
        "upsampling_factor": Several(NUMBER, 2),
        "align_corners": FLAG,
        "half_pixel_centers": FLAG,
    }
    return Row(run, parameters=parameters, says_quantized=False, is_data_movement=not is_bilinear)


def _between(x: Tensor, dim: int, at: Tensor) -> Tensor:
    at = at.clamp(0, x.shape[dim] - 1)
    low = at.floor().long()
    part = (at - low).to(x.dtype).reshape([-1] + [1] * (3 - dim))
    return x.index_select(dim, low) * (1 - part) + part * x.index_select(
        dim, (low + 1).clamp(max=x.shape[dim] - 1)
    )


def _nearest(x: Tensor, dim: int, at: Tensor) -> Tensor:
    return x.index_select(dim, (at + 1e-9).floor().long().clamp(max=x.shape[dim] - 1))


_LIMITS = {"minimum": NUMBER, "maximum": NUMBER}
_EPSILON = {"epsilon": NUMBER}
_AXIS = {"axis": WHOLE}
ROWS = {
    "ELTSUM": Row(torch.add, (2, 2)),
    "SUB": Row(torch.sub, (2, 2), says_quantized=False),
    "ELTMUL": Row(torch.mul, (2, 2)),
    "ELTDIV": Row(torch.div, (2, 2)),
    "MAXIMUM": Row(torch.maximum, (2, 2), says_quantized=False),
    "MIN": Row(torch.minimum, (2, 2), says_quantized=False),
    "RELU": Row(lambda x: x.clamp(min=0)),
    "CLIP": Row(_clip, parameters=_LIMITS),
    "GELU": Row(lambda x: x * (1 + torch.erf(x / 2**0.5)) / 2),
    "HARDSWISH": Row(lambda x: x * (x + 3).clamp(0, 6) / 6),
    "HardSigmoid": Row(lambda x: (x + 3).clamp(0, 6) / 6),
    "PRELU": Row(_prelu, (2, 2), data=1, says_quantized=False),
    "SQRT": Row(torch.sqrt, says_quantized=False),
    "RSQRT": Row(torch.rsqrt, says_quantized=False),
    "CONV2D": _convolution(_conv, False),
    "DWCONV2D": _convolution(_conv, True),
    "DECONV2D": _convolution(_deconv, False),
    "DWDECONV2D": _convolution(_deconv, True),
    "FC": Row(_fc, (2, 3), {"in_channels": WHOLE, "out_channels": WHOLE}, data=1),
    "BATCH_MATMUL": Row(_batch_matmul, (2, 2)),
    "BatchNormalization": Row(_batch_norm, (5, 5), _EPSILON, data=1, says_quantized=False),
    "LAYERNORM": Row(_layer_norm, (3, 3), _EPSILON, data=1),
    "SOFTMAX": Row(lambda x, axis: torch.softmax(x, axis), parameters=_AXIS),
    "LOGSOFTMAX": Row(
        lambda x, axis: torch.log_softmax(x, axis), parameters=_AXIS, says_quantized=False
    ),
    "REDUCEMEAN": Row(_mean, parameters={"axis": Several(), "keep_dims": FLAG}),
    "AVGPOOL2D": _pool(_average_pool, "", count_include_pad=FLAG),
    "MAXPOOL2D": _pool(_max_pool, "dilation_h dilation_w", is_data_movement=True),
    "RESIZE_BILINEAR": _resized(True),
    "RESIZE_NEAREST_NEIGHBOR": _resized(False),
}
