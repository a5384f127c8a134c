# SPDX-License-Identifier: BSD-3-Clause
"""Documented names; see the modules."""
