# SPDX-License-Identifier: BSD-3-Clause
"""The cases of the operators, a file for each group of families."""
