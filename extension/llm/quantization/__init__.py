# SPDX-License-Identifier: BSD-3-Clause
"""Weights in few bits: their numbers (weights), and the layers and tensors that hold them:
torchao's until the edge program (weights), those that export packed (exportable), those that kernels read (packed,
blocks)."""
