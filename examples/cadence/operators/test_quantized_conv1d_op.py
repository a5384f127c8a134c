# SPDX-License-Identifier: BSD-3-Clause
"""A convolution of one dimension, of 8 and 16 channels.

python3 -m examples.cadence.operators.test_quantized_conv1d_op
"""

from __future__ import annotations

import torch
from torch import nn

from executorch.backends.cadence.aot.export_example import export_and_run_model
from executorch.examples.cadence.command import run


def test_quantized_conv1d() -> None:
    torch.manual_seed(0)
    conv = nn.Conv1d(8, 16, 3, stride=2, padding=4, dilation=3)
    export_and_run_model(conv, (torch.randn(1, 8, 33),))


if __name__ == "__main__":
    run(test_quantized_conv1d, __doc__)
