# SPDX-License-Identifier: BSD-3-Clause
"""Dtypes by their names, and of results."""
