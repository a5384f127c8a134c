# SPDX-License-Identifier: BSD-3-Clause
"""int8 networks on Arm Cortex-M by kernels of our own, without a delegate."""
