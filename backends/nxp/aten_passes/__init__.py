# SPDX-License-Identifier: BSD-3-Clause
"""Passes of captured graphs that documents name."""
