# SPDX-License-Identifier: BSD-3-Clause
"""The predictor of a transducer: embedding, ReLU, linear, layer norm; random weights.

python3 -m examples.cadence.models.rnnt_predictor
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run


class Predictor(nn.Module):
    def __init__(self, symbols: int = 128, width: int = 256) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols, width)
        self.linear, self.norm = nn.Linear(width, width), nn.LayerNorm(width)

    def forward(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        return self.norm(self.linear(torch.relu(self.embedding(tokens)))), lengths


def main() -> None:
    torch.manual_seed(0)
    tokens, lengths = torch.randint(0, 128, (1, 10)), torch.tensor([10])
    export_and_run_model(Predictor().eval(), (tokens, lengths))


if __name__ == "__main__":
    run(main, __doc__)
