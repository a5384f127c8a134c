# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites of edge programs before AOTInductor compiles them."""
