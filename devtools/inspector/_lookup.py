# SPDX-License-Identifier: BSD-3-Clause
"""What records keep by method and by instruction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORWARD = "forward"


def one_method(by_method: Any, method: str = FORWARD) -> Any:
    """Of what is kept by method: what belongs to this one, or to the only one."""
    if not isinstance(by_method, Mapping):
        return by_method
    if method in by_method or len(by_method) != 1:
        return by_method.get(method)
    return next(iter(by_method.values()))


def at_instruction(by_instruction: Mapping[Any, Any] | None, instruction: int | None) -> Any:
    """None where there is nothing. Records hold numbers, their files text."""
    known = by_instruction or {}
    return known.get(instruction, known.get(str(instruction)))
