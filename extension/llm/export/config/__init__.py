# SPDX-License-Identifier: BSD-3-Clause
"""What one export is asked for: the tree of options, and how files and command lines fill it."""
