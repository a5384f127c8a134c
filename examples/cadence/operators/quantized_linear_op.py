# SPDX-License-Identifier: BSD-3-Clause
# compat
"""An older page's name of test_quantized_linear_op."""

from executorch.examples.cadence.command import run
from executorch.examples.cadence.operators.test_quantized_linear_op import test_quantized_linear

if __name__ == "__main__":
    run(test_quantized_linear, __doc__)
