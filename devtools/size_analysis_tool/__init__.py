# SPDX-License-Identifier: BSD-3-Clause
"""`python -m executorch.devtools.size_analysis_tool.size_analysis_tool`: a documented path."""
