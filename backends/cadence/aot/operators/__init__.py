# SPDX-License-Identifier: BSD-3-Clause
"""`torch.ops.cadence`, the operators of functions.yaml as formulas, by family."""
