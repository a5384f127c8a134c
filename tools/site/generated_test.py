# SPDX-License-Identifier: BSD-3-Clause
"""Pages that the build writes: of commands and of backends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.backends.discovery import all_backends
from executorch.cli.table import COMMANDS
from executorch.tools.site import generated, llms
from executorch.tools.site.pages import Site, site


def test_every_command_has_a_page_with_its_help() -> None:
    made = generated.commands()
    assert list(made) == ["commands/index", *(f"commands/{each.name}" for each in COMMANDS)]
    for each in COMMANDS:
        page = made[f"commands/{each.name}"]
        assert page.startswith(f"# executorch {each.name}\n")
        assert f"usage: executorch {each.name}" in page and "--help" in page
        assert f"[{each.name}](/commands/{each.name}.md): {each.summary}" in made["commands/index"]


def test_a_help_is_what_the_command_prints() -> None:
    command = [sys.executable, "-m", "executorch", "run", "--help"]
    environment = os.environ | {"COLUMNS": generated.COLUMNS}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    (run,) = (each for each in COMMANDS if each.name == "run")
    assert done.stdout == generated.help_of(run)


@pytest.mark.parametrize("name", sorted(all_backends()))
def test_a_backend_has_its_facts_on_the_page_of_its_folder(name: str) -> None:
    manifest = all_backends()[name]
    assert f"{generated.folder_name(manifest)}/index" in {page.name for page in site()}
    text = generated.facts(manifest)
    assert f"## The backend {name}\n" in text and manifest.runs_on in text
    assert f"`{manifest.id}`" in text if manifest.id else "it is kernels" in text
    if manifest.partitioner:
        module, _, attribute = manifest.partitioner.partition(":")
        assert f"`{manifest.package}.{module}.{attribute}`" in text


@pytest.mark.req("PRJ-007")
@pytest.mark.parametrize("name", ["nxp", "samsung", "vulkan", "xnnpack"])
def test_operators_of_a_backend_are_rows(name: str) -> None:
    """Of its table in the code, in this order."""
    manifest = all_backends()[name]
    text = generated.operators(manifest)
    head, line, *rows = [each for each in text.splitlines() if each.startswith("|")]
    assert head.startswith("| Operator | Compute DType | Quantization |")
    table = manifest.rows()
    named = [each.partition("`")[2].partition("`")[0] for each in rows]
    assert named == [*map(str, table.rows_of_patterns), *table]
    assert {each.replace("\\|", "").count("|") for each in (head, line, *rows)} == {5}


def test_llms_txt_has_each_page_with_its_first_sentence(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("")
    made = Site({"One": ["@a", "@b"]}, tmp_path)
    (tmp_path / "index.md").write_text("# Home\n\nWhat it\nis for. More.\n")
    (tmp_path / "a.md").write_text("# The `a`\n\nSee [b](b.md) first. Then more.\n")
    (tmp_path / "b.md").write_text("# B\n\n| a | table |\n")
    assert llms.text(made, tmp_path).splitlines() == [
        "# Home", "", "> What it is for.", "", "## One", "", "- [The a](a.html): See b first.", "- [B](b.html)",
    ]  # fmt: skip
