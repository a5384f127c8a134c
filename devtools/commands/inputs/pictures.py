# SPDX-License-Identifier: BSD-3-Clause
"""Files of pictures as bytes [height, width, channels] of sizes that an input has. Needs pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from executorch.devtools.commands.inputs.declared import Declared, Dimension, text_of
from executorch.exir.scalar_type import ScalarType

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".ppm", ".webp")


def read_picture(
    path: Path, height: Dimension, width: Dimension, channels: int = 3, order: str = "RGB"
) -> np.ndarray:
    """The whole picture where the input takes its sizes; else its middle, scaled to the nearest that it takes."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as problem:
        raise ImportError(
            "reading pictures needs the package pillow: pip install pillow"
        ) from problem
    try:
        picture = Image.open(path).convert("RGB" if channels == 3 else "L")
    except UnidentifiedImageError as problem:
        raise ValueError(f"{path}: expected a picture: {problem}") from problem
    wanted = _nearest((picture.height, picture.width), (height, width))
    scale = max(wanted[0] / picture.height, wanted[1] / picture.width)
    sizes = [
        max(least, round(size * scale))
        for size, least in ((picture.width, wanted[1]), (picture.height, wanted[0]))
    ]
    picture = picture.resize(sizes, Image.Resampling.BILINEAR)
    left, top = (sizes[0] - wanted[1]) // 2, (sizes[1] - wanted[0]) // 2
    pixels = np.asarray(picture.crop((left, top, left + wanted[1], top + wanted[0])))
    pixels = pixels.reshape(*wanted, channels)
    return np.ascontiguousarray(pixels[..., ::-1] if order == "BGR" else pixels)


def _nearest(sizes: Sequence[int], limits: Sequence[Dimension]) -> list[int]:
    """Both sides smaller or larger by one factor, as far as the limits let them."""
    factor = min(1.0, *(limit.high / size for size, limit in zip(sizes, limits)))
    factor = max(factor, *(limit.low / size for size, limit in zip(sizes, limits)))
    return [
        min(max(round(size * factor), limit.low), limit.high) for size, limit in zip(sizes, limits)
    ]


def picture_for(path: Path, each: Declared, order: str) -> np.ndarray:
    """ValueError for an input that takes no bytes of pixels."""
    sizes = each.largest
    if each.dtype is not ScalarType.BYTE or len(sizes) != 3 or sizes[2] not in (1, 3):
        dtype = "a number" if each.dtype is None else each.dtype.dtype_name
        raise ValueError(
            f"{path}: {each.title}: pictures go to bytes [height, width, 3], which `executorch export --preprocess` "
            f"makes the input, found {dtype} {text_of(sizes)}"
        )
    return read_picture(path, each.dimensions[0], each.dimensions[1], sizes[2], order or "RGB")
