# SPDX-License-Identifier: BSD-3-Clause
"""Tests of the tokenizers beside the reference libraries."""
