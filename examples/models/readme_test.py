# SPDX-License-Identifier: BSD-3-Clause
"""The pages of language models: the documented headings are there, and their commands' options exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from executorch.extension.llm.export.config.reading import read
from executorch.extension.llm.export.config.rules import check
from executorch.test.repository.sources import ROOT

MODELS = ROOT / "examples" / "models"
PAGES = sorted(MODELS.glob("*/README.md"))
COMMAND = "python -m executorch.extension.llm.export.export_llm "
COMMANDS = [
    pytest.param(line.strip().removeprefix(COMMAND), id=f"{page.parent.name}-{number}")
    for page in PAGES
    for number, line in enumerate(page.read_text().splitlines())
    if line.strip().startswith(COMMAND)
]


def anchors(page: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.req("LLM-051")
def test_the_documented_pages_and_headings() -> None:
    assert {"llama", "llava", "whisper", "voxtral", "phi_4_mini", "qwen3", "smollm2"} <= {
        page.parent.name for page in PAGES
    }
    assert {
        "step-3-run-on-your-computer-to-validate",
        "option-a-download-and-export-llama32-1b3b-model",
        "spinquant",
    } <= anchors(MODELS / "llama" / "README.md")


@pytest.mark.req("LLM-004", "LLM-013", "LLM-015")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_a_page_asks_for_what_exists(command: str) -> None:
    words = shlex.split(command)
    config = None
    if words[0] == "--config":
        config, words = ROOT / words[1], words[2:]
    options = read(config, words)
    check(options)
    if (params := options.base.params) and params.startswith("examples"):
        assert (ROOT / params).is_file()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        place = (page.parent / path).resolve()
        assert place.is_file(), target
        assert not anchor or anchor in anchors(place), target
