# SPDX-License-Identifier: BSD-3-Clause
"""What one row of the benchmark suite says: a network, its family, and how it and its inputs are made."""

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
    it stands in the heat map of its family. `cut`: what it leaves out of what was published."""

    name: str
    family: str
    make: Callable[[], Made]
    place: tuple[int, int] | None = None
    cut: Callable[[], str] = str

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
    name: str,
    family: str,
    stem: str,
    inputs: dict[str, Input],
    model: str = "Model",
    is_uncut: bool = False,
    **more: Any,
) -> Network:
    """`{stem}{model}` of `transformers` with its default configuration, but for `more`. `is_uncut`: such a network was
    published, with fewer layers than the default one."""
    row = Architecture(name, family, f"{stem}{model}", f"{stem}Config", more, inputs)

    def make() -> Made:
        tensors = tuple(models.tensor(each, {}) for each in row.as_json()["inputs"].values())
        return models.build(row.as_json()), tensors

    return Network(name, family, make, cut=lambda: "" if is_uncut else _smaller(row))


def _smaller(row: Architecture) -> str:
    """Layers and words of the row's configuration beside those of the default one, where they are fewer."""
    import transformers

    def size(value: Any) -> int:
        return sum(value) if isinstance(value, list | tuple) else value

    default = getattr(transformers, row.config)()
    sizes = {
        name: (size(value), size(getattr(default, name)))
        for name, value in row.arguments.items()
        if any(word in name for word in ("layers", "layer", "depth", "vocab_size"))
        and isinstance(value, int | list)
    }
    few = [f"{name} {ours} of {all_}" for name, (ours, all_) in sizes.items() if ours < all_]
    return ", ".join(few)


def own(
    name: str,
    family: str,
    build: Callable[[], nn.Module],
    *shapes: tuple[int, ...],
    cut: str = "",
) -> Network:
    """A module defined here, on floats of `shapes`."""
    return Network(
        name,
        family,
        lambda: (build(), tuple(torch.randn(shape) for shape in shapes)),
        cut=lambda: cut,
    )
