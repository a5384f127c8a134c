# SPDX-License-Identifier: BSD-3-Clause
"""What users of PyTorch commonly write, exported and run: rows of modules and functions, held against eager."""
