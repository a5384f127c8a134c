# SPDX-License-Identifier: BSD-3-Clause
"""Converters of tokenizer files."""
