# SPDX-License-Identifier: BSD-3-Clause
"""Architectures of Hugging Face `transformers` through the compiler and the runtime: rows, the run, the page."""
