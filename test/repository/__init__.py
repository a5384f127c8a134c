# SPDX-License-Identifier: BSD-3-Clause
"""The rules of the repository: layers, names, sizes, paths."""
