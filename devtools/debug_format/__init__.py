# SPDX-License-Identifier: BSD-3-Clause
"""Graphs in the form that tools draw and search."""
