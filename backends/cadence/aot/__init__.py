# SPDX-License-Identifier: BSD-3-Clause
"""The operators for PyTorch, and which calls become them."""
