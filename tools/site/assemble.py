# SPDX-License-Identifier: BSD-3-Clause
"""Writes what Sphinx reads: every page under its name, with links that hold there."""

from __future__ import annotations

import shutil
from pathlib import Path

from executorch.tools.site import generated, notebook
from executorch.tools.site.links import Links, image_name
from executorch.tools.site.pages import HOME, Group, Site
from executorch.tools.site.reference.pages import pages as reference

SOURCES = "sources.txt"  # files and folders of the repository that pages lead to, a line each


def assemble(site: Site, folder: Path) -> None:
    links = Links(site)
    written = generated.commands()
    written |= {name: links.rewritten(HOME, text) for name, text in reference(site.root).items()}
    added, operators = generated.of_backends()
    written |= operators
    for page in site:
        if isinstance(page, Group):
            written[page.name] = generated.group_page(page)
        elif page.path is not None:
            text = (site.root / page.path).read_text()
            if page.path.suffix == notebook.SUFFIX:
                _copy(site.root / page.path, (folder / page.name).with_name(page.path.name))
                text = notebook.markdown(text, page.path.name)
            elif notebook.is_in_order(page.path, text):
                beside = folder / f"{page.name}{notebook.SUFFIX}"
                beside.parent.mkdir(parents=True, exist_ok=True)
                beside.write_text(notebook.of_page(text))
                text += f"\n{notebook.download(beside.name)}"
            written[page.name] = links.rewritten(page.path, text)
        elif page.name not in written:
            raise ValueError(f"sections.yaml: @{page.name}: nothing writes such a page")
    for name, section in added.items():
        if name not in written:
            raise ValueError(f"sections.yaml has no page for the backend's folder of {name}")
        written[name] += "\n" + section
    written["index"] += "\n" + side_bar(site)
    for name, text in written.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for image in links.images:
        _copy(site.root / image, folder / image_name(image))
    (folder / SOURCES).write_text("".join(f"{path.as_posix()}\n" for path in sorted(links.sources)))


def _copy(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)


def side_bar(site: Site) -> str:
    """Hidden in the text of the first page: Sphinx makes the side bar of it."""
    trees = []
    for section in site.sections:
        names = [f"/{page.name}" for page in section.entries]
        head = ["```{toctree}", ":hidden:", f":caption: {section.caption}", ""]
        trees.append("\n".join([*head, *names, "```"]))
    return "\n\n".join(trees) + "\n"
