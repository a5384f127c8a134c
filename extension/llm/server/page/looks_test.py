# SPDX-License-Identifier: BSD-3-Clause
"""The page empty and full, at two widths, light and dark: text that can be read, nothing wider than the window."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.extension.llm.server.page.conftest import Scripted, key, open_page, send, write
from executorch.test.e2e.chromium import Chromium, needs_chromium
from executorch.tools.site.seen import MODES, WIDTHS, hard_to_read, too_wide

pytestmark = needs_chromium
BACKGROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 26)"}
ANSWER = """<think>Short.</think># Rainbows

**Sunlight** is *refracted* in drops: [optics](https://example.org), `n = c / v`.

1. In
   ```python
   print("a line that is longer than a telephone is wide, so that it has to be scrolled")
   ```
2. Out

- [x] done

| Colour | Wavelength in nanometres | Angle between sunlight and the eye | Seen |
|:--|--:|:-:|--|
| Red | 700 | 42.4° | outside |

> A second bow has its colours the other way round.

<b>not bold</b>
"""


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", WIDTHS)
def test_all_can_be_read(
    width: int, mode: str, scripted: tuple[Scripted, str], page: Chromium, tmp_path: Path
) -> None:
    made, address = scripted
    made.texts["rainbow"] = ANSWER
    made.size = 200
    page.resize(width, 800)
    feature = {"name": "prefers-color-scheme", "value": mode}
    page.call("Emulation.setEmulatedMedia", features=[feature])
    open_page(page, address)
    look(page, tmp_path / "empty.png")
    assert page.value("getComputedStyle(document.body).backgroundColor") == BACKGROUND[mode]
    for wish in ("first", "rainbow", "refuse"):
        send(page, wish)
    made.room = 3
    send(page, "long")
    page.value("document.querySelectorAll('.thoughts').forEach(each => { each.open = true })")
    page.click("#tune")
    look(page, tmp_path / "full.png")
    send(page, "call")
    write(page, "forever")
    key(page, "Enter", "\r")
    page.wait_for("!!document.querySelector('#stop:not([hidden])')")
    look(page, tmp_path / "busy.png")
    for name in ("empty", "full", "busy"):
        assert (tmp_path / f"{name}.png").stat().st_size > 5000


def look(page: Chromium, picture: Path) -> None:
    assert hard_to_read(page) == [] and not too_wide(page)
    page.screenshot(picture)
