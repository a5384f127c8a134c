# SPDX-License-Identifier: BSD-3-Clause
"""What a screen reader and a keyboard find on the page that Chromium shows."""

from __future__ import annotations

from typing import Any

from executorch.test.e2e.chromium import Chromium

NAMED = {
    "Canvas",
    "DisclosureTriangle",
    "application",
    "button",
    "checkbox",
    "combobox",
    "complementary",
    "graphics-document",
    "heading",
    "image",
    "img",
    "link",
    "listbox",
    "region",
    "searchbox",
    "slider",
    "spinbutton",
    "table",
    "textbox",
}
# What can have the focus, and is shown; the order of the document.
REACHABLE = """[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")]
  .filter((each) => each.tabIndex >= 0 && !each.disabled && each.checkVisibility({visibilityProperty: true}))"""
# Whose name is what stands in them while they are empty.
UNLABELLED = """[...document.querySelectorAll("input[placeholder], textarea[placeholder]")]
  .filter((each) => !each.labels.length && !each.ariaLabel && !each.getAttribute("aria-labelledby"))
  .map((each) => each.placeholder)"""
# Its place among those, and whether its outline or its border shows that it has the focus.
FOCUSED = f"""(() => {{
  const each = document.activeElement, style = getComputedStyle(each);
  const isMarked = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  return [({REACHABLE}).indexOf(each), isMarked, each.outerHTML.slice(0, 80)];
}})()"""


def tree(browser: Chromium) -> list[dict[str, Any]]:
    """Its nodes, in order, without those that a screen reader leaves out."""
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [each for each in nodes if not each.get("ignored")]


def _value(node: dict[str, Any], what: str) -> Any:
    return node.get(what, {}).get("value", "")


def nameless(browser: Chromium) -> list[str]:
    """Controls, headings, pictures and tables that are read aloud without a name, or with one that goes as soon as
    something is written."""
    found = ((_value(each, "role"), str(_value(each, "name")).strip()) for each in tree(browser))
    unnamed = [role for role, name in found if role in NAMED and not name]
    return unnamed + browser.value(UNLABELLED)


def headings(browser: Chromium) -> list[int]:
    """Their levels, in order."""
    levels = []
    for each in tree(browser):
        if _value(each, "role") == "heading":
            level = next(x for x in each["properties"] if x["name"] == "level")
            levels.append(level["value"]["value"])
    return levels


def out_of_order(levels: list[int]) -> bool:
    """One first heading, and none that leaves a level out."""
    return (
        levels[:1] != [1]
        or levels.count(1) != 1
        or any(b > a + 1 for a, b in zip(levels, levels[1:]))
    )


def lost(browser: Chromium, limit: int = 200) -> list[str]:
    """What Tab does not reach, or reaches without showing it. From the first that has the focus on."""
    browser.value("document.activeElement?.blur(), getSelection().removeAllRanges(), 0")
    expected = browser.value(f"({REACHABLE}).map((each) => each.outerHTML.slice(0, 80))")
    seen: dict[int, bool] = {}
    unmarked = []
    for _ in range(min(len(expected) + 2, limit)):
        browser.press("Tab")
        place, is_marked, what = browser.value(FOCUSED)
        if place >= 0 and place not in seen and not is_marked:
            unmarked.append(f"no mark: {what}")
        seen[place] = is_marked
    last = len(expected) if len(expected) < limit else 0
    return unmarked + [f"not reached: {expected[i]}" for i in range(last) if i not in seen]
