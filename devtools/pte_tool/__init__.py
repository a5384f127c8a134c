# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.devtools.pte_tool.diff_pte`: a documented path."""
