# SPDX-License-Identifier: BSD-3-Clause
"""Networks on images whose convolutions have groups of few channels, after their papers, at published widths."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from executorch.tools.bench.suite.images import classifier, conv, unit


class _Grouped(nn.Sequential):
    """`width` channels by 32 groups."""

    def __init__(self, width: int, stride: int) -> None:
        super().__init__(unit(width, width, 3, stride, groups=32))


class _Selective(nn.Module):
    """Two branches, of which each channel takes what a network of the image's means weighs."""

    def __init__(self, width: int, stride: int) -> None:
        super().__init__()
        self.near = unit(width, width, 3, stride, groups=32)
        self.far = unit(width, width, 3, stride, groups=32, dilation=2)
        self.squeeze = unit(width, max(width // 16, 32), 1)
        self.weigh = conv(max(width // 16, 32), 2 * width, 1)

    def forward(self, x: Tensor) -> Tensor:
        both = torch.stack([self.near(x), self.far(x)], 1)
        means = both.sum(1).mean((2, 3), keepdim=True)
        weights = self.weigh(self.squeeze(means)).unflatten(1, (2, -1))
        return (both * weights.softmax(1)).sum(1)


class _Bottleneck(nn.Module):
    def __init__(self, kind: type[nn.Module], inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        narrow = outputs // 2
        self.body = nn.Sequential(
            unit(inputs, narrow, 1),
            kind(narrow, stride),
            conv(narrow, outputs, 1),
            nn.BatchNorm2d(outputs),
        )
        same = inputs == outputs and stride == 1
        self.skip = nn.Identity() if same else unit(inputs, outputs, 1, stride, act=nn.Identity)

    def forward(self, x: Tensor) -> Tensor:
        return (self.body(x) + self.skip(x)).relu()


class ResNeXt(nn.Sequential):
    """Xie et al., 2016: 32 groups of 4 to 32 channels, two blocks a stage. With `kind` _Selective, Li et al., 2019."""

    def __init__(self, kind: type[nn.Module] = _Grouped) -> None:
        layers: list[nn.Module] = [unit(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
        width = 64
        for stage, outputs in enumerate((256, 512, 1024, 2048)):
            layers.append(_Bottleneck(kind, width, outputs, 1 if stage == 0 else 2))
            layers.append(_Bottleneck(kind, outputs, outputs, 1))
            width = outputs
        super().__init__(*layers, classifier(width))


def selective_kernels() -> ResNeXt:
    return ResNeXt(_Selective)


class _Mixed(nn.Module):
    """Pixels mixed channel by channel, then channels pixel by pixel; both beside the input."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.pixels = nn.Sequential(conv(width, width, 3, groups=width), nn.BatchNorm2d(width))
        self.channels = nn.Sequential(
            conv(width, width, 7, groups=width),
            nn.BatchNorm2d(width),
            conv(width, 3 * width, 1),
            nn.GELU(),
            conv(3 * width, width, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.pixels(x)
        return x + self.channels(x)


class LargeKernels(nn.Sequential):
    """Vasu et al., 2023 (FastViT): stages begin with 7 x 7 pixels by channel, each of which becomes two."""

    def __init__(self) -> None:
        layers: list[nn.Module] = [
            unit(3, 48, 3, 2, nn.GELU),
            unit(48, 48, 3, 2, nn.GELU, groups=48),
            unit(48, 48, 1, 1, nn.GELU),
        ]
        width = 48
        for blocks in (2, 2, 4, 2):
            layers += [_Mixed(width) for _ in range(blocks)]
            if width < 384:
                layers += [
                    unit(width, 2 * width, 7, 2, nn.GELU, groups=width),
                    unit(2 * width, 2 * width, 1, 1, nn.GELU),
                ]
                width *= 2
        super().__init__(*layers, classifier(width))
