# SPDX-License-Identifier: BSD-3-Clause
"""Measures language models: text, perplexity, what exports cost, what operators gain."""
