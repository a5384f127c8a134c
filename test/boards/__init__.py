# SPDX-License-Identifier: BSD-3-Clause
"""Whole networks on boards, emulated."""
