# SPDX-License-Identifier: BSD-3-Clause
"""Command line tools around the op tables: selection, merging."""
