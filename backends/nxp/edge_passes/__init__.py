# SPDX-License-Identifier: BSD-3-Clause
"""Passes of edge programs that documents name."""
