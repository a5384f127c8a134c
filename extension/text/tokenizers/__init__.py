# SPDX-License-Identifier: BSD-3-Clause
"""Tokenizers of language models; in Python they are the package `pytorch_tokenizers`."""
