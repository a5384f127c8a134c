# SPDX-License-Identifier: BSD-3-Clause
"""The notes of a release: the changelog's section of that version."""

from __future__ import annotations

import posixpath
import re

_SECTION = re.compile(r"^## (\S+)([^\n]*)\n(.*?)(?=^## |\Z)", re.M | re.S)
_LINK = re.compile(r"(?<!!)\]\((?![a-z]+:|#)([^)\s]+)\)")


def _sections(changelog: str) -> dict[str, tuple[str, str]]:
    return {version: (rest, body) for version, rest, body in _SECTION.findall(changelog)}


def is_released(changelog: str, version: str) -> bool:
    """Whether the section is there and does not say `(unreleased)`."""
    return "(unreleased)" not in _sections(changelog).get(version, ("(unreleased)", ""))[0]


def notes(changelog: str, version: str, folder: str = "docs") -> str:
    """The section with a title; links go from the tree's root, as the changelog stands in `folder`."""
    sections = _sections(changelog)
    if version not in sections:
        raise ValueError(
            f"docs/CHANGELOG.md: expected a section `## {version}`, found {', '.join(sections) or 'none'}"
        )
    body = _LINK.sub(
        lambda link: f"]({posixpath.normpath(posixpath.join(folder, link[1]))})",
        sections[version][1].strip(),
    )
    return f"# ExecuTorch {version}\n\n{body}\n"
