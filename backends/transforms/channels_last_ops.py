# SPDX-License-Identifier: BSD-3-Clause
"""Importing this registers operators on images in rows of pixels, (N, H, W, C) and contiguous: `channels_last::*`.
Weights and grids are as in aten. `DecomposeChannelsLastPass` takes them apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload
from torch.utils import _pytree as pytree

TO_NCHW, TO_NHWC = [0, 3, 1, 2], [0, 2, 3, 1]
_aten = torch.ops.aten
_library = torch.library.Library("channels_last", "FRAGMENT")


@dataclass(frozen=True)
class ImageOp:
    """`aten` takes the same arguments, and the image with its channels first."""

    schema: str
    aten: OpOverload

    @property
    def name(self) -> str:
        return self.schema.partition("(")[0]


IMAGE_OPS = (
    ImageOp(
        "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
        "bool transposed, int[] output_padding, int groups) -> Tensor",
        _aten.convolution.default,
    ),
    ImageOp(
        "avg_pool2d(Tensor input, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, "
        "bool count_include_pad, int? divisor_override) -> Tensor",
        _aten.avg_pool2d.default,
    ),
    ImageOp(
        "adaptive_avg_pool2d(Tensor input, int[2] output_size) -> Tensor",
        _aten._adaptive_avg_pool2d.default,
    ),
    ImageOp(
        "upsample_bilinear2d(Tensor input, int[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
        _aten.upsample_bilinear2d.vec,
    ),
    ImageOp(
        "upsample_nearest2d(Tensor input, int[]? output_size, float[]? scale_factors) -> Tensor",
        _aten.upsample_nearest2d.vec,
    ),
    ImageOp(
        "max_pool2d_with_indices(Tensor input, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, "
        "bool ceil_mode) -> (Tensor, Tensor)",
        _aten.max_pool2d_with_indices.default,
    ),
    ImageOp(
        "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) "
        "-> Tensor",
        _aten.grid_sampler_2d.default,
    ),
)


def _eager(op: ImageOp) -> Callable[..., Any]:
    def compute(image: torch.Tensor, *args: Any) -> Any:
        result = op.aten(image.permute(TO_NCHW), *args)
        return pytree.tree_map(lambda each: each.permute(TO_NHWC).contiguous(), result)

    return compute


def _permute_copy(image: torch.Tensor, dims: list[int]) -> torch.Tensor:
    return image.permute(dims).contiguous()


def _register() -> None:
    functions = {op.schema: _eager(op) for op in IMAGE_OPS}
    functions["permute_copy(Tensor input, int[] dims) -> Tensor"] = _permute_copy
    for schema, function in functions.items():
        name = _library.define(schema)
        _library.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_fake(f"channels_last::{name}", function, lib=_library)


_register()
