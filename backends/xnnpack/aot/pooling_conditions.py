# SPDX-License-Identifier: BSD-3-Clause
"""Under which conditions XNNPACK takes pools and resizes, for the rows of ops.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from executorch.backends.xnnpack.aot.conditions import (
    STATIC_NCDHW,
    argument,
    covers_image,
    sizes_of,
)
from executorch.backends.xnnpack.aot.conv3d import is_3d
from executorch.backends.xnnpack.aot.value_types import value_of
from executorch.exir.backend.lowering.op_table import Condition, Constants
from executorch.exir.backend.lowering.steps import first_item
from executorch.exir.graph_facts import num_dynamic_sizes


def _window(ceil_position: int, test: Callable[[Node], bool] = lambda node: True) -> tuple:
    """Of calls that `test` holds for."""
    return (
        Condition(
            lambda node, constants: not test(node) or len(sizes_of(node.args[0])) == 4,
            "four dimensions are expected",
        ),
        Condition(
            lambda node, constants: (
                not test(node)
                or not argument(node, ceil_position, "ceil_mode", False)
                or all(isinstance(size, int) for size in sizes_of(node.args[0])[-2:])
            ),
            "an image of static height and width is expected with ceil_mode",
        ),
        Condition(
            lambda node, constants: not test(node) or torch.Size(node.args[1]).numel() > 1,
            "a window of one element",
        ),
    )


@dataclass(frozen=True)
class Slide:
    """Of a window, along one dimension."""

    size: Any
    results: Any
    kernel: int
    stride: int
    padding: int
    dilation: int

    @property
    def is_static(self) -> bool:
        return isinstance(self.size, int) and isinstance(self.results, int)


def slides_of(node: Node) -> list[Slide]:
    """Of a max pool, by dimension. A window of one element has no dilation."""
    before, after = sizes_of(node.args[0]), value_of(node).shape
    dims = len(after) - 2
    kernel, stride, padding, dilation = (
        list(each) * dims if len(each) == 1 else list(each)
        for each in (
            node.args[1],
            argument(node, 2, "stride") or node.args[1],
            argument(node, 3, "padding") or [0],
            argument(node, 4, "dilation") or [1],
        )
    )
    dilation = [gap if size > 1 else 1 for gap, size in zip(dilation, kernel, strict=True)]
    sizes = (before[-dims:], after[-dims:], kernel, stride, padding, dilation)
    return [Slide(*each) for each in zip(*sizes, strict=True)]


def _steps_by_less_than_a_window(node: Node, constants: Constants) -> bool:
    return all(each.stride <= each.kernel for each in slides_of(node))


def _has_pixels_in_place_of_padding(node: Node, constants: Constants) -> bool:
    """Where an image is dilated, XNNPACK reads another pixel of the window instead of padding, by a rule that may
    miss the image (xnn_indirection_init_maxpool2d)."""
    slides = slides_of(node)
    return all(
        all(each.dilation == 1 for each in pool) or all(map(_is_within, pool))
        for pool in (slides[-2:], slides[:-2])  # of max_pool3d, depth is another pool
    )


def _is_within(slide: Slide) -> bool:
    if not slide.is_static:
        return slide.padding == 0
    window = [place * slide.dilation - slide.padding for place in range(slide.kernel)]
    inside = slide.padding % slide.dilation
    for start in range(0, slide.results * slide.stride, slide.stride):
        instead = start - inside + (slide.dilation if start < inside else 0)
        misses = any(not 0 <= start + place < slide.size for place in window)
        if misses and not (instead < slide.size and instead - start in window):
            return False
    return True


_WINDOWS_OF_MAXIMA = (
    Condition(_steps_by_less_than_a_window, "a stride of at most the window is expected"),
    Condition(
        _has_pixels_in_place_of_padding,
        "a dilated window of which a part is in the image is expected",
    ),
)
MAX_POOL = (
    Condition(lambda node, constants: first_item(node) is not None, "only the values may be used"),
    *_window(5),
    *_WINDOWS_OF_MAXIMA,
)
MAX_POOL_3D = (
    MAX_POOL[0],
    Condition(
        lambda node, constants: is_3d(node) and not num_dynamic_sizes(node.args[0]),
        STATIC_NCDHW,
    ),
    Condition(
        lambda node, constants: not argument(node, 5, "ceil_mode", False),
        "ceil_mode is not supported",
    ),
    *_WINDOWS_OF_MAXIMA,
)
AVERAGE_POOL = (
    Condition(
        lambda node, constants: argument(node, 6, "divisor_override") is None,
        "divisor_override is not supported",
    ),
    *_window(4, lambda node: not covers_image(node)),
)


def _resized(place_of_scales: int) -> tuple[Condition, ...]:
    def keeps_whole_sizes(node: Node, constants: Constants) -> bool:
        scales = argument(node, place_of_scales, "scale_factors")
        before, after = sizes_of(node.args[0])[2:], sizes_of(node)[2:]
        return not scales or all(
            old * scale == new for old, scale, new in zip(before, scales, after, strict=True)
        )

    return (
        Condition(
            lambda node, constants: (
                len(sizes_of(node)) == 4
                and not num_dynamic_sizes(node)
                and not num_dynamic_sizes(node.args[0])
            ),
            "four static dimensions are expected",
        ),
        Condition(keeps_whole_sizes, "scales must give whole sizes"),
    )


def _multiplies_sizes(node: Node, constants: Constants) -> bool:
    before, after = sizes_of(node.args[0])[2:], sizes_of(node)[2:]
    return all(new % old == 0 for old, new in zip(before, after, strict=True))


RESIZE = _resized(3)
RESIZE_NEAREST = (
    *_resized(2),
    Condition(_multiplies_sizes, "multiples of the sizes are expected"),
)
