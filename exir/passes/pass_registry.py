# SPDX-License-Identifier: BSD-3-Clause
# compat
"""Passes by name, for tools that take names."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from executorch.exir.error import ExportError, ExportErrorType
from executorch.exir.pass_base import PassType as PassType

_log = logging.getLogger("executorch.exir")


class PassRegistry:
    """Names are unique; a name stands for one pass or a list of passes."""

    registry: dict[str, list[Any]] = {}

    @classmethod
    def register(cls, pass_name: str | None = None) -> Callable[[Any], Any]:
        """Decorator of a pass (a function or a class); its own name, in snake case, unless one is given."""

        def add(one: Any) -> Any:
            cls.register_list(pass_name or _snake_case(one.__name__), [one])
            return one

        return add

    @classmethod
    def register_list(cls, pass_name: str, pass_list: list[Any]) -> None:
        if pass_name in cls.registry:
            _log.warning("a pass named %r is registered already: it stays", pass_name)
            return
        cls.registry[pass_name] = list(pass_list)

    @classmethod
    def get(cls, key: str) -> list[Any]:
        if key not in cls.registry:
            raise ExportError(
                ExportErrorType.MISSING_PROPERTY,
                f"Pass {key} does not exist inside of the PassRegistry, which holds {sorted(cls.registry)}",
            )
        return cls.registry[key]


def _snake_case(name: str) -> str:
    """`foo_bar_pass` for FooBarPass."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
