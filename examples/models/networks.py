# SPDX-License-Identifier: BSD-3-Clause
"""The real networks as rows: how to build, what goes in, and which dimension may be dynamic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from executorch.examples.models.example import Example, Inputs, single
from executorch.examples.models.llama_style import LlamaStyle, Shape
from executorch.examples.models.mobilenet_v2 import mobilenet_v2
from executorch.examples.models.resnet import ResNet18
from executorch.examples.models.transformers import Bert, VisionTransformer
from executorch.examples.models.weights import prepare


@dataclass(frozen=True)
class Network:
    """One network.

    `inputs(size)` makes inputs whose dynamic dimension is `size`; `dynamic(dim)` says where that is.
    `sizes` are the calls of the dynamic form, within 1..`most`; the static form uses `size`.
    """

    build: Callable[[Inputs], nn.Module]
    inputs: Callable[[int], Inputs]
    dynamic: Callable[[Any], Any]
    size: int
    sizes: tuple[int, int, int]
    most: int

    def example(self, dynamic: bool) -> Example:
        inputs = self.inputs(self.size)
        model = self.build(inputs)
        if not dynamic:
            return single(model, inputs)
        dim = torch.export.Dim("size", min=1, max=self.most)
        calls = [self.inputs(size) for size in self.sizes]
        return single(model, self.inputs(self.sizes[1]), calls, self.dynamic(dim))


class CachedNetwork(Network):
    """Positions go on from call to call: a second call attends to what the first one left in the cache."""

    def example(self, dynamic: bool) -> Example:
        sizes = self.sizes if dynamic else (self.size, self.size)
        model = self.build(self.inputs(sizes[0]))
        calls, start = [], 0
        for size in sizes:
            ids, positions = self.inputs(size)
            calls.append((ids, positions + start))
            start += size
        dim = torch.export.Dim("size", min=1, max=self.most)
        return single(model, self.inputs(sizes[1]), calls, self.dynamic(dim) if dynamic else None)


def images(batch: int) -> Inputs:
    return (torch.randn(batch, 3, 224, 224),)


def sentences(tokens: int) -> Inputs:
    mask = torch.ones(1, tokens, dtype=torch.int64)
    mask[:, tokens - tokens // 4 :] = 0
    return torch.randint(0, 8192, (1, tokens)), mask


def prompt(tokens: int) -> Inputs:
    return (torch.randint(0, Shape.vocabulary, (1, tokens)),)


def prompt_at(tokens: int) -> Inputs:
    return (*prompt(tokens), torch.arange(tokens))


def batch_of_first(dim: Any) -> Any:
    return ({0: dim},)


NETWORKS = {
    "mv2": Network(mobilenet_v2, images, batch_of_first, 1, (1, 2, 3), 4),
    "resnet18": Network(lambda x: prepare(ResNet18(), x), images, batch_of_first, 1, (1, 2, 3), 4),
    "vit": Network(
        lambda x: prepare(VisionTransformer(), x), images, batch_of_first, 1, (1, 2, 3), 4
    ),
    "bert": Network(
        lambda x: prepare(Bert(), x),
        sentences,
        lambda dim: ({1: dim}, {1: dim}),
        128,
        (7, 64, 200),
        256,
    ),
    "llama": Network(
        lambda x: prepare(LlamaStyle(), x), prompt, lambda dim: ({1: dim},), 32, (3, 17, 48), 48
    ),
    "llama_kv": CachedNetwork(
        lambda x: prepare(LlamaStyle(cache=True), x),
        prompt_at,
        lambda dim: ({1: dim}, {0: dim}),
        8,
        (5, 16, 3),
        32,
    ),
}
