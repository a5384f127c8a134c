# SPDX-License-Identifier: BSD-3-Clause
"""`bisect` compares each call inside of a Vulkan delegate with PyTorch, and names the one that is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.devtools import commands
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime

pytestmark = pytest.mark.skipif(
    not Runtime.get().backend_registry.is_available("VulkanBackend"),
    reason="this build has no Vulkan backend, or no device is here",
)
X = torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(0))


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.linear = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(8, 5)
        self.norm = nn.LayerNorm(5)

    def forward(self, x):
        rows = self.linear(torch.relu(self.conv(x)))
        return torch.softmax(self.norm(rows) * 2, -1)


def save(folder: Path, options: dict[str, Any] | None = None) -> tuple[Path, Path]:
    torch.manual_seed(0)
    exported = torch.export.export(Net().eval(), (X,))
    partitioner = [VulkanPartitioner(options)]
    lowered = to_edge_transform_and_lower(exported, partitioner=partitioner, generate_etrecord=True)
    program = lowered.to_executorch()
    program.save(folder / "model.pte")
    program.get_etrecord().save(folder / "model.etrecord")
    return folder / "model.etrecord", folder / "model.pte"


def bisect(capsys: pytest.CaptureFixture[str], *arguments: Any) -> tuple[int, Any]:
    status = commands.main(["bisect", *map(str, arguments), "--json"])
    output = capsys.readouterr()
    return status, json.loads(output.out) if output.out else output.err


@pytest.mark.parametrize("options", [None, {"force_fp16": True}], ids=["float", "half"])
def test_every_call_is_compared(options: Any, tmp_path: Path, capsys: Any) -> None:
    record, program = save(tmp_path, options)
    more = ["--tolerance", "2e-2"] if options else []
    status, report = bisect(capsys, record, program, *more)
    names = " ".join(str(row) for row in report["operators"])
    assert status == 0 and report["first"] is None, report
    for name in ("convolution", "relu", "linear", "layer_norm", "mul", "softmax"):
        assert name in names, names


def test_the_wrong_call_is_named(tmp_path: Path, capsys: Any) -> None:
    """The linear layer has other weights in the file."""
    record, program = save(tmp_path)
    torch.manual_seed(0)
    weight = Net().linear.weight.detach().numpy().tobytes()
    data = program.read_bytes()
    assert data.count(weight) == 1
    program.write_bytes(data.replace(weight, weight[4:] + weight[:4]))
    status, report = bisect(capsys, record, program)
    assert status == 1 and "linear" in str(report["first"]), report["first"]
    assert len(report["wrong"]) == 1
