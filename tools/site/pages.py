# SPDX-License-Identifier: BSD-3-Clause
"""Which texts of the repository are pages of the site, under which names and captions: sections.yaml, read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = Path(__file__).resolve().parent / "sections.yaml"
HOME = Path("README.md")
LEFT_OUT = "Left out"


@dataclass(frozen=True)
class Page:
    """`name`: its place in the site, without suffix. `path`: of its text, relative to the repository; None for what
    the build writes."""

    name: str
    path: Path | None = None


@dataclass(frozen=True)
class Group(Page):
    """A page that lists others."""

    title: str = ""
    about: str = ""
    pages: tuple[Page, ...] = ()


@dataclass(frozen=True)
class Section:
    caption: str
    entries: tuple[Page, ...]


def name_of(path: Path) -> str:
    """guide/xnnpack of docs/guide/xnnpack.md; a README is the index of its folder."""
    if path == HOME:
        return "index"
    if path == Path("docs/README.md"):
        return "documents"
    parts = list(path.with_suffix("").parts)
    if parts[0] == "docs":
        del parts[0]
    if parts[-1] == "README":
        parts[-1] = "index"
    return "/".join(parts).lower()


class Site:
    """All pages. `sections`: the side bar; `by_path`: pages of the repository's texts."""

    def __init__(self, sections: dict[str, Any], root: Path = ROOT) -> None:
        self.root = root
        self.left_out: dict[str, str] = dict(sections.get(LEFT_OUT, {}))
        self.by_path = {HOME: Page(name_of(HOME), HOME)}
        self.sections = tuple(
            Section(caption, tuple(page for entry in entries for page in self._entry(entry)))
            for caption, entries in sections.items()
            if caption != LEFT_OUT
        )
        names = [page.name for page in self]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two pages have one name: {', '.join(twice)}")

    def __iter__(self) -> Iterator[Page]:
        yield self.by_path[HOME]
        for section in self.sections:
            for page in section.entries:
                yield page
                yield from page.pages if isinstance(page, Group) else ()

    def is_left_out(self, path: Path) -> bool:
        return any(path in set(self._files(pattern)) for pattern in self.left_out)

    def _files(self, pattern: str) -> list[Path]:
        return sorted(path.relative_to(self.root) for path in self.root.glob(pattern))

    def _entry(self, entry: str | dict[str, Any]) -> Iterator[Page]:
        if isinstance(entry, dict):
            pages = tuple(page for each in entry["pages"] for page in self._entry(each))
            yield Group(entry["name"], None, entry["title"], entry["about"].strip(), pages)
        elif entry.startswith("@"):
            yield Page(entry[1:])
        else:
            yield from self._of_files(entry)

    def _of_files(self, pattern: str) -> Iterator[Page]:
        found = self._files(pattern)
        if not found:
            raise ValueError(f"sections.yaml: no file is {pattern}")
        for path in found:
            if path not in self.by_path:
                self.by_path[path] = Page(name_of(path), path)
                yield self.by_path[path]


def site() -> Site:
    return Site(yaml.safe_load(SECTIONS.read_text()))
