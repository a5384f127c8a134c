# SPDX-License-Identifier: BSD-3-Clause
"""The flows of each backend under the documented name of a module here:
`executorch.backends.test.suite.flows.xnnpack` has what the flows of its folder have."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from executorch.backends.discovery import all_backends


class _FlowsOf(ModuleType):
    """A module that is imported when one of its names is asked for."""

    def __init__(self, name: str, home: str) -> None:
        super().__init__(f"{__name__}.{name}", f"What {home} has.")
        self._home = home

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(import_module(self._home), name)


for _backend in all_backends().values():
    if _backend.flows:
        _module = _FlowsOf(_backend.name, f"{_backend.package}.{_backend.flows.partition(':')[0]}")
        sys.modules[_module.__name__] = globals()[_backend.name] = _module
