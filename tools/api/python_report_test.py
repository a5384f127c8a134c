# SPDX-License-Identifier: BSD-3-Clause
"""A signature that takes every call of the listed one counts as it."""

from __future__ import annotations

import types
from typing import Any

import pytest

from executorch.tools.api.listing import Row
from executorch.tools.api.python_report import judge


def same(path: str, size: int = 0) -> None: ...
def more(path: str, size: int = 0, wide: bool = False, **further: Any) -> None: ...
def stricter(path: str, size: int, wide: bool) -> None: ...
def renamed(file: str, size: int = 0) -> None: ...
def anything(*args: Any, **kwargs: Any) -> None: ...


class Pair(tuple):
    def __new__(cls, first: int, second: int) -> Pair: ...


def test_arguments_of_new_are_not_listed() -> None:
    module = types.ModuleType("listed")
    module.Pair = Pair  # type: ignore[attr-defined]
    assert judge(Row("listed", "", "class `Pair()` : tuple"), module).state == "exists"


@pytest.mark.parametrize(
    "function, state",
    [
        (same, "exists"),
        (more, "exists"),
        (anything, "exists"),
        (stricter, "differs"),
        (renamed, "differs"),
    ],
)
def test_what_counts_as_there(function: Any, state: str) -> None:
    module = types.ModuleType("listed")
    module.load = function  # type: ignore[attr-defined]
    assert (
        judge(Row("listed", "", "`load(path: str, size: int = 0) -> None`"), module).state == state
    )
