# SPDX-License-Identifier: BSD-3-Clause
"""The page of errors has each code of the runtime and of the compiler, with its number, a cause and a remedy."""

from __future__ import annotations

import re

import pytest

from executorch.exir.error import ExportErrorType
from executorch.tools.site.pages import ROOT
from executorch.tools.site.redirects import of_errors

PAGE = (ROOT / "docs/guide/errors.md").read_text()
CODES = re.findall(
    r"^  (\w+) = 0x([0-9a-f]{2}),$", (ROOT / "runtime/core/error.h").read_text(), re.M
)
SECTIONS = dict(re.findall(r"^### (.+?)\n\n(.*?)(?=^##|\Z)", PAGE, re.S | re.M))
RUNTIME = [heading for heading in SECTIONS if heading.startswith("0x")]


def test_every_code_of_the_runtime_has_a_section_in_order() -> None:
    assert len(CODES) == 21
    assert [f"0x{value} {name}" for name, value in CODES] == RUNTIME


def test_every_code_of_the_compiler_has_a_section_in_order() -> None:
    assert [each.name for each in ExportErrorType] == [h for h in SECTIONS if h not in RUNTIME]


@pytest.mark.parametrize("heading", SECTIONS)
def test_a_section_has_cause_and_remedy(heading: str) -> None:
    if heading not in ("0x00 Ok", "UNINITIALIZED"):
        assert re.search(r"^Cause: \S", SECTIONS[heading]), heading
        assert "Remedy: " in SECTIONS[heading].replace("\n", " "), heading


def test_a_message_leads_to_its_section_by_its_code() -> None:
    """By what messages have: a number, the name of a runtime's code, or that of the compiler's."""
    found = {each.name: each.target for each in of_errors(PAGE)}
    assert len(found) == 2 * len(CODES) + len(ExportErrorType)
    for value, name in ((value, name) for name, value in CODES):
        target = f"guide/errors#0x{value}-{name.lower()}"
        assert found[f"errors/0x{value}"] == found[f"errors/{name}"] == target
    assert found["errors/NOT_SUPPORTED"] == "guide/errors#not_supported"
