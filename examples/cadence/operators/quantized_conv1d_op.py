# SPDX-License-Identifier: BSD-3-Clause
# compat
"""An older page's name of test_quantized_conv1d_op."""

from executorch.examples.cadence.command import run
from executorch.examples.cadence.operators.test_quantized_conv1d_op import test_quantized_conv1d

if __name__ == "__main__":
    run(test_quantized_conv1d, __doc__)
