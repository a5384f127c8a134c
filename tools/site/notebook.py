# SPDX-License-Identifier: BSD-3-Clause
"""A notebook as a page: its texts, its code, and what its cells printed when stored. And a page as a notebook."""

from __future__ import annotations

import json
import re
from pathlib import Path

from executorch.tools.notebooks import book, printed, source
from executorch.tools.site.llms import LINK

SUFFIX = ".ipynb"
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.S | re.M)
LICENSE = "SPDX-License-Identifier: BSD-3-Clause\n\n"


def markdown(text: str, name: str) -> str:
    """`name`: of the file, which is beside the page."""
    parts = []
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(source(cell).replace(LICENSE, "") + "\n")
            continue
        parts.append(f"```python\n{source(cell)}\n```\n")
        if output := printed(cell).rstrip():
            parts.append(f"```text\n{output}\n```\n")
    return "\n".join([*parts, download(name)])


def download(name: str) -> str:
    return f"{{download}}`This page as a notebook <{name}>`\n"


def is_in_order(path: Path, text: str) -> bool:
    """Whether the page is one whose Python runs from top to bottom (test/documents/reader_test.py)."""
    guide = path.parent == Path("docs/guide") or path == Path("docs/delegates.md")
    return guide and bool(BLOCK.search(text))


def of_page(text: str) -> str:
    """The notebook's text: links, which hold in the repository alone, are their words, pictures are left out."""
    parts = BLOCK.split(text)
    cells = [("code" if i % 2 else "markdown", part) for i, part in enumerate(parts)]
    plain = [(kind, part if kind == "code" else _without_links(part)) for kind, part in cells]
    kept = [(kind, part) for kind, part in plain if part.strip()]
    return json.dumps(book(kept), indent=1, ensure_ascii=False) + "\n"


def _without_links(text: str) -> str:
    return LINK.sub(lambda link: "" if link[0].startswith("!") else link[1], text)
