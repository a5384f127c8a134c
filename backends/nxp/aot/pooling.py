# SPDX-License-Identifier: BSD-3-Clause
"""Rows of pooling and resizing. Pools over one dimension run as over two, of which the first is 1."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import Node

from executorch.backends.nxp.aot.gemm import LARGEST_WINDOW
from executorch.backends.nxp.aot.graph import SCHEMA
from executorch.backends.nxp.aot.rows import SAME_QPARAMS, Lower, NeutronRow, row, sizes_of, windows
from executorch.backends.nxp.aot.writer import TfliteWriter
from executorch.exir.backend.lowering.annotation import SHARED
from executorch.exir.backend.lowering.layout import NHWC, channels_last
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import Condition, Constants, has_rank, when
from executorch.exir.graph_facts import argument, op_name

_SCALES = (1, 2, 4, 8)
_LEAST = torch.iinfo(torch.int8).min
Geometry = tuple[list[int], list[int], list[int]]


def _geometry(node: Node) -> Geometry:
    """Sizes of the window, strides and padding, of as many dimensions as the result has."""
    dims = len(sizes_of(node)) - 2
    if "adaptive" in op_name(node):
        sizes = list(zip(sizes_of(node.args[0])[2:], sizes_of(node)[2:], strict=True))
        stride = [before // after for before, after in sizes]
        kernel = [
            before - (after - 1) * step for (before, after), step in zip(sizes, stride, strict=True)
        ]
        return kernel, stride, [0] * dims
    kernel = windows(node, "kernel_size", dims)
    return kernel, windows(node, "stride", dims, kernel), windows(node, "padding", dims, 0)


def _pooled(kind: str, filling: int | None) -> Lower:
    """`filling`: of padding, as it is quantized; None for what stands for 0."""

    def lower(w: TfliteWriter, step: ModeStep) -> None:
        kernel, stride, padding = _geometry(step.head)
        source = w.read(step.head.args[0], NHWC)
        target = w.write(step.result, NHWC)
        is_flat = len(kernel) == 1
        if is_flat:
            kernel, stride, padding = [1, *kernel], [1, *stride], [0, *padding]
            source = w.reshaped(source, _with_row(w.values[source].sizes))
        point = w.values[source].qparams.zero_points[0] if filling is None else filling
        source = w.padded(source, [(0, 0), *((pad, pad) for pad in padding), (0, 0)], point)
        made = w.like(target, _with_row(w.values[target].sizes)) if is_flat else target
        fields = {
            "padding": SCHEMA.classes["Padding"].VALID,
            "stride_h": stride[0],
            "stride_w": stride[1],
            "filter_height": kernel[0],
            "filter_width": kernel[1],
        }
        w.emit(kind, [source], made, options="Pool2DOptions", **fields)
        if is_flat:
            w.reshape(made, target)

    return lower


def _with_row(sizes: Sequence[int]) -> list[int]:
    return [sizes[0], 1, *sizes[1:]]


def _resized(kind: str, options: str) -> Lower:
    def lower(w: TfliteWriter, step: ModeStep) -> None:
        corners = bool(argument(step.head, "align_corners", False))
        halves = kind == "RESIZE_BILINEAR" and not corners
        sizes = w.ints(sizes_of(step.head)[2:])
        fields = {"align_corners": corners, "half_pixel_centers": halves}
        w.give(kind, w.take(step.head.args[0]), sizes, options=options, **fields)

    return lower


# ---- Conditions ----


def _has_small_windows(node: Node) -> bool:
    kernel, stride, _ = _geometry(node)
    return all(each <= LARGEST_WINDOW for each in (*kernel, *stride))


def _has_small_strides(node: Node) -> bool:
    return all(each <= LARGEST_WINDOW for each in _geometry(node)[1])


def _counts_all(node: Node) -> bool:
    return argument(node, "count_include_pad", True) or not any(_geometry(node)[2])


def _are_divided(node: Node) -> bool:
    pairs = zip(sizes_of(node.args[0])[2:], sizes_of(node)[2:], strict=True)
    return all(before % after == 0 for before, after in pairs)


def _is_not_dilated(node: Node) -> bool:
    return all(each == 1 for each in windows(node, "dilation", 1, 1))


def _has_taken_scales(node: Node) -> bool:
    corners = argument(node, "align_corners", False)
    for before, after in zip(sizes_of(node.args[0])[2:], sizes_of(node)[2:], strict=True):
        if corners and before == 1:
            return False
        less = int(bool(corners))
        if not any((before - less) * scale == after - less for scale in _SCALES):
            return False
    return True


def _has_exact_scales(node: Node) -> bool:
    """PyTorch goes by a factor where one is given, TFLite by the sizes."""
    factors = argument(node, "scale_factors")
    if factors is None or argument(node, "align_corners", False):
        return True
    before, after = sizes_of(node.args[0])[2:], sizes_of(node)[2:]
    return all(b * f == a for b, f, a in zip(before, factors, after, strict=True))


def _is_idle(step: ModeStep, constants: Constants) -> bool:
    return sizes_of(step.head.args[0]) == sizes_of(step.head)


FLOOR = when(lambda node: not argument(node, "ceil_mode", False), "ceil_mode is not taken")
OWN_DIVISOR = when(
    lambda node: argument(node, "divisor_override") is None, "divisor_override is not taken"
)
COUNTS_ALL = when(_counts_all, "count_include_pad is expected where there is padding")
DIVIDED = when(_are_divided, "output sizes that divide the input's are expected")
NOT_DILATED = when(_is_not_dilated, "a dilation of 1 is expected")
WINDOWS = when(_has_small_windows, f"windows and strides of at most {LARGEST_WINDOW} are expected")
STRIDES = when(_has_small_strides, f"strides of at most {LARGEST_WINDOW} are expected")
SCALES = when(_has_taken_scales, "sizes that are 1, 2, 4 or 8 times the input's are expected")
EXACT = when(_has_exact_scales, "scale factors that are the ratio of the sizes are expected")


def _pool(lower: Lower, dims: int, *conditions: Condition, preserved: bool = False) -> NeutronRow:
    return row(
        lower, has_rank(dims + 2), *conditions, SAME_QPARAMS, layouts=channels_last, preserved=preserved,
        annotation=SHARED,
    )  # fmt: skip


def _resize(kind: str, options: str) -> NeutronRow:
    return row(
        _resized(kind, options), has_rank(4), SCALES, EXACT, SAME_QPARAMS, layouts=channels_last, annotation=SHARED,
        is_idle=_is_idle,
    )  # fmt: skip


_AVERAGE, _LARGEST = _pooled("AVERAGE_POOL_2D", None), _pooled("MAX_POOL_2D", _LEAST)
_OF_AVERAGE = (FLOOR, OWN_DIVISOR, COUNTS_ALL, WINDOWS)
ROWS: dict[str, NeutronRow] = {
    "aten.avg_pool1d.default": _pool(_AVERAGE, 1, FLOOR, COUNTS_ALL, WINDOWS, preserved=True),
    "aten.avg_pool2d.default": _pool(_AVERAGE, 2, *_OF_AVERAGE),
    "aten.adaptive_avg_pool1d.default": _pool(_AVERAGE, 1, DIVIDED, WINDOWS, preserved=True),
    "aten.adaptive_avg_pool2d.default": _pool(_AVERAGE, 2, DIVIDED, WINDOWS, preserved=True),
    "aten._adaptive_avg_pool2d.default": _pool(_AVERAGE, 2, DIVIDED, WINDOWS),
    "aten.max_pool1d.default": _pool(_LARGEST, 1, FLOOR, NOT_DILATED, STRIDES, preserved=True),
    # Whose indices nobody reads: they are not quantized.
    "aten.max_pool2d_with_indices.default": _pool(_LARGEST, 2, FLOOR, NOT_DILATED, STRIDES),
    "aten.upsample_bilinear2d.vec": _resize("RESIZE_BILINEAR", "ResizeBilinearOptions"),
    "aten.upsample_nearest2d.vec": _resize(
        "RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions"
    ),
}
