# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions and matmuls. Quantized, sums are INT32, or INT48 of INT16 values, and rescaled once by
channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch import Tensor
from torch.fx import Node

from executorch.backends.arm.aot.writer import TosaWriter
from executorch.exir.backend.lowering.layout import NHWC, PLAIN, in_layout
from executorch.exir.backend.lowering.mode_steps import ModeStep as Step
from executorch.exir.backend.lowering.quantized import is_dequantize, quantization_of, weight_of
from executorch.exir.graph_facts import op_name, static_sizes


@dataclass
class Weights:
    """`data` as it is stored, with output channels first, of `dtype` where it is quantized; `scales`: of float weights
    None, else one or one for each channel; `bias` in the unit of sums."""

    data: Tensor
    bias: Tensor
    scales: Tensor | None = None
    dtype: str = "INT8"

    def part(self, data: Tensor, rows: slice) -> Weights:
        """Of some output channels."""
        has_one = self.scales is None or self.scales.numel() == 1
        scales = self.scales if has_one else self.scales[rows]
        return Weights(data, self.bias[rows], scales, self.dtype)


def weights_of(
    w: TosaWriter, step: Step, weight: Node, bias: Node | None, channels: int
) -> Weights:
    """With the batch norm behind it, if there is one."""
    if not step.is_quantized:
        data = w.constants[weight].detach()
        numbers = torch.zeros(channels, dtype=data.dtype) if bias is None else w.constants[bias]
        return _with_norm(w, step, Weights(data, numbers.detach()))
    qparams = weight_of(weight, w.constants)
    source = w.qparams_of(step.head.args[0])
    scales = qparams.scale
    if scales.numel() > 1:  # of a transposed convolution those of one group, which all groups have
        scales = scales.repeat(channels // scales.numel())
    unit = scales.double() * source.scale
    if bias is None:
        numbers = torch.zeros(channels, dtype=torch.int64)
    elif is_dequantize(bias) and quantization_of(bias).dtype == torch.int32:
        numbers = w.constants[quantization_of(bias).source].detach().long()
    else:
        numbers = torch.round(w.constants[bias].detach().double() / unit).long()
    is_small = quantization_of(weight).bits <= 4 and w.spec.support_extension("int4")
    return Weights(qparams.source, numbers, scales, "INT4" if is_small else "INT8")


def _with_norm(w: TosaWriter, step: Step, weights: Weights) -> Weights:
    norm = step.batch_norm
    if norm is None:
        return weights
    scale, shift = norm_numbers(w, norm)
    data = weights.data
    by_channel = scale if not _is_transposed(step.head) else _by_group(scale, step.head, data)
    shape = (*by_channel.shape[:2], *(1,) * (data.dim() - by_channel.dim()))
    return Weights(
        data * by_channel.reshape(shape).to(data.dtype),
        (weights.bias * scale + shift).to(data.dtype),
    )


def _is_transposed(head: Node) -> bool:
    return op_name(head) == "aten.convolution.default" and head.args[6]


def _by_group(scale: Tensor, head: Node, data: Tensor) -> Tensor:
    """By input channel and output channel of its group, as a transposed convolution's weight lies."""
    groups = head.args[8]
    return scale.reshape(groups, -1).repeat_interleave(data.shape[0] // groups, 0)


def norm_numbers(w: TosaWriter, norm: Node) -> tuple[Tensor, Tensor]:
    """x * first + second, by channel."""
    _, gamma, beta, mean, var, _, eps = norm.args
    mean, var = (w.constants[each].detach().double() for each in (mean, var))
    scale = torch.rsqrt(var + eps)
    if gamma is not None:
        scale = scale * w.constants[gamma].detach().double()
    shift = -mean * scale
    if beta is not None:
        shift = shift + w.constants[beta].detach().double()
    return scale, shift


def finished(w: TosaWriter, step: Step, sums: int, weights: Weights) -> int:
    """Sums as the result of the step, within its limits."""
    if not step.is_quantized:
        return sums
    unit = weights.scales.double() * w.qparams_of(step.head.args[0]).scale
    return w.narrowed(sums, unit.tolist() if unit.numel() > 1 else float(unit))


@dataclass
class Window:
    """Of a convolution, by dimension of the image."""

    stride: list[int]
    padding: list[int]
    dilation: list[int]

    def fitted(self, sizes: Sequence[int], taps: Sequence[int]) -> tuple[list[int], list[int]]:
        """Padding before and after, and how many values at the end no window reads: TOSA wants none."""
        ends, unread = [], []
        for stride, pad, gap, size, tap in zip(
            self.stride, self.padding, self.dilation, sizes, taps, strict=True
        ):
            rest = (size + 2 * pad - gap * (tap - 1) - 1) % stride
            ends += [pad, max(0, pad - rest)]
            unread.append(max(0, rest - pad))
        return ends, unread


def convolution(w: TosaWriter, step: Step) -> None:
    source, weight, bias, stride, padding, dilation, transposed, out_padding, groups = (
        step.head.args
    )
    rank = source.meta["val"].dim()
    x = w.take(source)
    if transposed:
        made = _transposed(w, step, x)
    else:
        channels = static_sizes(step.head)[1]
        weights = weights_of(w, step, weight, bias, channels)
        window = Window(*(_all(each, rank - 2) for each in (stride, padding, dilation)))
        if rank == 3:
            x = w.reshape(x, (w.shape(x)[0], 1, *w.shape(x)[1:]))
            weights.data = weights.data.unsqueeze(2)
            window = Window([1, *window.stride], [0, *window.padding], [1, *window.dilation])
        made = _grouped(w, step, x, weights, window, groups)
    w.set_result(w.reshape(made, in_layout(static_sizes(step.head), NHWC)))


def _all(numbers: Sequence[int], count: int) -> list[int]:
    return list(numbers) if len(numbers) == count else [numbers[0]] * count


def _grouped(
    w: TosaWriter, step: Step, x: int, weights: Weights, window: Window, groups: int
) -> int:
    if w.spec.is_U55_subset and max(window.stride) > 3:
        x, window = _padded_before(w, step, x, window)
    taps = weights.data.shape[2:]
    sizes = w.shape(x)[1:-1]
    ends, unread = window.fitted(sizes, taps)
    for place, count in enumerate(unread):
        x = w.slice_axis(x, place + 1, 0, sizes[place] - count)
    attributes = {"pad": ends, "stride": window.stride, "dilation": window.dilation}
    channels = w.shape(x)[-1]
    if groups == 1:
        op = "CONV3D" if len(taps) == 3 else "CONV2D"
        order = [0, *range(2, weights.data.dim()), 1]
        data = weights.data.permute(order)
        return finished(w, step, _sums(w, step, op, x, weights, data, attributes, window), weights)
    if groups == channels and len(taps) == 2:
        times = weights.data.shape[0] // channels
        data = weights.data.reshape(channels, times, *taps).permute(2, 3, 0, 1)
        sums = _sums(w, step, "DEPTHWISE_CONV2D", x, weights, data, attributes, window)
        return finished(w, step, sums, weights)
    parts = []
    inside, outside = channels // groups, weights.data.shape[0] // groups
    for group in range(groups):
        rows = slice(group * outside, (group + 1) * outside)
        part = weights.part(weights.data[rows], rows)
        piece = w.slice_axis(x, w.rank(x) - 1, group * inside, inside)
        parts.append(_grouped(w, step, piece, part, window, 1))
    return w.concat(parts, w.rank(x) - 1)


def _padded_before(w: TosaWriter, step: Step, x: int, window: Window) -> tuple[int, Window]:
    """Ethos-U55 takes long strides without padding."""
    ends = [(0, 0), *((each, each) for each in window.padding), (0, 0)]
    zero = w.qparams_of(step.head.args[0]).zero_point if step.is_quantized else 0
    return w.pad(x, ends, zero), Window(window.stride, [0] * len(window.padding), window.dilation)


def _sums(
    w: TosaWriter,
    step: Step,
    op: str,
    x: int,
    weights: Weights,
    data: Tensor,
    attributes: Mapping[str, Any],
    window: Window,
) -> int:
    taps = data.shape[:2] if op == "DEPTHWISE_CONV2D" else data.shape[1:-1]
    out = [w.shape(x)[0]]
    for place, tap in enumerate(taps):
        size = w.shape(x)[place + 1] + sum(attributes["pad"][2 * place : 2 * place + 2])
        out.append((size - window.dilation[place] * (tap - 1) - 1) // window.stride[place] + 1)
    out.append(len(weights.bias))
    return _gemm(w, step, op, x, data, weights, out, attributes)


def _gemm(
    w: TosaWriter,
    step: Step,
    op: str,
    x: int,
    data: Tensor,
    weights: Weights,
    sizes: Sequence[int],
    attributes: Mapping[str, Any],
) -> int:
    """Sums of an operator that has weights; `data` lies as it reads them."""
    kind = w.dtype(x)
    sum_name, acc_type = w.accumulator(kind)
    is_float = not step.is_quantized
    result = kind if is_float else sum_name
    weight_type = kind if is_float else weights.dtype
    zero = 0 if is_float else w.qparams_of(step.head.args[0]).zero_point
    inputs = [
        x,
        w.const(data.contiguous(), weight_type, f"{step.head.name}_weight"),
        w.const(weights.bias, result, f"{step.head.name}_bias"),
        w.one(zero, kind),
        w.one(0, weight_type),
    ]
    return w.emit(op, inputs, sizes, result, local_bound=False, acc_type=acc_type, **attributes)


def _transposed(w: TosaWriter, step: Step, x: int) -> int:
    _, weight, bias, stride, padding, _, _, out_padding, groups = step.head.args
    channels = static_sizes(step.head)[1]
    stride, padding, out_padding = (_all(each, 2) for each in (stride, padding, out_padding))
    weights = weights_of(w, step, weight, bias, channels)
    data = weights.data  # [inputs, outputs / groups, rows, columns]
    out_pad = []
    for pad, extra in zip(padding, out_padding, strict=True):
        out_pad += [-pad, extra - pad]
    inside, outside = data.shape[0] // groups, data.shape[1]
    sizes = in_layout(static_sizes(step.head), NHWC)[:3]
    attributes = {"out_pad": out_pad, "stride": stride}
    parts = []
    for group in range(groups):
        piece = w.slice_axis(x, 3, group * inside, inside)
        rows = data[group * inside : (group + 1) * inside]
        part = weights.part(rows.permute(1, 2, 3, 0), slice(group * outside, (group + 1) * outside))
        wanted = (*sizes, outside)
        sums = _gemm(w, step, "TRANSPOSE_CONV2D", piece, part.data, part, wanted, attributes)
        parts.append(finished(w, step, sums, part))
    return w.concat(parts, 3)


# ---- Linear layers and products ----


def linear(w: TosaWriter, step: Step) -> None:
    """A convolution of one tap over a row of positions."""
    source, weight, *rest = step.head.args
    _linear(w, step, source, weight, rest[0] if rest else None)


def addmm(w: TosaWriter, step: Step) -> None:
    """bias + x @ y."""
    bias, x, y = step.head.args[:3]
    beta, alpha = (step.head.kwargs.get(each, 1) for each in ("beta", "alpha"))
    made = _product(w, step, x, y)
    if alpha != 1:
        made = w.with_number("MUL", made, alpha)
    added = w.read(bias, PLAIN)
    if beta != 1:
        added = w.with_number("MUL", added, beta)
    made = w.binary("ADD", made, added)
    w.set_result(made)


def _linear(w: TosaWriter, step: Step, source: Node, weight: Node, bias: Node | None) -> None:
    sizes = static_sizes(step.head)
    x = w.read(source, PLAIN)
    inside = w.shape(x)[-1]
    if weight not in w.constants:
        _varying_linear(w, step, x, weight, bias)
        return
    weights = weights_of(w, step, weight, bias, sizes[-1])
    x = w.reshape(x, (1, 1, w.num_elements(x) // inside, inside))
    data = weights.data.reshape(sizes[-1], 1, 1, inside)
    window = Window([1, 1], [0, 0], [1, 1])
    attributes = {"pad": [0] * 4, "stride": [1, 1], "dilation": [1, 1]}
    sums = _sums(w, step, "CONV2D", x, weights, data, attributes, window)
    w.set_result(w.reshape(finished(w, step, sums, weights), sizes))


def _varying_linear(w: TosaWriter, step: Step, x: int, weight: Node, bias: Node | None) -> None:
    """Of float weights that are computed."""
    y = w.permute(w.read(weight, PLAIN), [1, 0])
    x3 = w.reshape(x, (1, w.num_elements(x) // w.shape(x)[-1], w.shape(x)[-1]))
    made = w.matmul(x3, w.reshape(y, (1, *w.shape(y))))
    made = w.reshape(made, static_sizes(step.head))
    if bias is not None:
        made = w.binary("ADD", made, w.read(bias, PLAIN))
    w.set_result(made)


def matmul(w: TosaWriter, step: Step) -> None:
    x, y = step.head.args
    made = _product(w, step, x, y)
    w.set_result(made)


def _product(w: TosaWriter, step: Step, x: Node, y: Node) -> int:
    """Of matrices, or of as many as both have."""
    sizes = static_sizes(step.head)
    left, right = (_batched(w, w.read(each, PLAIN), sizes[:-2]) for each in (x, y))
    if not step.is_quantized:
        return w.reshape(w.matmul(left, right), sizes)
    qparams = [w.qparams_of(each) for each in (x, y)]
    sums = w.matmul(left, right, *(each.zero_point for each in qparams))
    return w.reshape(w.narrowed(sums, qparams[0].scale * qparams[1].scale), sizes)


def _batched(w: TosaWriter, x: int, batch: Sequence[int]) -> int:
    """As many matrices as the result has, in one row."""
    x = w.with_rank(x, len(batch) + 2)
    times = [want // have for want, have in zip(batch, w.shape(x)[:-2], strict=True)]
    x = w.tile(x, [*times, 1, 1])
    return w.reshape(x, (prod(batch), *w.shape(x)[-2:]))


def batch_norm(w: TosaWriter, step: Step) -> None:
    """On its own: a product and a sum by channel."""
    source = step.head.args[0]
    x = w.take(source)
    scale, shift = norm_numbers(w, step.head)
    rank = w.rank(x)
    place = rank - 1 if w.layout == NHWC else 1
    shape = [-1 if axis == place else 1 for axis in range(rank)]
    kind = w.dtype(x)
    made = w.binary("MUL", x, w.const(scale.reshape(shape), kind))
    w.set_result(w.binary("ADD", made, w.const(shift.reshape(shape), kind)))
