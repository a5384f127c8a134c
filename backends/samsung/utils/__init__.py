# SPDX-License-Identifier: BSD-3-Clause
"""Documented paths of what scripts call."""
