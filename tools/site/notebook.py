# SPDX-License-Identifier: BSD-3-Clause
"""A notebook as a page: its texts, its code, and what its cells printed when it was stored."""

from __future__ import annotations

import json

from executorch.tools.notebooks import printed, source

SUFFIX = ".ipynb"
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
    return "\n".join([*parts, f"{{download}}`This page as a notebook <{name}>`\n"])
