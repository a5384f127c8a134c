# SPDX-License-Identifier: BSD-3-Clause
"""No flow runs without the runtime halves; arm_operators_test.py has the reference model."""

FLOWS: list[object] = []
