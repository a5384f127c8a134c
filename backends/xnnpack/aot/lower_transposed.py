# SPDX-License-Identifier: BSD-3-Clause
"""A transposed convolution as plain ones, one for each place of a result within a stride (a phase), interleaved.

before: conv_transposed(x, w 4 x 4, stride 2, padding 1)
after:  four convolutions of x by 2 x 2 taps of w each; concatenate, [.., 2, 2, c], permute

XNNPACK's own node takes results row by row and reads the weights again for each: 512 to 256 channels, 4 x 4 to 8 x 8
pixels, took 3.1 ms and takes 1.1 ms; 256 to 128, 32 x 32 to 64 x 64 by 2 x 2 taps 5.5 and 3.2; 64 to 3 channels, which
are few columns for a matmul, 0.36 and 0.41 (one thread, AVX-512)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import torch
from torch import Tensor

from executorch.backends.xnnpack.aot.graph_builder import GraphBuilder, shape_of
from executorch.backends.xnnpack.aot.lower import emit_concatenate, emit_reshape, open_sizes
from executorch.backends.xnnpack.aot.steps import Mode, Step
from executorch.backends.xnnpack.serialization.graph import INVALID_VALUE_ID
from executorch.exir.sym_util import eval_shape_upper_bound

_LEAST_CHANNELS = 16
_MAX_PHASES = 4


@dataclass(frozen=True)
class Phase:
    """Along one dimension: how many taps, which are a stride apart, zeros on both sides, and the first tap. Phases that
    differ in that alone are equal: channels of one convolution."""

    taps: int
    before: int
    after: int
    first: int = field(compare=False)


@dataclass(frozen=True)
class Images:
    """How many, the value that they are read from and the one that results are written to."""

    count: int | torch.SymInt
    value: int
    out: int


def phases_of(step: Step) -> list[tuple[Phase, Phase]] | None:
    """By rows, then columns, which of NCDHW are its last two dimensions; None where the node of XNNPACK's own is
    better or the only way."""
    source, weight, _, stride, padding, dilation, transposed, _, groups = step.head.args
    channels, *sizes = weight.meta["val"].shape[1:]
    if not transposed or step.mode is not Mode.FLOAT or len(sizes) < 2 or groups != 1:
        return None
    steps, zeros = ((list(each) * 2 if len(each) == 1 else each)[-2:] for each in (stride, padding))
    if channels < _LEAST_CHANNELS or any(each != 1 for each in dilation):
        return None
    if not 1 < steps[0] * steps[1] <= _MAX_PHASES:
        return None
    given, made = (each.meta["val"].shape[-2:] for each in (source, step.head))
    if any(isinstance(size, torch.SymInt) for size in (*given, *made)):
        return None
    rows, columns = map(along_one, sizes[-2:], steps, zeros, given, made)
    return list(product(rows, columns)) or None


def along_one(kernel: int, stride: int, padding: int, size: int, result: int) -> list[Phase]:
    """Nothing where phases differ in length, have no tap, or would take pixels away."""
    found = []
    for place in range(stride):
        shift, first = divmod(place + padding, stride)
        taps = len(range(first, kernel, stride))
        found.append(Phase(taps, taps - 1 - shift, result // stride + shift - size, first))
    fits = all(each.taps and each.before >= 0 and each.after >= 0 for each in found)
    return found if fits and result % stride == 0 else []


def by_phases(
    builder: GraphBuilder,
    step: Step,
    phases: list[tuple[Phase, Phase]],
    data: Tensor,
    bias: Tensor | None,
    images: Images,
) -> None:
    """`data`: [out, in, height, width], `bias` or None, both with the batch norm that follows."""
    head, result = step.head, step.result
    stride = [len({each[axis].first for each in phases}) for axis in (0, 1)]
    (batch,) = eval_shape_upper_bound([images.count])
    _, channels, *_, height, width = shape_of(result)
    sizes = [batch, height // stride[0], width // stride[1]]
    filters = [_taps(data, stride, *each) for each in phases]
    if len(set(phases)) == 1:
        filters, phases = [torch.cat(filters)], phases[:1]
        bias = None if bias is None else bias.repeat(stride[0] * stride[1])
    parts = []
    for taps, phase in zip(filters, phases, strict=True):
        parts.append(builder.intermediate([*sizes, len(taps)], result))
        _convolution(builder, step, phase, taps, bias, images.value, parts[-1])
    whole = parts[0]
    if len(parts) > 1:
        whole = builder.intermediate([*sizes, len(parts) * channels], result)
        emit_concatenate(builder, head, parts, 3, whole)
    apart = builder.intermediate([*sizes, *stride, channels], result)
    interleaved = builder.intermediate(
        [batch, sizes[1], stride[0], sizes[2], stride[1], channels], result
    )
    (outer,) = open_sizes([images.count])
    emit_reshape(builder, head, whole, apart, [outer, *sizes[1:], *stride, channels])
    perm = [0, 1, 3, 2, 4, 5]
    fields = {"num_dims": 6, "perm": perm, "input_id": apart, "output_id": interleaved}
    builder.emit(head, "XNNStaticTranspose", **fields)
    emit_reshape(builder, head, interleaved, images.out, [outer, height, width, channels])


def _taps(data: Tensor, stride: list[int], row: Phase, column: Phase) -> Tensor:
    """Of one phase, in the order of a plain convolution."""
    return data[:, :, row.first :: stride[0], column.first :: stride[1]].flip(2, 3)


def _convolution(
    builder: GraphBuilder,
    step: Step,
    phase: tuple[Phase, Phase],
    taps: Tensor,
    bias: Tensor | None,
    value: int,
    out: int,
) -> None:
    row, column = phase
    weight, offset = step.head.args[1:3]
    channels = taps.shape[:2]
    filter_id = builder.constant(weight, taps.float().permute(0, 2, 3, 1))
    bias_id = INVALID_VALUE_ID
    if bias is not None:
        bias_id = builder.constant(weight if offset is None else offset, bias.float())
    builder.emit(
        step.head,
        "XNNConv2d",
        step.limits,
        padding_top=row.before,
        padding_bottom=row.after,
        padding_left=column.before,
        padding_right=column.after,
        kernel_height=row.taps,
        kernel_width=column.taps,
        subsampling_height=1,
        subsampling_width=1,
        dilation_height=1,
        dilation_width=1,
        group_input_channels=channels[1],
        group_output_channels=channels[0],
        groups=1,
        adjustment_height=0,
        adjustment_width=0,
        input1_id=value,
        filter_id=filter_id,
        bias_id=bias_id,
        output_id=out,
    )
