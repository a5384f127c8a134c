# SPDX-License-Identifier: BSD-3-Clause
"""Takes the pictures of docs/images: the pages of `doctor`, `bench` and `view` for an example model, in Chromium. With
--all every page that commands write, empty and full, on a phone and a desktop, light and dark, to be looked at.

python -m tools.screenshots
python -m tools.screenshots --all build/pages
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from executorch.test.e2e.chromium import FOUND, Chromium
from executorch.test.pages.cases import COMMANDS, PAGES, page_of, programs
from executorch.tools.site import seen

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 1280, 720


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="bert", help="a name of `executorch export --list`")
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument(
        "--all", type=Path, metavar="FOLDER", help="where pictures of every page go, instead"
    )
    options = parser.parse_args()
    if options.all:
        _take_all(options.all)
        return
    if not FOUND:
        sys.exit("expected Chromium (Debian: apt-get install chromium-headless-shell), found none")
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, record = folder / f"{options.model}.pte", folder / f"{options.model}.etrecord"
        _executorch("export", options.model, "-o", model, "--etrecord", record)
        with_record = [model, "--etrecord", record]
        pages = [
            _page(folder, "doctor", *with_record),
            _page(folder, "bench", model),
            _page(folder, "view", *with_record),
        ]
        with Chromium(folder / "profile") as browser:
            for page in pages:
                _take(browser, page, options.folder / f"{page.stem}.png")


def _take_all(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        work = Path(name)
        made = programs(work)
        pages = {
            each: work / f"{each.replace(', ', '-').replace(' ', '_')}.html"
            for each in (*PAGES, *COMMANDS)
        }
        for each in PAGES:
            pages[each].write_text(PAGES[each](), encoding="utf-8")
        for each in COMMANDS:
            page_of(each, made, pages[each])
        with Chromium(work / "profile") as browser:
            for page in pages.values():
                for width in seen.WIDTHS:
                    for mode in seen.MODES:
                        seen.show(browser, page, width, mode)
                        picture = folder / f"{page.stem}-{width}-{mode}.png"
                        browser.screenshot(picture, of_all=True)
    print(f"wrote {4 * len(pages)} pictures to {folder}")


def _page(folder: Path, command: str, *arguments: str | Path) -> Path:
    """Without the name of the folder of this run."""
    path = folder / f"{command}.html"
    _executorch(command, *arguments, "--html", path)
    name = "(?:<wbr>)?".join(map(re.escape, f"{folder}/"))  # lines may break in it
    path.write_text(re.sub(f"{name}(?:<wbr>)?", "", path.read_text()))
    return path


def _executorch(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "executorch", *map(str, arguments)]
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def _take(browser: Chromium, page: Path, target: Path) -> None:
    browser.resize(WIDTH, HEIGHT)
    browser.open(page.as_uri())
    browser.wait_for("!globalThis.start || globalThis.view?.firstPicture > 0")
    browser.screenshot(target)
    print(f"wrote {target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
