# SPDX-License-Identifier: BSD-3-Clause
"""Operators by name and by variant."""
