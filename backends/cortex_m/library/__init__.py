# SPDX-License-Identifier: BSD-3-Clause
"""How much scratch memory kernels are given."""
