# SPDX-License-Identifier: BSD-3-Clause
"""Writing and reading data files (.ptd) from Python."""
