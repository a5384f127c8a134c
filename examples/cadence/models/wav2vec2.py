# SPDX-License-Identifier: BSD-3-Clause
"""Wav2Vec 2.0 of torchaudio, 12 layers of 768; random weights.

python3 -m examples.cadence.models.wav2vec2
"""

from __future__ import annotations

import torch

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run
from executorch.examples.cadence.models.from_torchaudio import torchaudio


def main() -> None:
    torch.manual_seed(0)
    model = torchaudio("models").wav2vec2_base(aux_num_out=32)
    export_and_run_model(model.eval(), (torch.rand(1, 1680),))


if __name__ == "__main__":
    run(main, __doc__)
