# SPDX-License-Identifier: BSD-3-Clause
"""Partitioners to use or to derive from."""
