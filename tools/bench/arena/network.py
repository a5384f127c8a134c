# SPDX-License-Identifier: BSD-3-Clause
"""What one row of the arena says: a network, its family, and how it and its inputs are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from executorch.tools.architectures import models, weights
from executorch.tools.architectures.row import Architecture, Input

Made = tuple[nn.Module, tuple[torch.Tensor, ...]]


@dataclass(frozen=True)
class Network:
    """`make` gives the module in eval mode and one call's positional tensors. `place`: width and work of a layer, where
    it stands in the heat map of its family."""

    name: str
    family: str
    make: Callable[[], Made]
    place: tuple[int, int] | None = None

    def build(self) -> Made:
        """With weights drawn so that signals keep unit variance; the same at every call."""
        torch.manual_seed(0)
        module, inputs = self.make()
        module.eval()
        weights.draw(module, inputs)
        return module, inputs

    def others(self, count: int) -> Iterator[tuple[torch.Tensor, ...]]:
        """The inputs of further calls; the same at every call."""
        for seed in range(1, count + 1):
            torch.manual_seed(seed)
            yield self.make()[1]


def hub(
    name: str, family: str, stem: str, inputs: dict[str, Input], model: str = "Model", **more: Any
) -> Network:
    """`{stem}{model}` of `transformers` with its default configuration, but for `more`."""
    row = Architecture(name, family, f"{stem}{model}", f"{stem}Config", more, inputs)

    def make() -> Made:
        tensors = tuple(models.tensor(each, {}) for each in row.as_json()["inputs"].values())
        return models.build(row.as_json()), tensors

    return Network(name, family, make)


def own(
    name: str, family: str, build: Callable[[], nn.Module], *shapes: tuple[int, ...]
) -> Network:
    """A module defined here, on floats of `shapes`."""
    return Network(name, family, lambda: (build(), tuple(torch.randn(shape) for shape in shapes)))
