# SPDX-License-Identifier: BSD-3-Clause
"""The site in a browser: which text is hard to read, which page is wider than the screen, what the search answers;
and pictures of pages.

python -m executorch.tools.site.seen build/site/html index guide/xnnpack --pictures FOLDER
python -m executorch.tools.site.seen build/site/html --questions
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from executorch.test.e2e.chromium import SECONDS, Chromium

WIDTHS = (390, 1280)
HEIGHT = 900
MODES = ("light", "dark")
# WCAG 2, level AA: of text, and of large text (24 px, or 18.66 px bold).
LEAST, LEAST_LARGE = 4.5, 3.0

HERE = Path(__file__).resolve().parent
FIRST = 3
CONTRAST = (HERE / "contrast.js").read_text()

# The site's own scripts: Sphinx's, and static/search.js, which says how pages are scored.
ANSWERS = """
(() => {
  const parsed = Search._parseQuery(QUESTION);
  return Search._performSearch(...parsed).reverse().map((found) => found[0]);
})()
"""


def show(browser: Chromium, page: Path, width: int, mode: str) -> None:
    browser.resize(width, HEIGHT)
    feature = {"name": "prefers-color-scheme", "value": mode}
    browser.call("Emulation.setEmulatedMedia", features=[feature])
    browser.open(page.resolve().as_uri())
    time.sleep(0.1)  # colours change over some milliseconds


def choose_version(browser: Chromium, version: str, target: str) -> None:
    """By the switch in the side bar; returns when the page is shown whose address ends with the target."""
    select = "document.querySelector('.versions select')"
    browser.value(f"{select}.value = '{version}', {select}.dispatchEvent(new Event('change')), 0")
    arrived = f"location.href.endsWith({target!r}) && document.readyState === 'complete'"
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            if browser.value(arrived):
                return
        except RuntimeError:  # asked of a page that is being replaced
            pass
        time.sleep(0.02)
    raise TimeoutError(f"{target} is not shown after {SECONDS} s")


def hard_to_read(browser: Chromium) -> list[str]:
    """Of the page that is shown: a text, its contrast and colours, once for each pair of colours."""
    return browser.value(f"{CONTRAST}({LEAST}, {LEAST_LARGE})")


def too_wide(browser: Chromium) -> bool:
    return browser.value("document.documentElement.scrollWidth > window.innerWidth")


def answers(browser: Chromium, question: str) -> list[str]:
    """Names of pages, the best first; search.html is shown."""
    return browser.value(ANSWERS.replace("QUESTION", repr(question)))


def questions() -> list[tuple[str, list[str]]]:
    """Questions, and names of the pages that answer them."""
    lines = (HERE / "questions.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return [(question, pages.split()) for question, pages in rows]


def misses(browser: Chromium, site: Path) -> dict[str, list[str]]:
    """Questions that none of the first pages found answers, and these pages. Several entries of one count once."""
    show(browser, site / "search.html", WIDTHS[-1], MODES[0])
    browser.wait_for("Search.hasIndex()")
    found = {
        question: list(dict.fromkeys(answers(browser, question)))[:FIRST]
        for question, _ in questions()
    }
    return {each: found[each] for each, pages in questions() if not set(found[each]) & set(pages)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("site", type=Path, help="the folder with index.html")
    parser.add_argument("pages", nargs="*", default=["index"], help="names, without .html")
    parser.add_argument("--pictures", type=Path, help="where pictures go")
    parser.add_argument(
        "--questions", action="store_true", help="what the search answers to questions.tsv, alone"
    )
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        Chromium(Path(profile)) as browser,
    ):
        if options.questions:
            wrong = misses(browser, options.site)
            for question, pages in wrong.items():
                print(f"{question}: {', '.join(pages)}")
            count = len(questions())
            print(f"{count - len(wrong)} of {count} questions are answered in the first {FIRST}")
            return
        for name in options.pages:
            for mode in MODES:
                for width in WIDTHS:
                    show(browser, options.site / f"{name}.html", width, mode)
                    found = hard_to_read(browser) + ["wider than the screen"] * too_wide(browser)
                    print(f"{name}, {width} px, {mode}: {found or 'well'}")
                    if options.pictures:
                        options.pictures.mkdir(parents=True, exist_ok=True)
                        picture = f"{name.replace('/', '-')}-{width}-{mode}.png"
                        browser.screenshot(options.pictures / picture)


if __name__ == "__main__":
    main()
