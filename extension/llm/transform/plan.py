# SPDX-License-Identifier: BSD-3-Clause
"""Which rewrites a config asks for, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable

from torch import nn

Transform = Callable[[nn.Module], nn.Module]


def transforms_for() -> list[Transform]:
    """None yet: options that need them are refused (export/config/rules.py)."""
    return []
