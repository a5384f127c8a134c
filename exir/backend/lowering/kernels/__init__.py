# SPDX-License-Identifier: BSD-3-Clause
"""What a backend that is kernels is written with: its operators, what rows ask, what they write."""
