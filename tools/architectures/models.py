# SPDX-License-Identifier: BSD-3-Clause
"""The model and the inputs of a row. Imports torch alone, and `transformers` when asked to build: engine.py reads it in
environments that have nothing of this repository.
"""

from __future__ import annotations

from typing import Any

import torch


def tensor(wanted: dict[str, Any], sizes: dict[str, int]) -> torch.Tensor:
    """An input as row.Input says it; `sizes` gives the dynamic ones."""
    shape = [sizes[size] if isinstance(size, str) else size for size in wanted["shape"]]
    if wanted["kind"] == "ids":
        return torch.randint(2, wanted["high"], shape)
    make = {"ones": torch.ones, "zeros": torch.zeros}.get(wanted["kind"])
    return make(shape, dtype=torch.int64) if make else torch.randn(shape)


class TensorsOnly(torch.nn.Module):
    """The model on positional tensors, with a plain tuple of tensors for its result."""

    def __init__(self, model: torch.nn.Module, names: list[str]) -> None:
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        result = self.model(**dict(zip(self.names, inputs)))
        found, seen = [], set()
        for leaf in torch.utils._pytree.tree_leaves(tuple(result.values())):
            if isinstance(leaf, torch.Tensor) and id(leaf) not in seen:
                seen.add(id(leaf))
                found.append(leaf)
        return tuple(found)


def build(row: dict[str, Any]) -> torch.nn.Module:
    """Of a row.Architecture as JSON: random weights, positional tensors in, a tuple of tensors out."""
    import transformers

    config_class = getattr(transformers, row["config"])
    config = config_class(**row["arguments"])
    torch.manual_seed(0)
    model = getattr(transformers, row["model"])(config)
    return TensorsOnly(model, list(row["inputs"])).eval()
