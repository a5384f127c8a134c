# SPDX-License-Identifier: BSD-3-Clause
"""Stand-ins for native modules that were not built: a checkout without a build has pages, which say what they lack."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest

from executorch.tools.site.pages import ROOT
from executorch.tools.site.reference import native, python

MODULE = "executorch.not_built"


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(sys, "meta_path", [native.Finder((MODULE,), None), *sys.meta_path])
    monkeypatch.setattr(native, "lacking", [])
    yield import_module(MODULE)
    del sys.modules[MODULE]


def test_what_code_does_with_names_while_it_is_imported_works(stand_in: Any) -> None:
    kind = stand_in.Kind
    assert kind is stand_in.Kind and kind.__module__ == MODULE
    assert repr(kind.Member) == "Kind" and issubclass(stand_in.FormatError, Exception)
    assert (bytes | kind).__args__ == (bytes, kind)
    assert not hasattr(stand_in, "__wrapped__")


def test_a_page_says_what_has_no_text(stand_in: Any) -> None:
    page = python.page(python.Module("not_built", ("Kind", "FormatError")))
    assert "``Kind`` is of a native module that was not built for this page.\n" in page
    assert "auto" not in page
    assert native.lacking == [f"{MODULE}.Kind", f"{MODULE}.FormatError"]


def test_only_what_is_missing_is_stood_in_for(tmp_path: Path) -> None:
    for module in native.MODULES[1:]:
        path = tmp_path.joinpath(*module.split(".")[1:])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(path.name + EXTENSION_SUFFIXES[0]).touch()
    (tmp_path / "exir").mkdir()
    (tmp_path / "exir/schema.py").touch()
    assert native.missing(tmp_path) == ["executorch.exir._native"]
    finder = native.finder(tmp_path, tmp_path / "made")
    assert finder is not None and finder.find_spec("executorch.exir._native") is not None
    assert finder.find_spec(native.SCHEMA) is None and finder.find_spec(native.MODULES[1]) is None


def test_the_schema_of_programs_is_made(tmp_path: Path) -> None:
    for each in ("exir/_serialize/schema_generator.py", "schema/program.fbs"):
        (tmp_path / each).parent.mkdir(parents=True)
        (tmp_path / each).symlink_to(ROOT / each)
    finder = native.finder(tmp_path, tmp_path / "made")
    assert finder is not None
    spec = finder.find_spec(native.SCHEMA)
    assert spec is not None and "class ExecutionPlan" in Path(str(spec.origin)).read_text()
