# SPDX-License-Identifier: BSD-3-Clause
"""Notebooks are pages, and pages whose Python runs in order are notebooks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from executorch.test.documents.run_page import blocks
from executorch.tools import notebooks
from executorch.tools.site import notebook
from executorch.tools.site.pages import site

GUIDE = [
    page.path
    for page in site()
    if page.path and page.path.suffix == ".md"
    if notebook.is_in_order(page.path, (site().root / page.path).read_text())
]


def test_a_notebook_is_texts_code_and_what_was_printed() -> None:
    found = notebooks.book(
        [("markdown", f"# A\n\n{notebook.LICENSE}More."), ("code", "print(1)"), ("code", "a = 2")]
    )
    text = notebook.markdown(notebooks.stored(found, ["1\n", ""]), "a.ipynb")
    assert (
        text.startswith("# A\n\nMore.\n")
        and "```python\nprint(1)\n```\n\n```text\n1\n```\n" in text
    )
    assert text.count("```text") == 1
    assert text.endswith("```python\na = 2\n```\n\n{download}`This page as a notebook <a.ipynb>`\n")


def test_a_page_is_a_notebook_without_links() -> None:
    page = "# B\n\nSee [this](c.md).\n\n![p](p.png)\n\n```python\nx = [1](2)\n```\n\n```bash\nls\n```\n"
    cells = json.loads(notebook.of_page(page))["cells"]
    assert [each["cell_type"] for each in cells] == ["markdown", "code", "markdown"]
    assert notebooks.source(cells[0]) == "# B\n\nSee this."
    assert notebooks.source(cells[1]) == "x = [1](2)" and "ls" in notebooks.source(cells[2])


def test_only_pages_that_run_in_order() -> None:
    assert len(GUIDE) >= 14 and Path("docs/guide/tutorial.md") in GUIDE
    assert not notebook.is_in_order(Path("README.md"), "```python\n1\n```\n")


@pytest.mark.parametrize("path", GUIDE, ids=lambda path: path.name)
def test_cells_are_the_blocks_that_tests_run(path: Path) -> None:
    text = (site().root / path).read_text()
    cells = json.loads(notebook.of_page(text))["cells"]
    codes = [notebooks.source(each) for each in cells if each["cell_type"] == "code"]
    assert codes == [each.strip("\n") for each in blocks(text, "python")]


@pytest.mark.full
@pytest.mark.req("PRJ-008")
def test_the_export_tutorial_runs_as_a_notebook(tmp_path: Path) -> None:
    text = (site().root / "docs" / "guide" / "tutorial.md").read_text()
    (tmp_path / "tutorial.ipynb").write_text(notebook.of_page(text))
    outputs = notebooks.fresh(tmp_path / "tutorial.ipynb", tmp_path)
    assert len(outputs) == len(blocks(text, "python")) and "refused:" in "".join(outputs)
