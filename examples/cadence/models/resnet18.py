# SPDX-License-Identifier: BSD-3-Clause
"""ResNet-18 of 64 x 64 pixels; random weights.

python3 -m examples.cadence.models.resnet18
"""

from __future__ import annotations

import torch

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run
from executorch.examples.models.resnet import ResNet18
from executorch.examples.models.weights import prepare


def main() -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(1, 3, 64, 64),)
    export_and_run_model(prepare(ResNet18(), inputs).eval(), inputs)


if __name__ == "__main__":
    run(main, __doc__)
