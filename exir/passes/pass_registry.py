# SPDX-License-Identifier: BSD-3-Clause
"""Passes by name, for tools that take names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class PassRegistry:
    """Names are unique; a name stands for one pass or a list of passes."""

    registry: dict[str, list[Any]] = {}

    @classmethod
    def register(cls, pass_name: str | None = None) -> Callable[[Any], Any]:
        """Decorator of a pass (a function or a class); its own name unless one is given."""

        def add(one: Any) -> Any:
            cls.register_list(pass_name or one.__name__, [one])
            return one

        return add

    @classmethod
    def register_list(cls, pass_name: str, pass_list: list[Any]) -> None:
        if pass_name in cls.registry:
            raise ValueError(f"a pass named {pass_name!r} is registered already")
        cls.registry[pass_name] = list(pass_list)

    @classmethod
    def get(cls, key: str) -> list[Any]:
        return cls.registry[key]
