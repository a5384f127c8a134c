# SPDX-License-Identifier: BSD-3-Clause
"""Operators of language models; `custom_ops` registers them with PyTorch."""
