# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites before AOTInductor compiles for Metal."""
