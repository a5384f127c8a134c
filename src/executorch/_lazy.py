# SPDX-License-Identifier: BSD-3-Clause
"""Names of a package that are imported when they are asked for: PEP 562's two functions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of `package`; `homes`: the module below it that has each name."""
    names = sys.modules[package].__dict__

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        names[name] = getattr(import_module(f"{package}.{homes[name]}"), name)
        return names[name]

    return get, lambda: sorted({*names, *homes})
