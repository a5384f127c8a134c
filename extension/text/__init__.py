# SPDX-License-Identifier: BSD-3-Clause
"""Texts to ids and back, and which ids an answer takes: for language models and speech."""
