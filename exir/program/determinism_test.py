# SPDX-License-Identifier: BSD-3-Clause
"""The same model gives the same bytes, in processes that hash strings differently."""

from __future__ import annotations

import os
import subprocess
import sys

_LOWER = """
import hashlib, torch
from executorch.exir import to_edge

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.Linear(6, 4))
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        self.seen.add_(1)
        y = self.layers(x)
        return torch.cond(y.sum() > 0, lambda t: t.sin(), lambda t: t.cos() + 1, (y,)), self.seen + 1

net = Net().eval()
programs = {name: torch.export.export(net, (torch.ones(1, 3, 8, 8),)) for name in ("forward", "other")}
manager = to_edge(programs, constant_methods={"a": 1, "b": [2, 3]}).to_executorch()
print(hashlib.sha256(manager.buffer).hexdigest())
"""


def test_two_processes_write_the_same_file() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", _LOWER],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1 and len(digests.pop().strip()) == 64
