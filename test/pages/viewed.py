# SPDX-License-Identifier: BSD-3-Clause
"""How the page of `executorch view` fares with programs of yours: a line for each file.

python -m executorch.test.pages.viewed mv2.pte vit.pte --pictures FOLDER
python -m executorch.test.pages.viewed --nodes 10000

A record beside it (`mv2.etrecord`) is given, too. `opens`: milliseconds from opening the page to its first picture, in
headless Chromium; `keys`: whether arrows, Enter, the search and Escape do what they should.
"""

from __future__ import annotations

import argparse
import io
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path

from executorch.devtools.commands import main as devtools
from executorch.devtools.commands.output.words import sized
from executorch.test.e2e.chromium import Chromium
from executorch.test.pages.accessible import lost, nameless
from executorch.test.pages.cases import big_page
from executorch.tools.site import seen

IS_THERE = "globalThis.view?.firstPicture > 0"
SELECTED = "view.selected?.name ?? ''"


def write(file: Path, page: Path) -> None:
    record = file.with_suffix(".etrecord")
    with_record = ["--etrecord", str(record)] if record.exists() else []
    with redirect_stdout(io.StringIO()):
        status = devtools(["view", str(file), *with_record, "--html", str(page)])
    if status:
        raise SystemExit(status)


def keys_that_fail(browser: Chromium) -> list[str]:
    """Of a page that was opened just now."""
    failed = []

    def expect(key: str, condition: str) -> None:
        browser.key(key)
        if not browser.value(condition):
            failed.append(key)

    expect("ArrowDown", f"({SELECTED}) !== ''")
    browser.value("view.before = view.selected, 0")
    expect("ArrowDown", "view.selected !== view.before || !view.selected.edges?.length")
    expect("/", "document.activeElement.id === 'search'")
    browser.write(browser.value("view.nodes.at(-1).name"))
    browser.press("Enter")
    if not browser.value("document.activeElement.id === 'graph' && !!view.selected?.node"):
        failed.append("search")
    expect("Backspace", "!!view.selected")
    expect("Escape", "view.selected === null")
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--nodes", type=int, help="also a graph of this many, made up")
    parser.add_argument("--pictures", type=Path, help="where pictures of the pages go")
    options = parser.parse_args()
    lines = ["file                  nodes  written in      page     opens  keys  faults"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        writers: dict[str, Callable[[Path], object]] = {
            file.name: partial(write, file) for file in options.files
        }
        if options.nodes:
            writers[f"{options.nodes} made up"] = lambda page: page.write_text(
                big_page(options.nodes), encoding="utf-8"
            )
        with Chromium(folder / "profile") as browser:
            for title, write_page in writers.items():
                page = folder / f"{Path(title).stem}.html"
                start = time.perf_counter()
                write_page(page)
                lines.append(_line(title, time.perf_counter() - start, page, browser))
                if options.pictures:
                    _pictures(browser, page, options.pictures)
    print("\n".join(lines))


def _line(title: str, seconds: float, page: Path, browser: Chromium) -> str:
    browser.exceptions.clear()
    seen.show(browser, page, 1280, "light")
    browser.wait_for(IS_THERE)
    opened, nodes = (browser.value(f"view.{each}") for each in ("firstPicture", "nodes.length"))
    keys = " ".join(keys_that_fail(browser)) or "ok"
    faults = [*nameless(browser), *lost(browser), *seen.hard_to_read(browser), *browser.exceptions]
    faults += ["wider than the window"] * seen.too_wide(browser)
    return (
        f"{title:<20s} {nodes:>6,}  {seconds:>8.1f} s  {sized(page.stat().st_size):>8s}  {opened:>5.0f} ms  "
        f"{keys:<4s}  {faults or 'none'}"
    )


def _pictures(browser: Chromium, page: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for width in seen.WIDTHS:
        for mode in seen.MODES:
            seen.show(browser, page, width, mode)
            browser.wait_for(IS_THERE)
            browser.screenshot(folder / f"{page.stem}-{width}-{mode}.png")


if __name__ == "__main__":
    main()
