# SPDX-License-Identifier: BSD-3-Clause
"""What Sphinx does besides for the site: pages of files that links lead to, docstrings as
text."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from executorch.tools.site.assemble import SOURCES
from executorch.tools.site.links import SOURCE
from executorch.tools.site.pages import ROOT, site
from executorch.tools.site.reference import headers
from executorch.tools.site.reference.cpp import page_name
from executorch.tools.site.reference.docstrings import as_rst

FOLDER = "source"
LEXERS = {
    ".fbs": "protobuf",
    ".cpp": "cpp",
    ".h": "cpp",
    ".py": "python",
    ".md": "markdown",
    ".yaml": "yaml",
    ".sh": "bash",
    ".cmake": "cmake",
    ".txt": "cmake",
}
LARGEST = 400_000  # of a file that is shown, in bytes


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("doctree-resolved", _lead_to_files)
    app.connect("html-collect-pages", _pages_of_files)
    app.connect("autodoc-process-docstring", _as_rst)
    app.connect("html-page-context", _edit)
    app.add_config_value("site_edit", "", "html", (str,))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def page_of(path: str) -> str:
    """The name of the page of a file or folder."""
    return f"{FOLDER}/{path}"


def _lead_to_files(app: Sphinx, doctree: nodes.document, name: str) -> None:
    for node in doctree.findall(nodes.reference):
        target = node.get("refuri", "")
        if target.startswith(SOURCE):
            path, hash_, anchor = target.removeprefix(SOURCE).partition("#")
            place = app.builder.get_relative_uri(name, page_of(path))
            node["refuri"] = place + (f"#line-{anchor.removeprefix('L')}" if hash_ else "")


def _pages_of_files(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    linked = [Path(line) for line in (Path(app.srcdir) / SOURCES).read_text().split()]
    for path in with_contents(linked, ROOT):
        name = page_of(path.as_posix())
        body = _listing(app, path, name) if (ROOT / path).is_dir() else _file(app, path)
        title = f"{path}{'/' if (ROOT / path).is_dir() else ''}"
        yield name, {"title": title, "body": f"<h1>{title}</h1>{body}"}, "page.html"


def with_contents(linked: list[Path], root: Path) -> list[Path]:
    """These, and the files that stand in folders among them."""
    found = set(linked)
    for path in linked:
        if (root / path).is_dir():
            found.update(each.relative_to(root) for each in _files(root / path))
    return sorted(found)


def _files(folder: Path) -> list[Path]:
    return sorted(
        each
        for each in folder.iterdir()
        if each.is_file() and _text(each) is not None and each.suffix != ".pyc"
    )


def _text(path: Path) -> str | None:
    """None of what is no text, or too long to be shown."""
    if path.stat().st_size > LARGEST:
        return None
    try:
        return path.read_text()
    except UnicodeDecodeError:
        return None


def _listing(app: Sphinx, path: Path, name: str) -> str:
    rows = [
        f'<li><a href="{app.builder.get_relative_uri(name, page_of(each.relative_to(ROOT).as_posix()))}">'
        f"<code>{each.name}</code></a></li>"
        for each in _files(ROOT / path)
    ]
    return f"<p>Files of this folder of the repository.</p><ul>{''.join(rows)}</ul>"


def _file(app: Sphinx, path: Path) -> str:
    text = _text(ROOT / path)
    if text is None:
        return "<p>A file of the repository that is not shown here.</p>"
    shown = app.builder.highlighter.highlight_block(  # type: ignore[attr-defined]
        text, LEXERS.get(path.suffix, "text"), force=True, lineanchors="line", linenos=False
    )
    return f"<p>A file of the repository.</p>{shown}"


@cache
def texts() -> dict[str, str]:
    """The file whose text a page has, by the page's name."""
    of_headers = {page_name(path): path for path in headers.paths()}
    return of_headers | {page.name: page.path.as_posix() for page in site() if page.path}


def _edit(app: Sphinx, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """The theme draws a pencil where there is an address."""
    path = texts().get(name) if app.config.site_edit else None
    context["theme_source_edit_link"] = path and app.config.site_edit.replace("{path}", path)


def _as_rst(
    app: Sphinx, what: str, name: str, object_: Any, options: Any, lines: list[str]
) -> None:
    lines[:] = as_rst(lines)
