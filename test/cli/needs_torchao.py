# SPDX-License-Identifier: BSD-3-Clause
"""A command that imports what warns, for quiet_test.py."""

import torchao.quantization  # noqa: F401

print("done")
