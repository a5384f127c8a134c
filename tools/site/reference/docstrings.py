# SPDX-License-Identifier: BSD-3-Clause
"""Docstrings, which are plain text with `names`, as reStructuredText that says the same.

A line that goes on with the one before is joined to it; `key: what it is` lines are a list; what stands indented behind
an empty line is code.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

SPECIAL = re.compile(r"(?P<code>`+)(?P<text>[^`]+)(?P=code)_*|(?P<char>[\\*|]|_(?![A-Za-z0-9]))")
KEY = re.compile(r"[\w.*, ]{1,60}:(?: |$)")
LISTED = re.compile(r"(?:[-*+]|\d+\.) ")


def _written(found: re.Match[str]) -> str:
    return f"``{found['text'].strip()}``" if found["code"] else f"\\{found['char']}"


def escaped(text: str) -> str:
    """With `names` as code, and every other mark as itself."""
    return SPECIAL.sub(_written, text)


def sentence(doc: str) -> str:
    """The first paragraph, in one line."""
    return " ".join(textwrap.dedent(doc).strip().partition("\n\n")[0].split())


def as_rst(lines: list[str]) -> list[str]:
    made: list[str] = []
    for block in _blocks(lines):
        made += [*block, ""]
    return made


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Paragraphs, lists, code."""
    text = textwrap.dedent("\n".join(lines)).strip("\n")
    for paragraph in re.split(r"\n\s*\n", text):
        if not paragraph.strip():
            continue
        if paragraph.startswith((" ", ">>>")):
            yield ["::", "", *textwrap.indent(textwrap.dedent(paragraph), "   ").splitlines()]
            continue
        items = _items(paragraph.splitlines())
        if len(items) > 1 or LISTED.match(items[0]):
            yield [f"- {_item(each)}" for each in items]
        else:
            yield [escaped(items[0])]


def _items(lines: list[str]) -> list[str]:
    """Lines of a paragraph as entries, one where it is a text."""
    found: list[str] = []
    has_keys = all(KEY.match(each) for each in lines if not each.startswith(" ")) and len(lines) > 1
    for line in lines:
        begins = not line.startswith(" ") and (has_keys or LISTED.match(line))
        if begins or not found:
            found.append(line.strip())
        else:
            found[-1] += " " + line.strip()
    return found


def _item(text: str) -> str:
    text = LISTED.sub("", text, count=1)
    key, colon, rest = text.partition(":")
    if KEY.match(text) and " " not in key:
        return f"``{key}``:{escaped(rest)}"
    return escaped(text)
