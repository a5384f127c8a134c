# SPDX-License-Identifier: BSD-3-Clause
"""Commands that pages of the guide show, for the tests that run them."""

from __future__ import annotations

import re

from executorch.test.repository.sources import ROOT


def commands_of(page: str, section: str) -> list[str]:
    """Of the one block in a section of docs/guide/PAGE.md, a line each."""
    text = (ROOT / "docs" / "guide" / f"{page}.md").read_text()
    (block,) = re.findall(
        r"^```\n(.*?)^```$",
        text.split(f"\n## {section}\n")[1].split("\n## ")[0],
        re.M | re.S,
    )
    return block.splitlines()
