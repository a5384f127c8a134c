# SPDX-License-Identifier: BSD-3-Clause
"""Corrupted payloads: what tools ask of them is an answer or a ValueError."""

from __future__ import annotations

import os
from collections import Counter

import pytest
import torch

from executorch.backends.apple.mps.payload_reader import facts, operators
from executorch.backends.apple.mps.test.conformance import partitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.test.hardening.mutants import mutants

pytestmark = pytest.mark.filterwarnings("ignore:The MPS:FutureWarning")
COUNT = int(os.environ.get("EXECUTORCH_MUTANTS", "1000")) * 10


class Layers(torch.nn.Module):
    """Nodes with lists, texts, limits and several results."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.linear = torch.nn.Conv2d(3, 4, 3), torch.nn.Linear(9, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        first, last = self.conv(x).clamp(-1, 1).split([1, 3], 1)
        y = torch.nn.functional.gelu(torch.nn.functional.max_pool2d(first, 2))
        return torch.cat([self.linear(y.flatten(1)), last.mean((2, 3))], 1).softmax(-1)


def payload() -> bytes:
    program = torch.export.export(Layers().eval(), (torch.randn(1, 3, 8, 8),))
    edge = to_edge_transform_and_lower(program, partitioner=[partitioner(True)])
    (module,) = get_lowered_backend_modules(edge.exported_program().graph_module)
    return bytes(module.processed_bytes)


def read(data: bytes) -> str:
    try:
        operators(data), facts(data)
    except ValueError:
        return "refused"
    return "read"


def test_mutants_are_read_or_refused() -> None:
    whole = payload()
    assert read(whole) == "read" and len(operators(whole)) == 13
    verdicts = Counter(read(each) for each in mutants(whole, COUNT, seed=5))
    assert sum(verdicts.values()) == COUNT and verdicts["refused"] > COUNT // 10


def test_every_prefix_is_refused() -> None:
    whole = payload()
    assert {read(whole[:size]) for size in range(len(whole))} == {"refused"}
