# SPDX-License-Identifier: BSD-3-Clause
"""Docstrings as reStructuredText."""

from __future__ import annotations

import pytest

from executorch.tools.site.reference.docstrings import as_rst, escaped, sentence


@pytest.mark.parametrize(
    "text, made",
    [
        ("a `name` of it", "a ``name`` of it"),
        ("``name`` of it", "``name`` of it"),
        ("*args and **kwargs", r"\*args and \*\*kwargs"),
        ("a|b", r"a\|b"),
        ("trailing_ members", r"trailing\_ members"),
        ("snake_case_name", "snake_case_name"),
        ("`*args`", "``*args``"),
    ],
)
def test_marks(text: str, made: str) -> None:
    assert escaped(text) == made


def test_paragraphs_lists_and_code() -> None:
    doc = """Runs a program
    on inputs.

    method: its name, which is
        a text.
    inputs: values.

    - one
      and more
    - two

        code(*args)
            more
    """.splitlines()
    assert as_rst([doc[0], *(line[4:] for line in doc[1:])]) == [
        "Runs a program on inputs.",
        "",
        "- ``method``: its name, which is a text.",
        "- ``inputs``: values.",
        "",
        "- one and more",
        "- two",
        "",
        "::",
        "",
        "   code(*args)",
        "       more",
        "",
    ]


@pytest.mark.parametrize("lines", [[], [""], ["", "  "]])
def test_nothing_stays_nothing(lines: list[str]) -> None:
    assert as_rst(lines) == []


def test_the_first_paragraph() -> None:
    assert sentence("\n    One\n    line.\n\n    More.\n") == "One line."
