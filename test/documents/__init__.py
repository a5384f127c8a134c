# SPDX-License-Identifier: BSD-3-Clause
"""Code blocks of the documents, ported where PyTorch changed, with checks of what they promise."""
