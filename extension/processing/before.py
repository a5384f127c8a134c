# SPDX-License-Identifier: BSD-3-Clause
"""Steps that make a model's input of a picture, and which sizes a picture may have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.export import Dim
from torch.utils import _pytree as pytree

from executorch.extension.processing import modules
from executorch.extension.processing.steps import FLOATS, LARGEST, PICTURE, TIMES, Processing

Limits = tuple[int, int]
MAX_PIXELS = 1 << 27  # 1.5 GiB of floats: memory is planned for the largest picture


class Before(nn.Module):
    """A picture -> a model's input, of the model's dtype."""

    def __init__(self, processing: Processing, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.dtype = dtype
        steps: list[nn.Module] = []
        kind = PICTURE
        for call in processing.calls("--preprocess"):
            if kind == PICTURE and call.step.gives:
                steps.append(modules.Pixels())
            kind = call.step.gives or kind
            if call.step.module:
                steps.append(getattr(modules, call.step.module)(*call.arguments))
        steps += [modules.Pixels()] if kind == PICTURE else []
        steps += [modules.Unit()] if kind != FLOATS else []
        self.steps = nn.ModuleList(steps)

    def forward(self, picture: Tensor) -> Tensor:
        value = picture
        for step in self.steps:
            value = step(value)
        return value.to(self.dtype)

    @property
    def has_sizes(self) -> bool:
        """Whether the steps say what size comes out."""
        return any(isinstance(each, modules.Resize | modules.Crop) for each in self.steps)

    def largest(self, limits: tuple[Limits, ...]) -> tuple[int, int]:
        """Of the pixels between steps, as memory is planned: each side by itself."""
        (low, high), (narrow, wide) = limits
        sizes = [(high, wide)]
        for step in self.steps:
            if isinstance(step, modules.Crop):
                break
            if isinstance(step, modules.Resize) and step.width is not None:
                low, high, narrow, wide = *[step.height] * 2, *[step.width] * 2
            elif isinstance(step, modules.Resize):
                high, wide = (step.height * side // min(low, narrow) for side in (high, wide))
                low = narrow = step.height
            sizes.append((high, wide))
        return max(sizes, key=math.prod)

    def sizes(self, height: int, width: int) -> list[int]:
        """What comes of a picture. ValueError for one that is too small to be cropped."""
        with FakeTensorMode(allow_non_fake_inputs=True):
            return self._sizes(torch.zeros(height, width, 3, dtype=torch.uint8))

    def _sizes(self, value: Tensor) -> list[int]:
        height, width = value.shape[:2]
        for step in self.steps:
            if isinstance(step, modules.Crop):
                found = tuple(value.shape[2:])
                if any(size < wanted for size, wanted in zip(found, step.sizes)):
                    raise ValueError(
                        f"--preprocess: expected {_text(step.sizes)} pixels or more to crop, found {_text(found)} of a "
                        f"picture of {_text((height, width))}: resize before, or larger sizes by picture"
                    )
            value = step(value)
        return list(value.shape)


def image_of(inputs: tuple[Any, ...], keywords: Mapping[str, Any]) -> Tensor:
    leaves = [*inputs, *keywords.values()]
    image = leaves[0] if len(leaves) == 1 else None
    is_floats = isinstance(image, Tensor) and image.is_floating_point()
    if is_floats and image.dim() == 4 and image.shape[:2] == (1, 3):
        return image
    found = ", ".join(
        f"{each.dtype}{list(each.shape)}".removeprefix("torch.")
        if isinstance(each, Tensor)
        else repr(each)
        for each in leaves
    )
    raise ValueError(
        f"--preprocess: expected a model of one input, floats [1, 3, height, width], found {found or 'none'}"
    )


def limits_of(processing: Processing, before: Before, image: Tensor) -> tuple[Limits, ...]:
    for call in processing.calls("--preprocess"):
        if call.step.name == "picture":
            return call.arguments
    height, width = image.shape[2:]
    if not before.has_sizes:
        return (height, height), (width, width)
    least, most = max(2, min(height, width)), max(LARGEST, TIMES * max(height, width))
    return (least, most), (least, most)


def check(before: Before, limits: tuple[Limits, ...], image: Tensor, dynamic_shapes: Any) -> None:
    """Of the smallest pictures: all sizes that come out are those of the model's example, unless it takes others."""
    pixels = before.largest(limits)
    if math.prod(pixels) > MAX_PIXELS:
        raise ValueError(
            f"--preprocess: expected {MAX_PIXELS:,} pixels at most between steps, found {_text(pixels)} of the largest "
            "pictures: give closer limits by picture, or both sides of resize"
        )
    (low, high), (narrow, wide) = limits
    for height, width in sorted({(low, narrow), (low, wide), (high, narrow)}):
        found = before.sizes(height, width)
        if found != list(image.shape) and not _vary(dynamic_shapes):
            raise ValueError(
                f"--preprocess: expected {list(image.shape)}, as the model's example input is, found {found} of a "
                f"picture of {_text((height, width))}"
            )


def _vary(dynamic_shapes: Any) -> bool:
    static = (None, Dim.STATIC)
    leaves = pytree.tree_leaves(dynamic_shapes)
    return any(each not in static and not isinstance(each, int) for each in leaves)


def example(limits: tuple[Limits, ...]) -> Tensor:
    """Sizes between the limits, no two the same, since a trace takes equal sizes for one."""
    (low, high), (narrow, wide) = limits
    sizes = (low + (high - low) // 8, narrow + (wide - narrow + 4) // 5)
    generator = torch.Generator().manual_seed(0)
    return torch.randint(0, 256, (*sizes, 3), dtype=torch.uint8, generator=generator)


def shapes_of(limits: tuple[Limits, ...]) -> Any:
    dims = {
        place: Dim(name, min=low, max=high)
        for place, (name, (low, high)) in enumerate(zip(("height", "width"), limits))
        if low < high
    }
    return (dims,) if dims else None


def _text(sizes: tuple[int, ...]) -> str:
    return "x".join(map(str, sizes))
