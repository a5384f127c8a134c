# SPDX-License-Identifier: BSD-3-Clause
"""Rows of pooling. Those over one dimension run as over two, of which the first is 1."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf
from typing import Any

from torch.fx import Node

from executorch.backends.qualcomm.aot.graph import (
    DataType,
    Parameter,
    Scalar,
    flag,
    float32,
    uint32,
    uints,
)
from executorch.backends.qualcomm.aot.rows import OF_FLOATS, Lower, row
from executorch.backends.qualcomm.aot.writer import GraphWriter
from executorch.exir.backend.lowering.annotation import ARITHMETIC
from executorch.exir.backend.lowering.layout import NHWC, channels_last
from executorch.exir.backend.lowering.mode_steps import ModeStep
from executorch.exir.backend.lowering.op_table import ONLY_FIRST, Row, has_rank, when
from executorch.exir.graph_facts import argument, static_sizes

_FLOOR, _CEIL = 0, 1  # rounding_mode


def _windows(node: Node, name: str, dims: int, default: Any = None) -> list[int]:
    """One for each dimension."""
    given = argument(node, name, default)
    given = [given] if isinstance(given, int) else list(given)
    return given * dims if len(given) == 1 else given


def _geometry(node: Node, dims: int) -> tuple[list[int], list[int], list[int]]:
    """Sizes of the window, strides and padding."""
    kernel = _windows(node, "kernel_size", dims)
    stride = _windows(node, "stride", dims) if argument(node, "stride") else kernel
    return kernel, stride, _windows(node, "padding", dims, 0)


def _parameters(
    kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> dict[str, Parameter]:
    pads = [pad for each in padding for pad in (each, each)]
    return {
        "filter_size": uints(kernel),
        "stride": uints(stride),
        "pad_amount": uints(pads, len(kernel), 2),
    }


def _rounding(node: Node) -> Scalar:
    return uint32(_CEIL if argument(node, "ceil_mode", False) else _FLOOR)


def _average(dims: int) -> Lower:
    def lower(w: GraphWriter, step: ModeStep) -> None:
        kernel, stride, padding = _geometry(step.head, dims)
        is_flat = dims == 1
        if is_flat:
            kernel, stride, padding = [1, *kernel], [1, *stride], [0, *padding]
        counts = argument(step.head, "count_include_pad", True)
        parameters = _parameters(kernel, stride, padding) | {
            "rounding_mode": _rounding(step.head),
            "count_pad_for_edges": flag(counts),
        }
        _give(w, step, f"PoolAvg{max(dims, 2)}d", is_flat, parameters)

    return lower


def _adaptive(kind: str) -> Lower:
    """Where all windows have one size."""

    def lower(w: GraphWriter, step: ModeStep) -> None:
        sizes = static_sizes(step.head.args[0])[2:]
        kernel = [size // out for size, out in zip(sizes, _results(step.head), strict=True)]
        is_flat = len(kernel) == 1
        kernel = [1, *kernel] if is_flat else kernel
        parameters = _parameters(kernel, kernel, [0] * len(kernel))
        if kind == "PoolMax":
            parameters["rounding_mode"] = uint32(_FLOOR)
        _give(w, step, f"{kind}{len(kernel)}d", is_flat, parameters)

    return lower


def _give(
    w: GraphWriter, step: ModeStep, kind: str, is_flat: bool, parameters: dict[str, Parameter]
) -> None:
    source = w.read(step.head.args[0], NHWC)
    if not is_flat:
        w.give(kind, source, **parameters)
        return
    n, length, channels = w.values[source].dims
    rows = w.reshaped(source, [n, 1, length, channels])
    result = w.write(step.result, NHWC)
    n, length, channels = w.values[result].dims
    made = w.like(result, [n, 1, length, channels])
    w.emit("Reshape", [w.emit(kind, [rows], made, **parameters)], result)


def _max(w: GraphWriter, step: ModeStep) -> None:
    """QNN pads with 0, PyTorch with what is below all: that is padded before."""
    kernel, stride, padding = _geometry(step.head, 2)
    source = w.read(step.head.args[0], NHWC)
    if any(padding):
        source = _padded(w, source, padding)
    parameters = _parameters(kernel, stride, [0, 0]) | {"rounding_mode": _rounding(step.head)}
    w.give("PoolMax2d", source, **parameters)


def _padded(w: GraphWriter, source: int, padding: Sequence[int]) -> int:
    tensor = w.values[source]
    pads = [0, 0, *(pad for each in padding for pad in (each, each)), 0, 0]
    sizes = [size + 2 * pad for size, pad in zip(tensor.dims, (0, *padding, 0), strict=True)]
    lowest = float32(-inf)
    if tensor.dtype.is_quantized:
        bits = 8 * tensor.dtype.num_bytes
        is_signed = tensor.dtype.name.startswith("S")
        lowest = Scalar(DataType.INT_32, -(1 << bits - 1) if is_signed else 0)
    made = w.like(source, sizes)
    return w.emit(
        "Pad",
        [source],
        made,
        scheme=uint32(0),
        pad_amount=uints(pads, 4, 2),
        pad_constant_value=lowest,
    )


# ---- Conditions ----


def _results(node: Node) -> list[int]:
    value = node.meta["val"]
    return [
        int(size) for size in (value[0] if isinstance(value, tuple | list) else value).shape[2:]
    ]


def _are_divided(node: Node) -> bool:
    sizes = static_sizes(node.args[0])[2:]
    return all(size % out == 0 for size, out in zip(sizes, _results(node), strict=True))


def _divides_by_area(node: Node) -> bool:
    given = argument(node, "divisor_override")
    area = 1
    for size in _geometry(node, len(_results(node)))[0]:
        area *= size
    return given is None or given == area


def _is_as_wide(node: Node) -> bool:
    """PyTorch leaves out a window that begins in the padding behind; QNN knows no such rule."""
    if not argument(node, "ceil_mode", False):
        return True
    dims = len(_results(node))
    sizes = static_sizes(node.args[0])[2:]
    return all(
        ceil((size + 2 * pad - kernel) / stride) + 1 == out
        for size, out, kernel, stride, pad in zip(
            sizes, _results(node), *_geometry(node, dims), strict=True
        )
    )


def _is_not_dilated(node: Node) -> bool:
    return all(each == 1 for each in _windows(node, "dilation", 2, 1))


BATCHED = {dims: has_rank(dims + 2) for dims in (1, 2, 3)}
DIVIDED = when(_are_divided, "output sizes that divide the input's are expected")
BY_AREA = when(_divides_by_area, "a divisor that is the window's area is expected")
AS_WIDE = when(_is_as_wide, "ceil_mode: no window that begins in the padding is expected")
NOT_DILATED = when(_is_not_dilated, "a dilation of 1 is expected")


def _pool(lower: Lower, dims: int, *conditions: Any, preserved: bool = False) -> Row:
    return row(
        lower,
        BATCHED[dims],
        OF_FLOATS,
        *conditions,
        layouts=channels_last,
        preserved=preserved,
        annotation=ARITHMETIC,
    )


_AVERAGE = _adaptive("PoolAvg")
ROWS: dict[str, Row] = {
    "aten.avg_pool1d.default": _pool(_average(1), 1, BY_AREA, AS_WIDE, preserved=True),
    "aten.avg_pool2d.default": _pool(_average(2), 2, BY_AREA, AS_WIDE),
    "aten.avg_pool3d.default": _pool(_average(3), 3, BY_AREA, AS_WIDE),
    "aten.adaptive_avg_pool1d.default": _pool(_AVERAGE, 1, DIVIDED, preserved=True),
    "aten.adaptive_avg_pool2d.default": _pool(_AVERAGE, 2, DIVIDED, preserved=True),
    "aten._adaptive_avg_pool2d.default": _pool(_AVERAGE, 2, DIVIDED),
    "aten._adaptive_avg_pool3d.default": _pool(_AVERAGE, 3, DIVIDED),
    "aten.max_pool2d_with_indices.default": _pool(_max, 2, ONLY_FIRST, NOT_DILATED, AS_WIDE),
    "aten.adaptive_max_pool2d.default": _pool(
        _adaptive("PoolMax"), 2, ONLY_FIRST, DIVIDED, preserved=True
    ),
}
