# SPDX-License-Identifier: BSD-3-Clause
"""Operators, passes and kernels of Cadence DSPs."""
