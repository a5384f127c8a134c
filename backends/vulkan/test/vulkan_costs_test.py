# SPDX-License-Identifier: BSD-3-Clause
"""What a call moves and computes, as counted by hand; and that the forecast is the longer of the two."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.vulkan.shader_costs import Cost, costs_of
from executorch.backends.vulkan.test.lowered import lower


def test_of_each_call() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.linear = nn.Conv2d(3, 8, 3, padding=1), nn.Linear(8, 4)

        def forward(self, x):
            return self.linear(torch.sigmoid(self.conv(x)).permute(0, 2, 3, 1)).reshape(-1)

    found = costs_of(lower(Net(), (torch.randn(1, 3, 6, 6),)).to_executorch().buffer)
    image, middle, out = 3 * 36, 8 * 36, 4 * 36
    assert found == [
        Cost("aten.convolution.default", 4 * (image + 8 * 27 + 8 + middle), 2 * middle * 27),
        Cost("aten.sigmoid.default", 4 * 2 * middle, middle),
        Cost("aten.permute_copy.default", 4 * 2 * middle, 0),
        Cost("aten.linear.default", 4 * (middle + 32 + 4 + out), 2 * out * 8),
        Cost("aten.view_copy.default", 0, 0),
    ]


def test_half_precision_moves_half() -> None:
    x = torch.randn(4, 8)
    files = (lower(nn.ReLU(), (x,), options) for options in (None, {"force_fp16": True}))
    (whole,), (half,) = (costs_of(each.to_executorch().buffer) for each in files)
    assert (whole.bytes, half.bytes) == (256, 128) and whole.operations == half.operations == 32


def test_the_longer_of_both() -> None:
    cost = Cost("", 1000, 3000)
    assert cost.intensity == 3
    assert cost.seconds(100, 1e9) == 10 and cost.seconds(1e9, 100) == 30


@pytest.mark.full
def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "relu.pte"
    path.write_bytes(lower(nn.ReLU(), (torch.randn(1000, 1000),)).to_executorch().buffer)
    command = [sys.executable, "-m", "executorch.backends.vulkan.shader_costs", str(path)]
    command += ["--bandwidth", "8", "--rate", "100"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "1 calls: 1.000 ms at least" in done.stdout  # 8 MB by 8 GB/s
