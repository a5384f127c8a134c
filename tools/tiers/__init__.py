# SPDX-License-Identifier: BSD-3-Clause
"""Tiers of Python tests, from the processor seconds and the memory that each was seen to take (README.md)."""
