# SPDX-License-Identifier: BSD-3-Clause
"""Models of Core ML from the same exported programs, here and by ExecuTorch 1.4.1: which functions, inputs, outputs and
states they have, for which target, with which operations. Both sides run this file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

TARGETS = {"counter": "iOS18"}  # the least that is needed, unless one is named here


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2


class Two(torch.nn.Module):
    def forward(self, x: torch.Tensor, scale: torch.Tensor, flag: torch.Tensor) -> Any:
        return {"sum": x.sum(), "where": torch.where(flag, x * scale, x)}


def programs() -> dict[str, torch.export.ExportedProgram]:
    torch.manual_seed(0)
    nn, flag = torch.nn, torch.tensor([True, False])
    layers = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
    )
    cases: dict[str, tuple[Any, ...]] = {
        "layers": (layers, (torch.randn(1, 3, 10, 10),)),
        "attention": (nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), (torch.randn(1, 5, 16),)),
        "dynamic": (nn.Linear(8, 4), (torch.randn(3, 8),), ({0: torch.export.Dim("n", min=2, max=9)},)),
        "counter": (Counter(), (torch.ones(4),)),
        "two": (Two(), (torch.randn(3, 2), torch.tensor(2.0), flag)),
        "words": (nn.Sequential(nn.Embedding(9, 8), nn.GELU()), (torch.tensor([[1, 2]]),)),
    }  # fmt: skip
    return {
        name: torch.export.export(model.eval(), inputs, dynamic_shapes=(shapes or [None])[0])
        for name, (model, inputs, *shapes) in cases.items()
    }


def lower(path: str | Path) -> bytes:
    import coremltools as ct

    from executorch.backends.apple.coreml.compiler import CoreMLBackend
    from executorch.backends.apple.coreml.partition import CoreMLPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.exir.lowered_backend_module import get_lowered_backend_modules

    target = TARGETS.get(Path(path).stem)
    specs = CoreMLBackend.generate_compile_specs(
        minimum_deployment_target=ct.target[target] if target else None
    )
    edge = to_edge_transform_and_lower(
        torch.export.load(path), partitioner=[CoreMLPartitioner(compile_specs=specs)]
    )
    (found,) = get_lowered_backend_modules(edge.exported_program().graph_module)
    return bytes(found.processed_bytes)
