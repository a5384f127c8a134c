# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions: layers of well-known networks, each at three sizes, and shapes that fall between their fast paths."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tools.bench.ops.case import Case

# In, out, kernel, stride, padding, dilation, groups; sizes of square images.
_CONV2D = (
    ((3, 32, 3, 2, 1, 1, 1), (32, 112, 224)),  # first layers
    ((3, 64, 7, 2, 3, 1, 1), (32, 112, 224)),
    ((3, 192, 16, 16, 0, 1, 1), (32, 112, 224)),
    ((1, 16, 5, 1, 2, 1, 1), (14, 28, 112)),
    ((64, 64, 3, 1, 1, 1, 1), (14, 28, 56)),  # resnet
    ((128, 128, 3, 1, 1, 1, 1), (7, 14, 28)),
    ((256, 512, 3, 2, 1, 1, 1), (7, 14, 28)),
    ((512, 512, 3, 1, 1, 1, 1), (4, 7, 14)),
    ((64, 128, 1, 2, 0, 1, 1), (14, 28, 56)),
    ((64, 256, 1, 1, 0, 1, 1), (14, 28, 56)),
    ((2048, 512, 1, 1, 0, 1, 1), (4, 7, 14)),
    ((32, 16, 1, 1, 0, 1, 1), (28, 56, 112)),  # mobilenet
    ((144, 24, 1, 1, 0, 1, 1), (14, 28, 56)),
    ((960, 320, 1, 1, 0, 1, 1), (4, 7, 14)),
    ((32, 32, 3, 1, 1, 1, 32), (28, 56, 112)),  # depthwise
    ((96, 96, 3, 2, 1, 1, 96), (28, 56, 112)),
    ((240, 240, 5, 1, 2, 1, 240), (7, 14, 28)),
    ((96, 96, 7, 1, 3, 1, 96), (14, 28, 56)),
    ((960, 960, 3, 1, 1, 1, 960), (4, 7, 14)),
    ((32, 64, 3, 1, 1, 1, 32), (14, 28, 56)),
    ((128, 128, 3, 1, 1, 1, 32), (14, 28, 56)),  # groups
    ((144, 144, 3, 2, 1, 1, 6), (14, 28, 56)),
    ((64, 64, 3, 1, 2, 2, 8), (14, 28, 56)),
    ((256, 256, 3, 1, 4, 4, 1), (7, 14, 28)),  # dilated
    ((19, 37, 3, 1, 1, 1, 1), (13, 29, 57)),  # no multiple of anything
)
# In, out, kernel, stride, padding, groups; lengths.
_CONV1D = (
    ((1, 64, 10, 5, 0, 1), (1000, 4000, 16000)),
    ((64, 128, 5, 1, 2, 1), (100, 1000, 4000)),
    ((512, 512, 3, 2, 0, 1), (50, 200, 800)),
    ((80, 384, 3, 1, 1, 1), (300, 1500, 3000)),
    ((768, 768, 128, 1, 64, 16), (50, 100, 200)),
    ((384, 384, 31, 1, 15, 384), (50, 200, 800)),
)
_CONV3D = (
    ((3, 16, 3, 1, 1, 1), (8, 16, 32)),
    ((32, 64, 3, 2, 1, 1), (8, 16, 28)),
    ((64, 64, 3, 1, 1, 1), (8, 16)),
    ((48, 48, 3, 1, 1, 48), (16, 32)),
)
# In, out, kernel, stride, padding, groups; sizes.
_TRANSPOSED = (
    ((512, 256, 4, 2, 1, 1), (4,)),
    ((64, 3, 4, 2, 1, 1), (32, 64)),
    ((64, 32, 3, 2, 1, 1), (28, 56)),
    ((64, 32, 2, 2, 0, 1), (14, 28, 56)),
    ((128, 64, 4, 2, 1, 1), (7, 14, 28)),
    ((64, 64, 3, 1, 1, 1), (14, 28, 56)),
)
_LOW = (
    ((64, 64, 3, 1, 1, 1, 1), 56),
    ((256, 256, 3, 1, 1, 1, 1), 14),
    ((64, 256, 1, 1, 0, 1, 1), 56),
    ((3, 64, 7, 2, 3, 1, 1), 112),
    ((960, 320, 1, 1, 0, 1, 1), 7),
    ((96, 96, 3, 2, 1, 1, 96), 112),
)
_LAST = {"memory_format": torch.channels_last}


def _images() -> Iterator[Case]:
    for (ic, oc, kernel, stride, pad, dilation, groups), sizes in _CONV2D:
        w = torch.randn(oc, ic // groups, kernel, kernel)
        bias = torch.randn(oc)
        rest = ([stride] * 2, [pad] * 2, [dilation] * 2, False, [0, 0], groups)
        for size in sizes:
            x = torch.randn(1, ic, size, size)
            spread = f" d{dilation}" if dilation > 1 else ""
            label = f"{ic}>{oc} {size} k{kernel} s{stride} g{groups}{spread}"
            yield Case("convolution.out", label, (x, w, bias, *rest))
            last = (x.to(**_LAST), w.to(**_LAST), None, *rest)
            yield Case("convolution.out", f"{label} last", last)


def _others() -> Iterator[Case]:
    """conv1d, conv3d and transposed convolutions."""
    for dims, table in ((1, _CONV1D), (3, _CONV3D)):
        for (ic, oc, kernel, stride, pad, groups), sizes in table:
            w = torch.randn(oc, ic // groups, *[kernel] * dims)
            rest = ([stride] * dims, [pad] * dims, [1] * dims, False, [0] * dims, groups)
            for size in sizes:
                x = torch.randn(1, ic, *[size] * dims)
                label = f"{dims}-D {ic}>{oc} {size} k{kernel} s{stride} g{groups}"
                yield Case("convolution.out", label, (x, w, None, *rest))
    for (ic, oc, kernel, stride, pad, groups), sizes in _TRANSPOSED:
        w = torch.randn(ic, oc // groups, kernel, kernel)
        rest = ([stride] * 2, [pad] * 2, [1, 1], True, [0, 0], groups)
        for size in sizes:
            x = torch.randn(1, ic, size, size)
            label = f"transposed {ic}>{oc} {size} k{kernel} s{stride}"
            yield Case("convolution.out", label, (x, w, None, *rest))


def _sixteen_bits() -> Iterator[Case]:
    for dtype in (torch.bfloat16, torch.float16):
        for (ic, oc, kernel, stride, pad, dilation, groups), size in _LOW:
            x = torch.randn(1, ic, size, size).to(dtype)
            w = (torch.randn(oc, ic // groups, kernel, kernel) / 8).to(dtype)
            rest = ([stride] * 2, [pad] * 2, [dilation] * 2, False, [0, 0], groups)
            label = f"{str(dtype)[6:]} {ic}>{oc} {size} k{kernel} s{stride} g{groups}"
            yield Case("convolution.out", label, (x, w, None, *rest))
            last = (x.to(**_LAST), w.to(**_LAST), None, *rest)
            yield Case("convolution.out", f"{label} last", last)


def cases() -> Iterator[Case]:
    yield from _images()
    yield from _others()
    yield from _sixteen_bits()
    for channels, size in ((4, 8), (16, 28), (64, 56)):
        x, w = torch.randn(1, channels, size, size), torch.randn(channels, channels, 3, 3)
        sizes = [channels], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True]
        yield Case(
            "convolution_backward.out", f"{channels} {size} k3", (torch.randn_like(x), x, w, *sizes)
        )
