# SPDX-License-Identifier: BSD-3-Clause
"""A linear layer of 32 inputs and 16 outputs.

python3 -m examples.cadence.operators.test_quantized_linear_op
"""

from __future__ import annotations

import torch
from torch import nn

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run


def test_quantized_linear() -> None:
    torch.manual_seed(0)
    export_and_run_model(nn.Linear(32, 16), (torch.ones(64, 32),))


if __name__ == "__main__":
    run(test_quantized_linear, __doc__)
