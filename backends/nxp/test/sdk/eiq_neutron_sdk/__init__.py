# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for NXP's SDK in tests: names that its users call, nothing of it."""
