# SPDX-License-Identifier: BSD-3-Clause
"""Builds the site in a folder: pages of this repository's own text, with a search, that need no server.

python -m executorch.tools.site            # build/site/html/index.html
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from executorch.tools.site import llms, redirects, versions
from executorch.tools.site.check import problems
from executorch.tools.site.pages import ROOT, site
from executorch.tools.site.reference import native

HERE = Path(__file__).resolve().parent
TRY = "try"  # the folder of the page that shows a program and runs it, of extension/wasm
TRY_LINK = f'\n<p><a href="{TRY}/index.html">Try a program in this browser</a></p>\n'


def add_try(page: Path, text: Path, html: Path) -> None:
    """The page, with a link from the first one."""
    shutil.copytree(page, html / TRY)
    first = text / "index.md"
    first.write_text(first.read_text() + TRY_LINK)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site", help="made anew")
    parser.add_argument(
        "--try",
        dest="page",
        type=Path,
        default=ROOT / "cmake-out-wasm" / "extension" / "wasm" / "page",
        help=f"what the target executorch_wasm_page made, for {TRY}/; a site without where it was not built",
    )
    parser.add_argument(
        "--edit",
        default=os.environ.get("EXECUTORCH_SITE_EDIT", ""),
        metavar="ADDRESS",
        help="where a page's text is edited, with {path} for the file (EXECUTORCH_SITE_EDIT): pages lead there",
    )
    options = parser.parse_args(argv)
    try:
        from sphinx.cmd.build import build_main
    except ImportError:
        sys.exit(
            "expected Sphinx (make setup, or pip install -r scripts/requirements-site.txt), found none"
        )
    shutil.rmtree(options.out, ignore_errors=True)
    text, html = options.out / "text", options.out / "html"
    text.mkdir(parents=True)
    pages = site()
    if finder := native.finder(ROOT, options.out / "native"):
        sys.meta_path.insert(0, finder)
    from executorch.tools.site.assemble import assemble  # what it imports may need the stand-ins

    try:
        assemble(pages, text)
    except ValueError as problem:
        sys.exit(f"site: {problem}")
    if options.page.is_dir():
        add_try(options.page, text, html)
    flags = [
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-c",
        str(HERE),
        "-d",
        str(options.out / "read"),
        "-D",
        f"site_edit={options.edit}",
    ]
    if status := build_main([*flags, str(text), str(html)]):
        return status
    redirects.write(html)
    (html / "llms.txt").write_text(llms.text(pages, text))
    versions.write_pages(html)
    if found := problems(html):
        print("\n".join(found), file=sys.stderr)
        return 1
    if native.lacking:
        names = ", ".join(native.lacking)
        print(f"site: native modules were not built (make build), so these have no text: {names}")
    print(f"wrote {html / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
