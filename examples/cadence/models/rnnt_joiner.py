# SPDX-License-Identifier: BSD-3-Clause
"""The joiner of a transducer: sum, ReLU, linear; random weights.

python3 -m examples.cadence.models.rnnt_joiner
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run


class Joiner(nn.Module):
    def __init__(self, width: int = 256, symbols: int = 128) -> None:
        super().__init__()
        self.linear = nn.Linear(width, symbols)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        return self.linear(torch.relu(source.unsqueeze(2) + target.unsqueeze(1)))


def main() -> None:
    torch.manual_seed(0)
    export_and_run_model(Joiner().eval(), (torch.randn(1, 25, 256), torch.randn(1, 10, 256)))


if __name__ == "__main__":
    run(main, __doc__)
