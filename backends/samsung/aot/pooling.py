# SPDX-License-Identifier: BSD-3-Clause
"""Rows of pools, means and resizes."""

from __future__ import annotations

from math import prod

from torch.fx import Node

from executorch.backends.samsung.aot.graph import Parameter
from executorch.backends.samsung.aot.rows import (
    OF_FLOATS,
    EnnRow,
    Lower,
    moved,
    quant_dtype,
    row,
    windows,
)
from executorch.backends.samsung.aot.writer import GraphWriter
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import ONLY_FIRST, has_rank, when
from executorch.exir.graph_facts import argument


def _window(node: Node) -> dict[str, Parameter]:
    kernel = windows(node, "kernel_size")
    stride, padding = windows(node, "stride", kernel), windows(node, "padding", 0)
    return {
        "kernel_h": kernel[0],
        "kernel_w": kernel[1],
        "stride_h": stride[0],
        "stride_w": stride[1],
        "padding": "EXPLICIT",
        "explicit_padding": (*padding, *padding),
    }


def _avg_pool(w: GraphWriter, step: ModeStep) -> None:
    has_divisor = argument(step.head, "divisor_override") is not None
    counted = has_divisor or bool(argument(step.head, "count_include_pad", True))
    own = {**_window(step.head), "count_include_pad": counted, **quant_dtype(step)}
    w.give("AVGPOOL2D", w.take(step.head.args[0]), **own)


def _max_pool(w: GraphWriter, step: ModeStep) -> None:
    dilation = windows(step.head, "dilation", 1)
    own = {**_window(step.head), "dilation_h": dilation[0], "dilation_w": dilation[1]}
    w.give("MAXPOOL2D", w.take(step.head.args[0]), **own, **quant_dtype(step))


def _mean(w: GraphWriter, step: ModeStep) -> None:
    x, dims = step.head.args[:2]
    rank = x.meta["val"].dim()
    w.give(
        "REDUCEMEAN",
        w.take(x),
        keep_dims=bool(argument(step.head, "keepdim", False)),
        axis=tuple(sorted(dim % rank for dim in dims)),
        **quant_dtype(step),
    )


def _factors(node: Node) -> tuple[float, ...]:
    """That are given, by which PyTorch counts, or else of the sizes."""
    given = argument(node, "scale_factors")
    before, after = (each.meta["val"].shape[2:] for each in (node.args[0], node))
    sizes = zip(before, after, strict=True)
    return tuple(given) if given else tuple(int(new) / int(old) for old, new in sizes)


def _resize(kind: str) -> Lower:
    def lower(w: GraphWriter, step: ModeStep) -> None:
        x, factors = step.head.args[0], _factors(step.head)
        w.give(
            kind,
            w.take(x),
            align_corners=bool(argument(step.head, "align_corners", False)),
            upsampling_factor=factors,
            half_pixel_centers=True,
            **quant_dtype(step),
        )

    return lower


def _divides_by_area(node: Node) -> bool:
    divisor = argument(node, "divisor_override")
    return divisor is None or divisor == prod(windows(node, "kernel_size"))


ROUNDED_DOWN = when(lambda node: not argument(node, "ceil_mode", False), "ceil_mode")
AREA = when(_divides_by_area, "a divisor_override of the window's area is expected")
DIMS = when(lambda node: bool(node.args[1]), "dimensions that are named are expected")
IMAGE = has_rank(4)
# ENN takes the pixel at the centre, PyTorch that at the corner: the same where each is repeated.
REPEATED = when(
    lambda node: all(float(factor).is_integer() for factor in _factors(node)),
    "sizes that are multiples are expected",
)

ROWS: dict[str, EnnRow] = {
    "aten.avg_pool2d.default": row(_avg_pool, OF_FLOATS, IMAGE, ROUNDED_DOWN, AREA),
    "aten.max_pool2d_with_indices.default": moved(
        _max_pool, OF_FLOATS, IMAGE, ONLY_FIRST, ROUNDED_DOWN
    ),
    "aten.mean.dim": row(_mean, OF_FLOATS, DIMS),
    "aten.upsample_bilinear2d.vec": row(_resize("RESIZE_BILINEAR"), OF_FLOATS, preserved=True),
    "aten.upsample_nearest2d.vec": row(
        _resize("RESIZE_NEAREST_NEIGHBOR"), OF_FLOATS, REPEATED, preserved=True
    ),
}
