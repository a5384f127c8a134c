# SPDX-License-Identifier: BSD-3-Clause
"""Declarations for other languages, written from the header."""
