# SPDX-License-Identifier: BSD-3-Clause
"""The hook of the conformance suite: what a backend says of itself, and where backends are found."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import torch

import executorch.backends
from executorch.exir.backend.partitioner import Partitioner
from executorch.extension.pybindings import libraries

Sample = tuple[torch.nn.Module, tuple[torch.Tensor, ...]]


class Weights(Enum):
    """Where a backend has the constants that its delegates read."""

    IN_PLACE = "the bytes of the file are read"
    PACKED = "there is one copy in a layout of the backend, and the file's bytes are given back"
    BOTH = "there is such a copy, and the bytes of the file stay in use"
    INPUTS = "delegates own no constants: they are inputs"


class AddedWeight(torch.nn.Module):
    def __init__(self, num_bytes: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(num_bytes // 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight


def added_weight(num_bytes: int) -> Sample:
    return AddedWeight(num_bytes), (torch.randn(num_bytes // 4),)


@dataclass(frozen=True)
class Backend:
    """`library`: the path of the shared library with the runtime half (of a backend in this package, its name in the
    build); empty for what is part of the Python runtime. `named_data`: constants are named data, which delegates share.
    `dynamic_shapes`: sizes may be dynamic inside a delegate. `weighted`: a model that is delegated as a whole, with so
    many bytes of weights. `why_missing`: what is not installed of another maker's compiler; empty when nothing is."""

    id: str
    partitioner: Callable[[], Partitioner]
    library: str = ""
    weights: Weights = Weights.IN_PLACE
    named_data: bool = True
    dynamic_shapes: bool = True
    weighted: Callable[[int], Sample] = added_weight
    why_missing: Callable[[], str] = str

    def load_runtime(self) -> None:
        """Registers the runtime half; again without effect."""
        if self.library:
            libraries.load(self.library)


def all_backends() -> dict[str, Backend]:
    """By id, of all folders of backends that have a hook."""
    found: dict[str, Backend] = {}
    for root in executorch.backends.__path__:
        for hook in sorted(Path(root).glob("*/test/conformance.py")):
            folder = hook.parents[1].name
            module = importlib.import_module(f"executorch.backends.{folder}.test.conformance")
            found |= {backend.id: backend for backend in module.BACKENDS}
    return found
