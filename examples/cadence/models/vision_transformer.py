# SPDX-License-Identifier: BSD-3-Clause
"""A vision transformer of 224 x 224 pixels; random weights.

python3 -m examples.cadence.models.vision_transformer
"""

from __future__ import annotations

import torch

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run
from executorch.examples.models.transformers import VisionTransformer
from executorch.examples.models.weights import prepare


def main() -> None:
    torch.manual_seed(0)
    inputs = (torch.randn(1, 3, 224, 224),)
    export_and_run_model(prepare(VisionTransformer(), inputs).eval(), inputs)


if __name__ == "__main__":
    run(main, __doc__)
