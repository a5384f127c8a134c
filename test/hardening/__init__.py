# SPDX-License-Identifier: BSD-3-Clause
"""Hostile programs and data files."""
