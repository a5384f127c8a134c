# SPDX-License-Identifier: BSD-3-Clause
"""GGUF files to programs, as the documents spell it."""
