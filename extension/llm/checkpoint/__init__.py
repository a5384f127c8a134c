# SPDX-License-Identifier: BSD-3-Clause
"""Checkpoints: files of named tensors, read one tensor at a time, and the names that each family gives them."""
