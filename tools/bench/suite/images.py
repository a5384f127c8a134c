# SPDX-License-Identifier: BSD-3-Clause
"""Networks on images that `transformers` has no plain form of, after their papers, at published widths."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


def conv(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, **more: int) -> nn.Conv2d:
    """A convolution that keeps the size, but for its stride."""
    padding = more.get("dilation", 1) * (kernel - 1) // 2
    return nn.Conv2d(inputs, outputs, kernel, stride, padding, **more)


def unit(
    inputs: int,
    outputs: int,
    kernel: int = 3,
    stride: int = 1,
    act: type[nn.Module] = nn.ReLU,
    **more: int,
) -> nn.Sequential:
    """Convolution, batch norm, activation."""
    return nn.Sequential(
        conv(inputs, outputs, kernel, stride, **more), nn.BatchNorm2d(outputs), act()
    )


def classifier(width: int, classes: int = 1000) -> nn.Sequential:
    return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))


class Vgg(nn.Sequential):
    """Simonyan and Zisserman, 2014: configuration A without its wide classifier."""

    def __init__(self) -> None:
        layers: list[nn.Module] = []
        width = 3
        for stage, count in ((64, 1), (128, 1), (256, 2), (512, 2), (512, 2)):
            for _ in range(count):
                layers += [conv(width, stage), nn.ReLU()]
                width = stage
            layers.append(nn.MaxPool2d(2))
        super().__init__(*layers, classifier(width))


class _Dense(nn.Module):
    def __init__(self, width: int, growth: int) -> None:
        super().__init__()
        self.narrow = nn.Sequential(nn.BatchNorm2d(width), nn.ReLU(), conv(width, 4 * growth, 1))
        self.grow = nn.Sequential(nn.BatchNorm2d(4 * growth), nn.ReLU(), conv(4 * growth, growth))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.grow(self.narrow(x))], 1)


class DenseNet(nn.Sequential):
    """Huang et al., 2016: growth 32, four blocks of 3, 6, 6 and 4 layers."""

    def __init__(self) -> None:
        layers: list[nn.Module] = [unit(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
        width = 64
        for number, count in enumerate((3, 6, 6, 4)):
            if number:
                layers += [nn.BatchNorm2d(width), nn.ReLU(), conv(width, width // 2, 1)]
                layers.append(nn.AvgPool2d(2))
                width //= 2
            layers += [_Dense(width + 32 * i, 32) for i in range(count)]
            width += 32 * count
        super().__init__(*layers, nn.BatchNorm2d(width), nn.ReLU(), classifier(width))


class _Fire(nn.Module):
    def __init__(self, inputs: int, squeeze: int, expand: int) -> None:
        super().__init__()
        self.squeeze, self.one = conv(inputs, squeeze, 1), conv(squeeze, expand, 1)
        self.three = conv(squeeze, expand)

    def forward(self, x: Tensor) -> Tensor:
        x = functional.relu(self.squeeze(x))
        return torch.cat([functional.relu(self.one(x)), functional.relu(self.three(x))], 1)


class SqueezeNet(nn.Sequential):
    """Iandola et al., 2016, version 1.1."""

    def __init__(self) -> None:
        fires = ((64, 16, 64), (128, 16, 64), (128, 32, 128), (256, 32, 128))
        late = ((256, 48, 192), (384, 48, 192), (384, 64, 256), (512, 64, 256))
        pool = (3, 2, 0)
        super().__init__(
            nn.Conv2d(3, 64, 3, 2),
            nn.ReLU(),
            nn.MaxPool2d(*pool, ceil_mode=True),
            *(_Fire(*each) for each in fires[:2]),
            nn.MaxPool2d(*pool, ceil_mode=True),
            *(_Fire(*each) for each in fires[2:]),
            nn.MaxPool2d(*pool, ceil_mode=True),
            *(_Fire(*each) for each in late),
            conv(512, 1000, 1),
            nn.AdaptiveAvgPool2d(1),
        )


class _Shuffle(nn.Module):
    """Half of the channels pass; then the halves' channels alternate."""

    def __init__(self, width: int) -> None:
        super().__init__()
        half = width // 2
        self.side = nn.Sequential(
            unit(half, half, 1), unit(half, half, act=nn.Identity, groups=half), unit(half, half, 1)
        )

    def forward(self, x: Tensor) -> Tensor:
        left, right = x.chunk(2, 1)
        batch, width, height, length = x.shape
        both = torch.cat([left, self.side(right)], 1)
        return both.view(batch, 2, width // 2, height, length).transpose(1, 2).reshape(x.shape)


class ShuffleNet(nn.Sequential):
    """Ma et al., 2018: version 2, width 1; stages begin with a plain convolution of stride 2."""

    def __init__(self) -> None:
        layers: list[nn.Module] = [unit(3, 24, stride=2), nn.MaxPool2d(3, 2, 1)]
        width = 24
        for stage, count in ((116, 3), (232, 7), (464, 3)):
            layers += [unit(width, stage, 3, 2), *(_Shuffle(stage) for _ in range(count))]
            width = stage
        super().__init__(*layers, unit(width, 1024, 1), classifier(1024))


class _Squeeze(nn.Module):
    """Scales channels by what their means say (Hu et al., 2017)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.down, self.up = conv(width, width // 4, 1), conv(width // 4, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        means = functional.relu(self.down(functional.adaptive_avg_pool2d(x, 1)))
        return x * functional.hardsigmoid(self.up(means))


class _Inverted(nn.Module):
    def __init__(self, inputs: int, kernel: int, inner: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            unit(inputs, inner, 1, act=nn.Hardswish),
            unit(inner, inner, kernel, stride, act=nn.Hardswish, groups=inner),
            _Squeeze(inner),
            unit(inner, outputs, 1, act=nn.Identity),
        )
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.adds else self.body(x)


class MobileNetV3(nn.Sequential):
    """Howard et al., 2019, small: kernel, inner width, width, stride."""

    def __init__(self) -> None:
        rows = ((3, 16, 16, 2), (3, 72, 24, 2), (3, 88, 24, 1), (5, 96, 40, 2), (5, 240, 40, 1))
        rows += ((5, 120, 48, 1), (5, 144, 48, 1), (5, 288, 96, 2), (5, 576, 96, 1))
        layers: list[nn.Module] = [unit(3, 16, stride=2, act=nn.Hardswish)]
        width = 16
        for kernel, inner, outputs, stride in rows:
            layers.append(_Inverted(width, kernel, inner, outputs, stride))
            width = outputs
        super().__init__(*layers, unit(width, 576, 1, act=nn.Hardswish), classifier(576))


class _Mix(nn.Module):
    def __init__(self, tokens: int, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.across = nn.Sequential(nn.Linear(tokens, 256), nn.GELU(), nn.Linear(256, tokens))
        self.along = nn.Sequential(nn.Linear(width, 2048), nn.GELU(), nn.Linear(2048, width))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.across(self.norms[0](x).transpose(1, 2)).transpose(1, 2)
        return x + self.along(self.norms[1](x))


class Mixer(nn.Module):
    """Tolstikhin et al., 2021: S/16, four layers."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 512, 16, 16)
        self.layers = nn.Sequential(*(_Mix(196, 512) for _ in range(4)))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(self.patches(x).flatten(2).transpose(1, 2)).mean(1)


class Detector(nn.Module):
    """A single-shot detector (Liu et al., 2015) on depthwise features: boxes and scores of three scales."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            unit(3, 32, stride=2), self._step(32, 64, 2), self._step(64, 128, 2)
        )
        widths = (128, 256, 512, 512)
        self.scales = nn.ModuleList(self._step(a, b, 2) for a, b in zip(widths, widths[1:]))
        self.boxes = nn.ModuleList(conv(width, 24) for width in widths[1:])
        self.scores = nn.ModuleList(conv(width, 6 * 21) for width in widths[1:])

    @staticmethod
    def _step(inputs: int, outputs: int, stride: int) -> nn.Sequential:
        return nn.Sequential(
            unit(inputs, inputs, 3, stride, groups=inputs, act=nn.ReLU6),
            unit(inputs, outputs, 1, act=nn.ReLU6),
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = self.stem(x)
        boxes, scores = [], []
        for scale, box, score in zip(self.scales, self.boxes, self.scores):
            x = scale(x)
            boxes.append(box(x).permute(0, 2, 3, 1).flatten(1).view(1, -1, 4))
            scores.append(score(x).permute(0, 2, 3, 1).flatten(1).view(1, -1, 21))
        return torch.cat(boxes, 1), torch.cat(scores, 1).softmax(-1)


class Atrous(nn.Module):
    """DeepLab's head (Chen et al., 2017) on a small trunk: dilated convolutions, image pooling, bilinear resizing."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(
            unit(3, 32, stride=2), unit(32, 64, stride=2), unit(64, 128, stride=2)
        )
        self.rates = nn.ModuleList(unit(128, 128, dilation=rate) for rate in (6, 12, 18))
        self.point, self.whole, self.join = unit(128, 128, 1), conv(128, 128, 1), unit(640, 128, 1)
        self.classes = conv(128, 21, 1)

    def forward(self, x: Tensor) -> Tensor:
        features = self.trunk(x)
        whole = functional.relu(self.whole(functional.adaptive_avg_pool2d(features, 1)))
        whole = whole.expand_as(features)
        joined = self.join(
            torch.cat([self.point(features), *(f(features) for f in self.rates), whole], 1)
        )
        return functional.interpolate(self.classes(joined), x.shape[2:], mode="bilinear")


