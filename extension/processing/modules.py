# SPDX-License-Identifier: BSD-3-Clause
"""A module for each step, by the name in its row of steps.py. Pixels are floats from 0 to 255, [1, 3, height, width];
what a model gives is a dictionary of `scores`, and `boxes` or `classes`."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch._higher_order_ops.scan import scan
from torch.nn import functional

Outputs = dict[str, Tensor]
MAX = 255  # of a byte


class Flip(nn.Module):
    """Of [height, width, 3]."""

    def forward(self, picture: Tensor) -> Tensor:
        return picture.flip(2)


class Pixels(nn.Module):
    """Bytes [height, width, 3] -> pixels."""

    def forward(self, picture: Tensor) -> Tensor:
        return picture.permute(2, 0, 1).unsqueeze(0).float()


class Resize(nn.Module):
    """torchvision's sizes: without a width the short side has `height`, the other one keeps the ratio, rounded down."""

    def __init__(self, height: int, width: int | None, antialias: bool) -> None:
        super().__init__()
        self.height, self.width, self.antialias = height, width, antialias

    def forward(self, pixels: Tensor) -> Tensor:
        height, width = self.height, self.width
        if width is None:
            given = pixels.shape[2:]
            short = torch.sym_min(given[0], given[1])
            height, width = (self.height * side // short for side in given)
        return functional.interpolate(
            pixels, (height, width), mode="bilinear", align_corners=False, antialias=self.antialias
        )


class Crop(nn.Module):
    """torchvision's middle, by index: of a slice torch.export asks for a proof that it is within the pixels."""

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        self.sizes = (height, width)

    def forward(self, pixels: Tensor) -> Tensor:
        for dim, size in zip((2, 3), self.sizes):
            start = middle(pixels.shape[dim] - size)
            pixels = pixels.index_select(dim, torch.arange(size) + start)
        return pixels


def middle(spare: int) -> int:
    """int(round(spare / 2.0)), as torchvision and Python round (halves to even), for sizes of a trace, too."""
    return spare // 2 + spare % 4 // 3


class Normalize(nn.Module):
    def __init__(self, mean: tuple[float, ...], deviation: tuple[float, ...]) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(-1, 1, 1), persistent=False)
        self.register_buffer("deviation", torch.tensor(deviation).view(-1, 1, 1), persistent=False)

    def forward(self, pixels: Tensor) -> Tensor:
        return (pixels / MAX - self.mean) / self.deviation


class Unit(nn.Module):
    """What Normalize is without means."""

    def forward(self, pixels: Tensor) -> Tensor:
        return pixels / MAX


class Softmax(nn.Module):
    def forward(self, found: Outputs) -> Outputs:
        return {**found, "scores": found["scores"].softmax(-1)}


class Sigmoid(nn.Module):
    def forward(self, found: Outputs) -> Outputs:
        return {**found, "scores": found["scores"].sigmoid()}


class Top(nn.Module):
    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, found: Outputs) -> Outputs:
        scores, classes = found["scores"].topk(self.count, -1)
        return {"scores": scores, "classes": classes}


class Nms(nn.Module):
    """torchvision.ops.batched_nms of the best class of each box, without its sort: each of `count` turns takes the best
    box that is left, of equal ones the first, and drops those that overlap it: count * boxes IoUs, no matrix of them,
    and one body of 20 operators in the file, whatever the count."""

    def __init__(self, iou: float, count: int, score: float | None) -> None:
        super().__init__()
        self.iou, self.count, self.score = iou, count, score

    def forward(self, found: Outputs) -> Outputs:
        boxes, scores = found["boxes"].reshape(-1, 4), found["scores"]
        scores, classes = scores.reshape(len(boxes), -1).max(1)
        # A scan takes no views of one tensor.
        left, top, right, bottom = (boxes[:, side].clone() for side in range(4))
        area = (right - left) * (bottom - top)
        places = torch.arange(len(boxes))
        iou = self.iou
        if self.score is None:
            candidates = scores.clone()
        else:
            candidates = torch.where(scores > self.score, scores, -torch.inf)

        def turn(candidates: Tensor, _: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
            best = candidates.argmax(0, keepdim=True)
            wide = torch.minimum(right, right[best]) - torch.maximum(left, left[best])
            high = torch.minimum(bottom, bottom[best]) - torch.maximum(top, top[best])
            both = wide.clamp(min=0) * high.clamp(min=0)
            overlaps = both / (area + area[best] - both) > iou
            dropped = overlaps & (classes == classes[best]) | (places == best)
            return torch.where(dropped, -torch.inf, candidates), (best, candidates[best])

        _, (best, scores) = scan(turn, candidates, torch.zeros(self.count))
        best, scores = best[:, 0], scores[:, 0]
        is_one = scores > -torch.inf
        return {
            "boxes": torch.where(is_one[:, None], boxes[best], 0.0).unsqueeze(0),
            "scores": torch.where(is_one, scores, 0.0).unsqueeze(0),
            "classes": torch.where(is_one, classes[best], -1).unsqueeze(0),
        }
