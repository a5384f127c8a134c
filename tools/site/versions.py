# SPDX-License-Identifier: BSD-3-Clause
"""Sites of several versions beside each other, each with a switch to the others: static/versions.js draws it.

python -m executorch.tools.site.versions FOLDER main      # puts build/site/html there as FOLDER/main
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from pathlib import Path

from executorch.tools.site.pages import ROOT

FIRST = ("stable", "main")
LIST, PAGES = "versions.js", "pages.js"
NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def order(name: str) -> tuple[int, list[int], str]:
    """stable, main, then releases with the latest first, then others by name."""
    if name in FIRST:
        return FIRST.index(name), [], name
    numbers = [-int(each) for each in re.findall(r"\d+", name)] if name[0].isdigit() else []
    return len(FIRST) + (not numbers), numbers, name


def write_pages(html: Path) -> None:
    """Which pages a site has, so that the switch of another version leads to the same one."""
    names = sorted(each.relative_to(html).as_posix() for each in html.rglob("*.html"))
    own = [name for name in names if not name.startswith("source/")]
    (html / PAGES).write_text(f"var SITE_PAGES = {json.dumps(own)};\n")


def add(folder: Path, name: str, html: Path) -> list[str]:
    """The versions that are then there; an earlier site of that name is replaced."""
    if not (html / PAGES).is_file():
        raise ValueError(f"{html}: expected a site (make site), found no {PAGES}")
    if not NAME.fullmatch(name):
        raise ValueError(f"{name}: expected letters, digits, dots, underscores and hyphens")
    shutil.rmtree(folder / name, ignore_errors=True)
    shutil.copytree(html, folder / name)
    found = sorted((each.parent.name for each in folder.glob(f"*/{PAGES}")), key=order)
    (folder / LIST).write_text(f"var SITE_VERSIONS = {json.dumps(found)};\n")
    return found


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where the sites of all versions are")
    parser.add_argument("name", help="of this one: main, stable, 1.4")
    parser.add_argument(
        "--html",
        type=Path,
        default=ROOT / "build/site/html",
        help="the site, as make site wrote it",
    )
    given = parser.parse_args(argv)
    try:
        found = add(given.folder, given.name, given.html)
    except ValueError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    print(f"{given.folder / given.name}; versions: {', '.join(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
