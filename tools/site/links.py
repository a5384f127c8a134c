# SPDX-License-Identifier: BSD-3-Clause
"""Links of a text, from where it stands in the repository to where its page stands in the site."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from executorch.tools.site.pages import Group, Site

# Code keeps its text: fenced blocks, also indented ones, and `spans`.
CODE = re.compile(
    r"^(?P<fence> *(?:```+|~~~+))[^\n]*\n.*?^(?P=fence)|(?P<ticks>`+)[^`].*?(?P=ticks)", re.S | re.M
)
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")
OUTSIDE = re.compile(r"[a-z][a-z+.-]*:|#")
IMAGES = (".png", ".svg", ".jpg", ".gif")
SOURCE = "source:"


class DeadLink(ValueError):
    pass


@dataclass
class Links:
    """`sources` collects files and folders that links lead to and that are no pages; `images` the pictures of pages."""

    site: Site
    sources: set[Path] = field(default_factory=set)
    images: set[Path] = field(default_factory=set)

    def rewritten(self, path: Path, text: str) -> str:
        """The text with targets that hold in the site: `/name.md#anchor` of a page, `source:path` of a file."""
        parts, end = [], 0
        for link in LINK.finditer(CODE.sub(lambda code: "\0" * len(code[0]), text)):
            start, stop = link.span("target")
            parts += [text[end:start], self.target(path, link["target"])]
            end = stop
        return "".join(parts) + text[end:]

    def target(self, path: Path, target: str) -> str:
        if OUTSIDE.match(target):
            return target
        place, hash_, anchor = target.partition("#")
        found = (self.site.root / path.parent / place).resolve()
        root = self.site.root.resolve()
        if not found.exists() or not found.is_relative_to(root):
            raise DeadLink(f"{path}: nothing is at {target}")
        relative = found.relative_to(root)
        if name := self._page(relative):
            return f"/{name}.md{hash_}{anchor}"
        if relative.suffix in IMAGES:
            self.images.add(relative)
            return f"/{image_name(relative)}"
        self.sources.add(relative)
        return f"{SOURCE}{relative.as_posix()}{hash_}{anchor}"

    def _page(self, path: Path) -> str:
        if page := self.site.by_path.get(path) or self.site.by_path.get(path / "README.md"):
            return page.name
        folder = PurePosixPath(*path.parts[path.parts[:1] == ("docs",) :])
        groups = {page.name for page in self.site if isinstance(page, Group)}
        return f"{folder}/index" if f"{folder}/index" in groups else ""


def image_name(path: Path) -> str:
    """Where the site has a picture."""
    return path.as_posix().removeprefix("docs/")
