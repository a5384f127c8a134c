# SPDX-License-Identifier: BSD-3-Clause
"""A streaming network of two cached convolutions, exported by LiveModule, beside eager block by block."""

import json
import sys
from pathlib import Path

import torch
from neural_tilde import LiveModule
from torch import nn

import executorch
from executorch.runtime import Runtime

BLOCK = 256


class Cache(nn.Module):
    """Prepends the end of the block before; its buffer is made by the first call, as in streaming networks."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not hasattr(self, "pad"):
            self.register_buffer("pad", torch.zeros(*x.shape[:2], self.size))
        y = torch.cat([self.pad, x], -1)
        self.pad.copy_(y[..., -self.size :])
        return y


class Live(LiveModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            Cache(2), nn.Conv1d(2, 16, 3), nn.GELU(), Cache(2), nn.Conv1d(16, 2, 3)
        )

    def forward(self, x: torch.Tensor, gain: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return self.net(x + bias.reshape(-1, 1, 1)) * gain.reshape(1, 1, 1)


def largest_difference(delegate: str) -> float:
    torch.manual_seed(0)
    model = Live().eval()
    model.register_attribute("gain", default=1.0, minimum=0.0, maximum=2.0)
    model.register_condition("bias", shape=[1, 1], dtype="float32")
    signal = {"in_channels": 2, "in_ratio": 1, "out_channels": 2, "out_ratio": 1}
    model.register_method("forward", **signal, inputs=["gain", "bias"])
    model.export_to_pte(f"live-{delegate}", delegate=delegate, buffer_size=BLOCK)
    written = json.loads(Path(f"live-{delegate}.json").read_text())
    assert written["executorch_version"] == executorch.__version__, written
    for name, buffer in model.named_buffers():
        if name.endswith("pad"):
            buffer.zero_()
    method = Runtime.get().load_program(Path(f"live-{delegate}.pte")).load_method("forward")
    worst = 0.0
    for _ in range(4):
        block = (torch.randn(1, 2, BLOCK), torch.rand(1), torch.randn(1, 1))
        (ours,) = method.execute(block)
        with torch.no_grad():
            worst = max(worst, float((ours - model(*block)).abs().max()))
    return worst


print(json.dumps({delegate: largest_difference(delegate) for delegate in sys.argv[1:]}))
