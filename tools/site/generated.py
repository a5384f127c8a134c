# SPDX-License-Identifier: BSD-3-Clause
"""Pages that the build writes from the product: of each command with its --help, of each backend's facts and operators,
of groups of pages."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator
from itertools import groupby
from unittest import mock

from executorch.backends.discovery import all_backends
from executorch.cli import main as command_line
from executorch.cli.table import COMMANDS, Command
from executorch.exir.backend.lowering.manifest import BackendManifest
from executorch.tools import backend_operators
from executorch.tools.site.pages import Group, Page

COLUMNS = "96"


def entries(pages: tuple[Page, ...] | list[str]) -> str:
    """A list of pages with their titles, which is also their place in the side bar."""
    names = [page if isinstance(page, str) else page.name for page in pages]
    return "\n".join(["```{toctree}", ":maxdepth: 1", "", *(f"/{name}" for name in names), "```"])


def group_page(group: Group) -> str:
    return f"# {group.title}\n\n{group.about}\n\n{entries(group.pages)}\n"


def _fenced(text: str, language: str = "text") -> str:
    return f"```{language}\n{text.rstrip()}\n```\n"


def help_of(command: Command) -> str:
    """As a terminal of COLUMNS shows it."""
    with mock.patch.dict(os.environ, {"COLUMNS": COLUMNS}):
        return command.parser().format_help()


def commands() -> dict[str, str]:
    """Pages by name."""
    made = {f"commands/{each.name}": _command(each) for each in COMMANDS}
    lines = [
        "# Commands",
        "",
        f"What `{command_line.PROGRAM} --help` prints, and a page for each command.",
        "",
    ]
    lines += [_fenced(command_line.overview())]
    for group, members in groupby(COMMANDS, key=lambda each: each.group):
        lines += [f"## {group[0].upper()}{group[1:]}", ""]
        lines += [f"- [{each.name}](/commands/{each.name}.md): {each.summary}" for each in members]
        lines += [""]
    lines += ["```{toctree}", ":hidden:", "", *(f"/{name}" for name in made), "```", ""]
    return {"commands/index": "\n".join(lines), **made}


def _command(command: Command) -> str:
    summary = f"{command.summary[0].upper()}{command.summary[1:]}."
    return f"# {command.prog}\n\n{summary}\n\n{_fenced(help_of(command))}"


def facts(manifest: BackendManifest) -> str:
    """What backend.py says, as a section for the page of the backend's folder."""
    package = manifest.package

    def called(name: str) -> str:
        module, _, attribute = name.partition(":")
        return f"`{'.'.join(filter(None, (package, module, attribute)))}`" if name else ""

    rows = {
        "runs on": manifest.runs_on,
        "tried here with": manifest.tried_with,
        "`executorch export --backend`": f"`{manifest.name}`",
        "name in files": f"`{manifest.id}`" if manifest.id else "none: it is kernels",
        "partitioner": called(manifest.partitioner),
        "passes": called(manifest.passes),
        "quantizer": called(manifest.quantizer),
        "`--quantize`": ", ".join(f"`{each}`" for each in manifest.quantizations()),
        "installed with": ", ".join(f"`pip install '.[{each}]'`" for each in manifest.extras),
        "needs": ", ".join(f"`{each}`" for each in manifest.needs),
        "where its SDK is from": manifest.get_sdk,
    }
    table = [f"| {what} | {value} |" for what, value in rows.items() if value]
    lines = [f"## The backend {manifest.name}", "", "| | |", "|---|---|", *table, ""]
    if manifest.operators is not None:
        lines += [
            f"Which operators it takes, and when not: [operators](/{operators_name(manifest)}.md).",
            "",
        ]
    return "\n".join(lines)


def operators_name(manifest: BackendManifest) -> str:
    return f"{folder_name(manifest)}/operators-{manifest.name}"


def folder_name(manifest: BackendManifest) -> str:
    return manifest.package.removeprefix("executorch.").replace(".", "/")


def operators(manifest: BackendManifest) -> str:
    """The table of tools.backend_operators as a page."""
    head, *rows = csv.reader(io.StringIO(backend_operators.table(manifest)))
    lines = [f"# Operators of {manifest.name}", ""]
    lines += [f"{len(rows)} rows, written from the backend's own table (`{manifest.package}`).", ""]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cells(row: list[str]) -> Iterator[str]:
    name, *rest = (each.replace("|", "\\|") for each in row)
    yield f"`{name}`"
    yield from (each.replace("<", "&lt;").replace("*", "\\*") for each in rest)


def of_backends() -> tuple[dict[str, str], dict[str, str]]:
    """Sections to add, by the name of the folder's page; pages of operators, by name."""
    added: dict[str, str] = {}
    pages: dict[str, str] = {}
    for _, each in sorted(all_backends().items()):
        name = f"{folder_name(each)}/index"
        section = facts(each)
        if each.operators is not None:
            if reason := _why_no_table(each):
                print(f"site: no page of operators: {reason}", file=sys.stderr)
                section = section.rpartition("Which operators")[0]
            else:
                pages[operators_name(each)] = operators(each)
                section += f"\n```{{toctree}}\n:hidden:\n\n/{operators_name(each)}\n```\n"
        added[name] = added.get(name, "") + "\n" + section
    return added, pages


def _why_no_table(manifest: BackendManifest) -> str:
    """A backend's own packages may be missing, or what the build makes of its schema."""
    assert manifest.operators is not None
    if manifest.operators.quantization and (reason := manifest.why_absent()):
        return reason
    try:
        manifest.rows()
    except FileNotFoundError as missing:
        return f"{manifest.name}: expected {missing.filename} (make build), found none"
    return ""
