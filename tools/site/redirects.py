# SPDX-License-Identifier: BSD-3-Clause
"""Pages under the names that upstream's documents have for them, which lead to ours: page_names.tsv, read. And one for
each code of an error, which leads to its section."""

from __future__ import annotations

import html
import os
import re
from dataclasses import dataclass
from pathlib import Path

from executorch.tools.site.pages import ROOT

TABLE = Path(__file__).resolve().parent / "page_names.tsv"
ABSENT = "-"
ERRORS = "guide/errors"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{name}</title>
<meta http-equiv="refresh" content="{seconds}; url={target}">
<link rel="canonical" href="{target}">
</head>
<body><p>This page is <a href="{target}">{target}</a>.</p></body>
</html>
"""


@dataclass(frozen=True)
class Name:
    """`target`: our page, with an anchor where it is a part of one; empty where there is none, and `why` says why."""

    name: str
    target: str
    why: str = ""

    @property
    def page(self) -> str:
        return self.target.partition("#")[0]


def table(path: Path = TABLE) -> list[Name]:
    rows = [
        line.split("\t")
        for line in path.read_text().splitlines()
        if line and not line.startswith("#")
    ]
    return [
        Name(name, "" if target == ABSENT else target, rest[0] if rest else "")
        for name, target, *rest in rows
    ]


# The documents promise the seconds of one.
SECONDS = {"getting-started-setup": 3}


def text(name: Name) -> str:
    page, hash_, anchor = name.target.partition("#")
    place = os.path.relpath(f"{page}.html", Path(name.name).parent)
    target = html.escape(f"{place}{hash_}{anchor}")
    return PAGE.format(name=name.name, target=target, seconds=SECONDS.get(name.name, 0))


def of_errors(text: str) -> list[Name]:
    """errors/0x12 and errors/InvalidArgument for a heading of both, errors/NOT_SUPPORTED for one of a name."""
    headings = re.findall(r"^### ((?:0x\w\w )?\w+)$", text, re.M)
    return [
        Name(f"errors/{word}", f"{ERRORS}#{heading.replace(' ', '-').lower()}")
        for heading in headings
        for word in heading.split()
    ]


def write(folder: Path, names: list[Name] | None = None) -> None:
    """None over a page that is there: a name may be that of our own page, too."""
    errors = of_errors((ROOT / f"docs/{ERRORS}.md").read_text())
    for each in [*table(), *errors] if names is None else names:
        if each.target and each.name != each.page:
            path = folder / f"{each.name}.html"
            if path.exists():
                raise ValueError(
                    f"page_names.tsv: {each.name} is a page of ours, not {each.target}"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text(each))
