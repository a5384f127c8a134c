# SPDX-License-Identifier: BSD-3-Clause
"""Operators of Metal's kernels, as PyTorch on the CPU computes them; imported, they are defined."""

from executorch.backends.apple.metal.ops import gated_delta_rule, gather_qmv

__all__ = ["gated_delta_rule", "gather_qmv"]
