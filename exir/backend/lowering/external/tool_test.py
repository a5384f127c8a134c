# SPDX-License-Identifier: BSD-3-Clause
"""Programs of other makers are found where they are said to be, in the version that is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.exir.backend.lowering.external.tool import ExternalTool, tool_path

TOOL = ExternalTool(
    "Press", "press-tools", ">=2,<3", "", lambda *_: b"", backend="press", tool="press"
)


def environment(folder: Path, version: str) -> Path:
    program = folder / "bin" / "press"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    info = folder / "lib" / "python3.11" / "site-packages" / f"press_tools-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: press-tools\nVersion: {version}\n"
    )
    return program


def test_the_variable_names_an_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = environment(tmp_path, "2.5")
    assert tool_path("press", "press") is None
    monkeypatch.setenv("EXECUTORCH_TOOLS_PRESS", str(tmp_path))
    assert (TOOL.path(), TOOL.version(), TOOL.why_missing()) == (program, "2.5", "")


def test_a_program_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = environment(tmp_path, "2.0")
    monkeypatch.setenv("PATH", str(program.parent))
    assert TOOL.path() == program


def test_a_program_beside_this_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose environment nobody activated."""
    program = environment(tmp_path, "2.0")
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    assert (TOOL.path(), TOOL.version()) == (program, "2.0")


def test_what_is_missing_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        "expected press-tools >=2,<3, found none; install it beside this package "
        "(pip install 'press-tools>=2,<3')" in TOOL.why_missing()
    )
    environment(tmp_path, "1.9")
    monkeypatch.setenv("EXECUTORCH_TOOLS_PRESS", str(tmp_path))
    assert "found 1.9" in TOOL.why_missing() and "EXECUTORCH_TOOLS_PRESS" in TOOL.why_missing()
