# SPDX-License-Identifier: BSD-3-Clause
"""The site in a browser: which text is hard to read, which page is wider than the screen, what the search answers;
and pictures of pages.

python -m executorch.tools.site.seen build/site/html index guide/xnnpack --pictures FOLDER
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from executorch.test.e2e.chromium import Chromium

WIDTHS = (390, 1280)
HEIGHT = 900
MODES = ("light", "dark")
# WCAG 2, level AA: of text, and of large text (24 px, or 18.66 px bold).
LEAST, LEAST_LARGE = 4.5, 3.0

# Colours by WCAG: relative luminance of sRGB, (lighter + 0.05) / (darker + 0.05). A colour that lets others through is
# laid over what is below it. Pictures and what is hidden are left out.
CONTRAST = """
(() => {
  const parse = (text) => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
  const background = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
    if (element.closest("script, style, svg, .visually-hidden")) continue;
    const style = getComputedStyle(element), below = background(element);
    const text = over(parse(style.color), below);
    const [light, dark] = [luminance(text), luminance(below)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? LARGE : SMALL)) {
      const key = `${style.color} on ${below.map(Math.round)}`;
      if (!found.has(key)) found.set(key, `${walker.currentNode.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}, ${key}`);
    }
  }
  return [...found.values()];
})()
""".replace("LARGE", str(LEAST_LARGE)).replace("SMALL", str(LEAST))

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


def hard_to_read(browser: Chromium) -> list[str]:
    """Of the page that is shown: a text, its contrast and colours, once for each pair of colours."""
    return browser.value(CONTRAST)


def too_wide(browser: Chromium) -> bool:
    return browser.value("document.documentElement.scrollWidth > window.innerWidth")


def answers(browser: Chromium, question: str) -> list[str]:
    """Names of pages, the best first; search.html is shown."""
    return browser.value(ANSWERS.replace("QUESTION", repr(question)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("site", type=Path, help="the folder with index.html")
    parser.add_argument("pages", nargs="*", default=["index"], help="names, without .html")
    parser.add_argument("--pictures", type=Path, help="where pictures go")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile,
        Chromium(Path(profile)) as browser,
    ):
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
