# SPDX-License-Identifier: BSD-3-Clause
"""llms.txt: what the site has, for programs that read: each page with its first sentence, by caption."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from executorch.tools.site.pages import HOME, Group, Page, Site

LONGEST = 200
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)]*\)")
DIRECTIVE = re.compile(r"^```\{.*?^```", re.S | re.M)


def text(site: Site, folder: Path) -> str:
    """Of pages as assemble() wrote them into the folder."""
    title, summary = _head(folder, site.by_path[HOME])
    lines = [f"# {title}", "", f"> {summary}"]
    for section in site.sections:
        lines += ["", f"## {section.caption}", ""]
        for page in section.entries:
            lines += [_line(folder, page)]
            lines += [_line(folder, each) for each in page.pages] if isinstance(page, Group) else []
    return "\n".join(lines) + "\n"


def _line(folder: Path, page: Page) -> str:
    title, summary = _head(folder, page)
    return f"- [{title}]({page.name}.html)" + (f": {summary}" if summary else "")


def _head(folder: Path, page: Page) -> tuple[str, str]:
    """Title and first sentence, without marks."""
    title, _, rest = (folder / f"{page.name}.md").read_text().partition("\n")
    first = DIRECTIVE.sub("", rest).strip("\n").partition("\n\n")[0]
    if first.startswith(("```", "|", "#", "- ", "    ")):
        first = ""
    words = " ".join(LINK.sub(r"\1", first).split())
    sentence = textwrap.shorten(
        re.split(r"(?<=\.) ", words, maxsplit=1)[0], LONGEST, placeholder=" ..."
    )
    return title.removeprefix("# ").replace("`", ""), sentence
