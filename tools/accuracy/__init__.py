# SPDX-License-Identifier: BSD-3-Clause
"""Networks with trained weights, in float and in 8 bits, beside eager PyTorch."""