class Unet(nn.Module):
    """Ronneberger et al., 2015, half width: transposed convolutions go up."""

    def __init__(self) -> None:
        super().__init__()
        widths = (32, 64, 128, 256)
        self.down = nn.ModuleList(self._pair(a, b) for a, b in zip((3, *widths), widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths[-2::-1])
        self.join = nn.ModuleList(self._pair(2 * w, w) for w in widths[-2::-1])
        self.out = conv(widths[0], 2, 1)

    @staticmethod
    def _pair(inputs: int, outputs: int) -> nn.Sequential:
        return nn.Sequential(unit(inputs, outputs), unit(outputs, outputs))

    def forward(self, x: Tensor) -> Tensor:
        kept = []
        for number, level in enumerate(self.down):
            x = level(functional.max_pool2d(x, 2) if number else x)
            kept.append(x)
        for up, join, side in zip(self.up, self.join, kept[-2::-1]):
            x = join(torch.cat([side, up(x)], 1))
        return self.out(x)


class _Block(nn.Module):
    """A residual block of a diffusion network: group norms, SiLU, the time's embedding added between."""

    def __init__(self, inputs: int, outputs: int, time: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(32, inputs), nn.SiLU(), conv(inputs, outputs))
        self.time = nn.Linear(time, outputs)
        self.second = nn.Sequential(nn.GroupNorm(32, outputs), nn.SiLU(), conv(outputs, outputs))
        self.skip = nn.Identity() if inputs == outputs else conv(inputs, outputs, 1)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        y = self.first(x) + self.time(functional.silu(time))[:, :, None, None]
        return self.skip(x) + self.second(y)


class _Attend(nn.Module):
    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.norm, self.heads = nn.GroupNorm(32, width), heads
        self.qkv, self.out = conv(width, 3 * width, 1), conv(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        batch, width, height, length = x.shape
        qkv = self.qkv(self.norm(x)).view(
            batch, 3, self.heads, width // self.heads, height * length
        )
        query, key, value = (each.transpose(-1, -2) for each in qkv.unbind(1))
        found = functional.scaled_dot_product_attention(query, key, value)
        return x + self.out(found.transpose(-1, -2).reshape(x.shape))


class DiffusionUnet(nn.Module):
    """Ho et al., 2020: two levels of 128 and 256 channels, attention at the lower, nearest neighbours up."""

    def __init__(self, time: int = 128) -> None:
        super().__init__()
        self.stem = conv(4, 128)
        self.high, self.shrink = _Block(128, 128, time), conv(128, 256, stride=2)
        self.low = nn.ModuleList(_Block(256, 256, time) for _ in range(2))
        self.attend, self.grow = _Attend(256), conv(256, 128)
        self.last, self.out = _Block(256, 128, time), conv(128, 4)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        high = self.high(self.stem(x), time)
        low = self.low[1](self.attend(self.low[0](self.shrink(high), time)), time)
        up = self.grow(functional.interpolate(low, scale_factor=2.0, mode="nearest"))
        return self.out(self.last(torch.cat([high, up], 1), time))


class SubPixel(nn.Sequential):
    """Shi et al., 2016: channels of the last convolution become pixels."""

    def __init__(self) -> None:
        super().__init__(
            conv(1, 64, 5), nn.Tanh(), conv(64, 32), nn.Tanh(), conv(32, 9), nn.PixelShuffle(3)
        )


class _Res(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(conv(width, width), nn.ReLU(), conv(width, width))

    def forward(self, x: Tensor) -> Tensor:
        return x + 0.1 * self.body(x)


class Residual(nn.Sequential):
    """Lim et al., 2017 (EDSR), 64 channels, six blocks, twice the size."""

    def __init__(self) -> None:
        up = (conv(64, 256), nn.PixelShuffle(2), conv(64, 3))
        super().__init__(conv(3, 64), *(_Res(64) for _ in range(6)), *up)


class Generator(nn.Sequential):
    """Radford et al., 2015: transposed convolutions from a point to 64 x 64."""

    def __init__(self) -> None:
        layers: list[nn.Module] = []
        width = 100
        for number, outputs in enumerate((512, 256, 128, 64)):
            step = (1, 0) if number == 0 else (2, 1)
            layers += [nn.ConvTranspose2d(width, outputs, 4, *step, bias=False)]
            layers += [nn.BatchNorm2d(outputs), nn.ReLU()]
            width = outputs
        super().__init__(*layers, nn.ConvTranspose2d(width, 3, 4, 2, 1), nn.Tanh())


class Hourglass(nn.Module):
    """Heat maps of 17 points: down with strides, up with bilinear resizing and sums (Newell et al., 2016)."""

    def __init__(self) -> None:
        super().__init__()
        widths = (32, 64, 128, 256)
        self.down = nn.ModuleList(unit(a, b, stride=2) for a, b in zip((3, *widths), widths))
        self.side = nn.ModuleList(conv(width, 128, 1) for width in widths)
        self.out = nn.Sequential(unit(128, 128), conv(128, 17, 1))

    def forward(self, x: Tensor) -> Tensor:
        levels = []
        for down, side in zip(self.down, self.side):
            x = down(x)
            levels.append(side(x))
        y = levels.pop()
        while levels:
            y = functional.interpolate(y, scale_factor=2.0, mode="bilinear") + levels.pop()
        return self.out(y)


class ConvLstm(nn.Module):
    """Shi et al., 2015: six frames through one cell of 64 channels; the next one's single channel."""

    def __init__(self) -> None:
        super().__init__()
        self.frame, self.gates, self.out = conv(1, 16), conv(80, 256), conv(64, 1, 1)

    def forward(self, frames: Tensor) -> Tensor:
        batch, count, _, height, length = frames.shape
        hidden = cell = frames.new_zeros(batch, 64, height, length)
        for number in range(count):
            seen = functional.relu(self.frame(frames[:, number]))
            gates = self.gates(torch.cat([seen, hidden], 1))
            enter, forget, leave, new = gates.chunk(4, 1)
            cell = torch.sigmoid(forget) * cell + torch.sigmoid(enter) * torch.tanh(new)
            hidden = torch.sigmoid(leave) * torch.tanh(cell)
        return self.out(hidden)


class _Separable(nn.Sequential):
    def __init__(self, width: int, kernel: int) -> None:
        super().__init__(
            nn.ReLU(),
            conv(width, width, kernel, groups=width),
            conv(width, width, 1),
            nn.BatchNorm2d(width),
        )


class _Cell(nn.Module):
    """Sums of pairs of separable convolutions and averages, joined along channels."""

    def __init__(self, inputs: int, before: int, width: int) -> None:
        super().__init__()
        self.here, self.past = (
            nn.Sequential(nn.ReLU(), conv(each, width, 1), nn.BatchNorm2d(width))
            for each in (inputs, before)
        )
        self.steps = nn.ModuleList(_Separable(width, kernel) for kernel in (5, 3, 5, 3, 3))

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        here, past = self.here(x), self.past(before)
        step = self.steps
        around = functional.avg_pool2d(here, 3, 1, 1, count_include_pad=False)
        pairs = (
            step[0](here) + step[1](past),
            step[2](past) + step[3](past),
            around + past,
            step[4](here) + here,
        )
        return torch.cat([past, *pairs], 1)


class NasNet(nn.Module):
    """Zoph et al., 2017: three cells of the mobile network."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(unit(3, 32, stride=2), unit(32, 44, stride=2))
        self.cells = nn.ModuleList((_Cell(44, 44, 44), _Cell(220, 44, 44), _Cell(220, 220, 88)))
        self.head = classifier(440)

    def forward(self, x: Tensor) -> Tensor:
        before = x = self.stem(x)
        for cell in self.cells[:2]:
            before, x = x, cell(x, before)
        before, x = (functional.max_pool2d(each, 3, 2, 1) for each in (before, x))
        return self.head(self.cells[2](x, before))


class _Bottleneck(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(unit(width, width, act=nn.SiLU), unit(width, width, act=nn.SiLU))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x)


class _Partial(nn.Module):
    """A part of the channels goes through bottlenecks; all that was made on the way is joined."""

    def __init__(self, width: int, count: int) -> None:
        super().__init__()
        self.split = unit(width, width, 1, act=nn.SiLU)
        self.blocks = nn.ModuleList(_Bottleneck(width // 2) for _ in range(count))
        self.join = unit((2 + count) * width // 2, width, 1, act=nn.SiLU)

    def forward(self, x: Tensor) -> Tensor:
        parts = list(self.split(x).chunk(2, 1))
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.join(torch.cat(parts, 1))


class CrossStage(nn.Module):
    """A detector's trunk of cross-stage partial blocks (Wang et al., 2019) and pools of growing reach."""

    def __init__(self) -> None:
        super().__init__()
        stages: list[nn.Module] = [unit(3, 16, stride=2, act=nn.SiLU)]
        for inputs, count in ((16, 1), (32, 2), (64, 2), (128, 1)):
            stages += [unit(inputs, 2 * inputs, stride=2, act=nn.SiLU), _Partial(2 * inputs, count)]
        self.stages = nn.Sequential(*stages, unit(256, 128, 1, act=nn.SiLU))
        self.out = conv(512, 84, 1)

    def forward(self, x: Tensor) -> Tensor:
        pools = [self.stages(x)]
        for _ in range(3):
            pools.append(functional.max_pool2d(pools[-1], 5, 1, 2))
        return self.out(torch.cat(pools, 1)).sigmoid()
