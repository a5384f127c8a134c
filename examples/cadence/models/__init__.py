# SPDX-License-Identifier: BSD-3-Clause
"""Whole models: each module exports one, runs it and compares."""
