# SPDX-License-Identifier: BSD-3-Clause
"""The encoder of a transducer, ConvEmformer of torchaudio with a reduction of time by 4; random weights.

python3 -m examples.cadence.models.rnnt_encoder
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run
from executorch.examples.cadence.models.from_torchaudio import torchaudio

REDUCTION = 4


class Encoder(nn.Module):
    def __init__(self, features: int = 80, width: int = 128, outputs: int = 256) -> None:
        super().__init__()
        emformer = torchaudio("prototype.models").ConvEmformer
        self.input = nn.Linear(features, width // REDUCTION, bias=False)
        self.layers = emformer(
            width, 4, 512, 1, segment_length=4, kernel_size=7, right_context_length=1
        )
        self.output, self.norm = nn.Linear(width, outputs), nn.LayerNorm(outputs)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        steps = self.input(x)
        reduced = steps.reshape(x.shape[0], x.shape[1] // REDUCTION, -1)
        made, length = self.layers(reduced, lengths // REDUCTION)
        return self.norm(self.output(made)), length


def main() -> None:
    torch.manual_seed(0)
    export_and_run_model(Encoder().eval(), (torch.rand(1, 104, 80), torch.tensor([100])))


if __name__ == "__main__":
    run(main, __doc__)
