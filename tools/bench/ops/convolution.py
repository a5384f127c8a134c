# SPDX-License-Identifier: BSD-3-Clause
"""Convolutions: layers of well-known networks, and shapes that fall between their fast paths."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from tools.bench.ops.case import Case

# Batch, in, out, size, kernel, stride, padding, dilation, groups.
_IMAGES = (
    (1, 3, 32, 224, 3, 2, 1, 1, 1),
    (1, 32, 32, 112, 3, 1, 1, 1, 32),
    (1, 32, 16, 112, 1, 1, 0, 1, 1),
    (1, 96, 96, 112, 3, 2, 1, 1, 96),
    (1, 144, 24, 56, 1, 1, 0, 1, 1),
    (1, 960, 320, 7, 1, 1, 0, 1, 1),
    (1, 960, 960, 7, 3, 1, 1, 1, 960),
    (1, 3, 64, 224, 7, 2, 3, 1, 1),
    (1, 64, 64, 56, 3, 1, 1, 1, 1),
    (1, 64, 128, 56, 1, 2, 0, 1, 1),
    (1, 128, 128, 28, 3, 1, 1, 1, 1),
    (1, 256, 512, 14, 3, 2, 1, 1, 1),
    (1, 512, 512, 7, 3, 1, 1, 1, 1),
    (1, 3, 192, 224, 16, 16, 0, 1, 1),
    (2, 64, 64, 28, 3, 1, 2, 2, 8),
)
# Batch, in, out, length, kernel, stride, padding, groups.
_SEQUENCES = ((1, 64, 128, 1000, 5, 1, 2, 1),)


def cases() -> Iterator[Case]:
    for n, ic, oc, size, kernel, stride, pad, dilation, groups in _IMAGES:
        x = torch.randn(n, ic, size, size)
        w = torch.randn(oc, ic // groups, kernel, kernel)
        rest = ([stride] * 2, [pad] * 2, [dilation] * 2, False, [0, 0], groups)
        label = f"{ic}>{oc} {size} k{kernel} s{stride} g{groups}"
        yield Case("convolution.out", label, (x, w, torch.randn(oc), *rest))
        last = {"memory_format": torch.channels_last}
        yield Case("convolution.out", label + " last", (x.to(**last), w.to(**last), None, *rest))
    for n, ic, oc, length, kernel, stride, pad, groups in _SEQUENCES:
        x, w = torch.randn(n, ic, length), torch.randn(oc, ic // groups, kernel)
        label = f"1-D {ic}>{oc} {length} k{kernel} s{stride} g{groups}"
        yield Case("convolution.out", label, (x, w, None, [stride], [pad], [1], False, [0], groups))
    x, w = torch.randn(1, 64, 28, 28), torch.randn(64, 32, 2, 2)
    rest = ([2, 2], [0, 0], [1, 1], True, [0, 0], 1)
    yield Case("convolution.out", "transposed 64>32 28 k2 s2", (x, w, None, *rest))
    for channels, size in ((4, 8), (16, 28), (64, 56)):
        x, w = torch.randn(1, channels, size, size), torch.randn(channels, channels, 3, 3)
        sizes = [channels], [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, True]
        yield Case(
            "convolution_backward.out", f"{channels} {size} k3", (torch.randn_like(x), x, w, *sizes)
        )
