# SPDX-License-Identifier: BSD-3-Clause
"""A decoder of one layer, of 64 tokens; random weights.

python3 -m examples.cadence.models.babyllama
"""

from __future__ import annotations

import torch

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run
from executorch.examples.models.llama_style import LlamaStyle, Shape
from executorch.examples.models.weights import prepare


def main() -> None:
    torch.manual_seed(0)
    shape = Shape(512, layers=1, heads=8, kv_heads=8, inner=1024, vocabulary=512)
    inputs = (torch.randint(0, 512, (1, 64)),)
    export_and_run_model(prepare(LlamaStyle(shape), inputs).eval(), inputs)


if __name__ == "__main__":
    run(main, __doc__)
