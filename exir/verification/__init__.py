# SPDX-License-Identifier: BSD-3-Clause
"""Checks that a program keeps the rules of its dialect."""
