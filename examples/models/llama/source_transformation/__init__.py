# SPDX-License-Identifier: BSD-3-Clause
"""Rewrites of the decoder under the names that other code imports; they live in extension/llm/transform."""
