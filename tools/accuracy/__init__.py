# SPDX-License-Identifier: BSD-3-Clause
"""Networks with trained weights, in float and in int8, beside eager PyTorch."""
