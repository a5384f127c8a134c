# SPDX-License-Identifier: BSD-3-Clause
"""Payloads of MPS from the same exported programs, here and by ExecuTorch 1.4.1. Both sides run this file; `halves` in
a program's name asks for use_fp16."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch


class Function(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def programs() -> dict[str, torch.export.ExportedProgram]:
    torch.manual_seed(0)
    nn, functional = torch.nn, torch.nn.functional
    x, image, i = torch.randn(4, 5, 6), torch.randn(1, 3, 10, 10), torch.tensor([0, 2, 3])
    layers = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU6(), nn.Conv2d(8, 8, 3, groups=8), nn.MaxPool2d(2),
        nn.AvgPool2d(3, 1, 1), nn.GELU(), nn.Flatten(), nn.Linear(72, 5), nn.LogSoftmax(-1),
    )  # fmt: skip
    rows = nn.Sequential(
        nn.Conv1d(5, 7, 3, 2, 1), nn.LayerNorm(3), nn.Linear(3, 4, bias=False), nn.Sigmoid()
    )
    cases: dict[str, tuple[Any, ...]] = {
        "layers": (layers, image),
        "layers halves": (layers, image),
        "rows": (rows, x),
        "words": (nn.Sequential(nn.Embedding(9, 8, padding_idx=2), nn.Tanh()), i),
        "indices": (lambda x, i: (x[i], x[:, i], x[i, i, i], x.index_select(-2, i)), x, i),
        "a kernel": (lambda x, i: x[i, i], x, i),
        "writes": (lambda x, i: (torch.index_put(x, (i,), x[:3]), torch.slice_scatter(x, x[:, :3], 1, 1, 4)), x, i),
        "moves": (lambda x: (
            x.permute(-1, 0, 1).exp(), x.unsqueeze(-1).sin(), x[:, -2].cos(), x[:, -3:-1, 1:9:2].neg(),
            torch.cat([x, x], -1), x.split([1, 4], 1)[1].abs(), functional.pad(x, (1, 2), value=1.5),
            x.unsqueeze(1).expand(4, 7, 5, 6).neg(), x.reshape(4, 30).neg(), x[:, :1].squeeze(1).neg()), x),
        "arithmetic": (lambda x: (
            x.add(x, alpha=3), x.sub(x), x * x, x / x, torch.div(x, x, rounding_mode="floor"), torch.minimum(x, x),
            torch.pow(x, x), x > x, x.clamp(min=0.1), functional.leaky_relu(x, 0.2), x.mean((-1, 0)),
            torch.where(x < x, x, x), torch.bmm(x, x.mT), torch.addmm(x[0, 0], x[0].mT, x[0])), x),
        "made": (lambda x: (
            torch.arange(0, 3, 0.5) + x, torch.full((4, 1, 1), 2.5) * x, torch.full_like(x, 2.5) + x), x),
        "a number": (lambda x: x * 2.5, x),
        "comparison": (lambda x: torch.where(x > 0.5, x.exp(), x), x),
        # What differs.
        "whole number": (lambda x: x * 2, x),
        "factors": (lambda x: torch.addmm(x[0, 0], x[0].mT, x[0], beta=2), x),
        "conversion": (lambda x: x.to(torch.int32) + x.to(torch.int32), x),
        "transposed": (nn.ConvTranspose2d(3, 4, 3, 2), image),
    }  # fmt: skip
    return {
        name: torch.export.export(
            (model if isinstance(model, nn.Module) else Function(model)).eval(), tuple(inputs)
        )
        for name, (model, *inputs) in cases.items()
    }


def lower(path: str | Path) -> bytes:
    """The payloads of all delegates, each behind its size."""
    from executorch.backends.apple.mps.partition import MPSPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.exir.backend.compile_spec_schema import CompileSpec
    from executorch.exir.lowered_backend_module import get_lowered_backend_modules

    specs = [CompileSpec("use_fp16", bytes(["halves" in Path(path).stem]))]
    edge = to_edge_transform_and_lower(torch.export.load(path), partitioner=[MPSPartitioner(specs)])
    found = get_lowered_backend_modules(edge.exported_program().graph_module)
    payloads = [bytes(each.processed_bytes) for each in found]
    return b"".join(len(each).to_bytes(8, "little") + each for each in payloads)


def split(data: bytes) -> list[bytes]:
    payloads = []
    while data:
        size = int.from_bytes(data[:8], "little")
        payloads.append(data[8 : 8 + size])
        data = data[8 + size :]
    return payloads
