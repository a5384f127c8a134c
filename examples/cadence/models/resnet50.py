# SPDX-License-Identifier: BSD-3-Clause
"""ResNet-50 of 64 x 64 pixels, of torchvision; trained weights where they can be had.

python3 -m examples.cadence.models.resnet50
"""

from __future__ import annotations

import torch

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run
from executorch.examples.models.resnet import ResNet50Model


def main() -> None:
    torch.manual_seed(0)
    export_and_run_model(ResNet50Model().get_eager_model().eval(), (torch.randn(1, 3, 64, 64),))


if __name__ == "__main__":
    run(main, __doc__)
