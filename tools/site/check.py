# SPDX-License-Identifier: BSD-3-Clause
"""What must hold of the pages that were built: links and anchors inside of the site lead somewhere, pictures say what
they show, no page is large."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LARGEST = 1_000_000  # bytes of a page, without its pictures and scripts
# Attributes with an address, by tag.
ADDRESSES = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src"}
REFRESH = "url="


@dataclass
class Html(HTMLParser):
    """Of a page: its anchors, the addresses that it leads to, its pictures without a text."""

    anchors: set[str] = field(default_factory=set)
    addresses: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if address := given.get(ADDRESSES.get(tag, "")):
            self.addresses.append(address)
        if tag == "img" and not given.get("alt", "").strip():
            self.silent.append(given.get("src", ""))
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.addresses.append(given["content"].partition(REFRESH)[2])


def read(path: Path) -> Html:
    html = Html()
    html.feed(path.read_text())
    return html


def problems(folder: Path) -> list[str]:
    """A sentence each, in the order of pages."""
    root = os.path.abspath(folder)
    files = {os.path.join(place, name) for place, _, names in os.walk(root) for name in names}
    pages = {path: read(Path(path)) for path in sorted(files) if path.endswith(".html")}
    found = []
    for path, html in pages.items():
        page = os.path.relpath(path, root)
        if (size := os.path.getsize(path)) >= LARGEST:
            found.append(f"{page}: expected less than {LARGEST:,} bytes, found {size:,}")
        found += [f"{page}: the picture {each} has no alt text" for each in html.silent]
        for address in dict.fromkeys(html.addresses):
            if why := _why_dead(address, path, files, pages):
                found.append(f"{page}: {address}: {why}")
    return found


def _why_dead(address: str, page: str, files: set[str], pages: dict[str, Html]) -> str:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return "" if parts.scheme in ("http", "https", "mailto", "data") else "of no page"
    place = os.path.join(os.path.dirname(page), unquote(parts.path))
    target = os.path.normpath(place) if parts.path else page
    if target not in files:
        return "no such file"
    if not parts.fragment or target not in pages:
        return ""
    return "" if unquote(parts.fragment) in pages[target].anchors else "no such anchor"
