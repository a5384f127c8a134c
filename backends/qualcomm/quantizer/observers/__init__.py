# SPDX-License-Identifier: BSD-3-Clause
"""Observers of what torchao's do not find: scales of blocks."""
