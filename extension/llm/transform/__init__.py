# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites of a model before it is captured: caches, attention, quantized weights."""
