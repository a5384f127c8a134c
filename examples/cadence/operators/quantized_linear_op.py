# SPDX-License-Identifier: BSD-3-Clause
# compat
"""An older page's name of test_quantized_linear_op."""

from executorch.examples.cadence.operators.test_quantized_linear_op import main

if __name__ == "__main__":
    main()
