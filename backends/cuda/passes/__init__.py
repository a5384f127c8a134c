# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites of edge programs for CUDA."""
