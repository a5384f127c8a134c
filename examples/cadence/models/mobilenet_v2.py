# SPDX-License-Identifier: BSD-3-Clause
"""MobileNet V2 of 64 x 64 pixels; trained weights where they can be had.

python3 -m examples.cadence.models.mobilenet_v2
"""

from __future__ import annotations

import torch

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run
from executorch.examples.models.mobilenet_v2 import mobilenet_v2


def main() -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(1, 3, 64, 64),)
    export_and_run_model(mobilenet_v2(inputs).eval(), inputs)


if __name__ == "__main__":
    run(main, __doc__)
