# SPDX-License-Identifier: BSD-3-Clause
"""What the browser says of a page is so: contrasts by arithmetic, widths."""

from __future__ import annotations

from pathlib import Path

from executorch.test.e2e.chromium import Chromium, needs_chromium
from executorch.tools.site import seen

PAGE = """<!doctype html><body style="margin: 0; background: #fff">
<p style="color: #767676">enough</p><p style="color: #777">too little</p>
<p style="color: #949494; font-size: 24px">large enough</p>
<p style="color: #959595; font-size: 24px">large, too little</p>
<div style="background: #000"><p style="color: rgba(255, 255, 255, 0.4)">seen through</p></div>
<p style="color: #eee; display: none">hidden</p>
<div style="width: WIDTHpx">x</div></body>"""


@needs_chromium
def test_contrasts_and_widths(tmp_path: Path) -> None:
    """#767676 on white has 4.54, #777777 has 4.48; #949494 has 3.03, #959595 has 2.99. White of 40% on black is
    #666666: luminance 0.1329, (0.1329 + 0.05) / 0.05 = 3.66."""
    with Chromium(tmp_path / "profile") as browser:
        for width, is_wide in ((390, False), (391, True)):
            page = tmp_path / f"{width}.html"
            page.write_text(PAGE.replace("WIDTH", str(width)))
            seen.show(browser, page, 390, "light")
            found = {
                text.partition(":")[0]: text.partition(": ")[2]
                for text in seen.hard_to_read(browser)
            }
            assert set(found) == {"too little", "large, too little", "seen through"}
            assert found["too little"].startswith("4.48,")
            assert found["seen through"].startswith("3.66,")
            assert seen.too_wide(browser) == is_wide
