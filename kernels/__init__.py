# SPDX-License-Identifier: BSD-3-Clause
"""Kernel libraries; Python here is tests and tools only."""

if __name__ == "kernels":
    from executorch import _alias

    _alias.install("kernels")
