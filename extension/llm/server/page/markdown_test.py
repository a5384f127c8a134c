# SPDX-License-Identifier: BSD-3-Clause
"""Markdown of answers: what it becomes, how it grows as it streams, and that no HTML of a model becomes markup."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from executorch.extension.llm.server.page.conftest import (
    Scripted,
    before_scripts,
    css,
    key,
    open_page,
    reload,
    send,
    write,
)
from executorch.test.e2e.chromium import Chromium, needs_chromium

pytestmark = needs_chromium
CODE = (
    '<figure class="code"><figcaption><span>{0}</span><button type="button" class="copy" aria-label="Copy the code{1}">'
    'Copy</button></figcaption><pre tabindex="0"><code>{2}</code></pre></figure>'
)
LINK = '<a href="{0}" target="_blank" rel="noopener noreferrer">{1}</a>'
TABLE = (
    '<div class="wide" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">a</th>'
    '<th class="right" scope="col">b</th></tr></thead><tbody><tr><td>1</td><td class="right"><code>2</code></td></tr>'
    "</tbody></table></div>"
)
MADE = {
    "# One\n\n###### Six": "<h3>One</h3><h6>Six</h6>",
    "a **b** *c* ~~d~~ `e & <f>`\ng":
        "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e &amp; &lt;f&gt;</code><br>g</p>",
    "a &amp; b &#x41; &copy; &unknown; \\& \\*c*": "<p>a &amp; b A © &amp;unknown; &amp; *c*</p>",
    "3. x\n4. y\n   - z": '<ol start="3"><li>x</li><li>y<ul><li>z</li></ul></li></ol>',
    "- a\n\n- b": "<ul><li><p>a</p></li><li><p>b</p></li></ul>",
    "- [x] a": '<ul><li class="task"><input type="checkbox" disabled="" checked="" aria-label="task"> a</li></ul>',
    "> a\n> b\n\n---": "<blockquote><p>a<br>b</p></blockquote><hr>",
    "|a|b|\n|-|-:|\n|1|`2`|": TABLE,
    "```c++ x\nif (a < b) {\n\treturn;\n}\n```": CODE.format("c++", ", c++", "if (a &lt; b) {\n\treturn;\n}"),
    "- a\n\n  ```\n  \tb\n  ```": "<ul><li><p>a</p>" + CODE.format("code", "", "\tb") + "</li></ul>",
    "[a](https://x.org/?b=1&c=2 'd')":
        '<p><a href="https://x.org/?b=1&amp;c=2" title="d" target="_blank" rel="noopener noreferrer">a</a></p>',
    "https://x.org/a_b <mailto:a@x.org>": f"<p>{LINK.format('https://x.org/a_b', 'https://x.org/a_b')} "
    f"{LINK.format('mailto:a@x.org', 'mailto:a@x.org')}</p>",
    "[a][1]\n\n[1]: https://x.org/": f"<p>{LINK.format('https://x.org/', 'a')}</p>",
    "![a](https://x.org/b.png)": f"<p>{LINK.format('https://x.org/b.png', 'a')}</p>",
    "[a](b.md) [c](#d)": "<p><span>a</span> <span>c</span></p>",
    "a<br>b": "<p>a<br>b</p>",
}  # fmt: skip
PLANTED = """<img src=x onerror="hacked = 1"> <b>x</b>

<script>hacked = 2</script>

<div onclick="hacked = 3" style="position: fixed"><iframe srcdoc="<script>parent.hacked = 4</script>"></iframe></div>

[a](javascript:hacked=5) [b](JaVaScRiPt:hacked=6) [c](java&#10;script:hacked=7)
[d](data:text/html,<script>hacked=8</script>)
[e](&#106;avascript:hacked=9) [f]( javascript:hacked=10) <javascript:hacked=11> [g](vbscript:x) [h](//x.org) [i][r]

![k](x" onerror="hacked=12) ![l](javascript:hacked=13) [m](https://x.org/"onmouseover="hacked=14)

| <svg onload=hacked=15> | `<img src=x onerror=hacked=16>` |
|-|-|
| <a href="javascript:hacked=17">n</a> | &lt;img src=x onerror=hacked=18&gt; |

```"><img src=x onerror=hacked=19>
</code></pre><img src=x onerror=hacked=20>
```

[r]: javascript:hacked=21
"""
REQUESTED = """window.requested = [];
new PerformanceObserver(list => requested.push(...list.getEntries().map(each => each.name)))
  .observe({type: 'resource', buffered: true})"""
KNOWN = (
    "A ARTICLE BLOCKQUOTE BR BUTTON CODE DEL DETAILS DIV EM FIGCAPTION FIGURE FOOTER H3 LI P PRE"
    " SPAN STRONG SUMMARY TABLE TBODY TD TH THEAD TR UL"
)
KNOWN_ATTRIBUTES = "aria-label class href hidden rel role scope tabindex target title type"


@pytest.fixture
def drawn(scripted: tuple[Scripted, str], page: Chromium) -> Chromium:
    """The page with `draw(text)`, which gives the HTML of Markdown, and `grow(text, size)`, the same of pieces."""
    open_page(page, scripted[1])
    page.value(
        """import('/page/markdown.js').then(markdown => {
        window.markdown = markdown;
        window.draw = text => {
          const box = document.createElement('div');
          markdown.drawMarkdown(box, text);
          return box.innerHTML;
        };
        window.grow = (text, size) => {
          const box = document.createElement('div'), growing = new markdown.Growing(box);
          for (let at = 0; at < text.length; at += size) { growing.add(text.slice(at, at + size)); growing.draw(); }
          const before = box.innerHTML;
          growing.finish();
          return [before, box.innerHTML];
        } })"""
    )
    page.wait_for("!!window.grow")
    return page


def call(page: Chromium, name: str, *given: Any) -> Any:
    return page.value(f"{name}({', '.join(map(json.dumps, given))})")


def test_what_it_becomes(drawn: Chromium) -> None:
    for text, html in MADE.items():
        assert call(drawn, "draw", text) == html, text


def test_in_pieces_it_becomes_the_same(drawn: Chromium) -> None:
    whole = "\n\n".join(text for text in MADE if not text.startswith("[a][1]"))
    html = call(drawn, "draw", whole)
    for size in (1, 7, 50):
        assert call(drawn, "grow", whole, size) == [html, html], size
    late = "[a][1] b\n\nc\n\nd\n\n[1]: https://x.org/"
    before, after = call(drawn, "grow", late, 3)
    assert before.startswith("<p>[a][1] b</p>") and after == call(drawn, "draw", late)


def test_what_a_model_plants_stays_text(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    made.texts["plant"] = PLANTED
    before_scripts(page, REQUESTED)
    open_page(page, address)
    for wish in ("plant", PLANTED):
        send(page, wish)
    reload(page)
    page.wait_for("document.querySelectorAll('.assistant').length === 2")
    names = page.value(
        "[...new Set([...document.querySelectorAll('#talk *')].map(e => e.tagName))]"
    )
    assert set(names) <= set(KNOWN.split())
    attributes = "[...new Set([...document.querySelectorAll('#talk *')].flatMap(e => e.getAttributeNames()))]"
    assert set(page.value(attributes)) <= set(KNOWN_ATTRIBUTES.split())
    links = page.value("[...document.querySelectorAll('#talk a')].map(a => a.protocol)")
    assert set(links) == {"https:"}
    page.value(
        "document.querySelectorAll('#talk *').forEach(e => e.tagName === 'A' || e.tagName === 'BUTTON' || e.click())"
    )
    time.sleep(0.1)
    assert page.value("typeof hacked") == "undefined"
    assert {name for name in page.value("requested") if not name.startswith(address)} == set()
    text = page.value(css(".assistant .text"))
    for planted in (
        '<img src=x onerror="hacked = 1">',
        "<script>hacked = 2</script>",
        "<svg onload=hacked=15>",
    ):
        assert planted in text


def test_the_policy_stops_what_would_slip_through(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    open_page(page, scripted[1])
    assert (
        page.value(
            "(() => { try { document.body.innerHTML = '<b>x</b>'; return '' } catch (e) { return e.name } })()"
        )
        == "TypeError"
    )
    assert page.value("document.querySelectorAll('b').length") == 0
    page.value(
        "window.image = new Image(); image.onerror = () => { window.refused = true };"
        "image.src = 'https://example.org/a.png'"
    )
    page.wait_for("window.refused === true")
    assert "img-src" in "".join(page.exceptions)
    page.exceptions.clear()


def test_code_is_copied(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    made.texts["code"] = "Do:\n\n```make\nall:\n\techo <hi> && exit\n```\n\nand `x`"
    before_scripts(
        page,
        "window.copied = []; navigator.clipboard.writeText = async text => { copied.push(text) }",
    )
    open_page(page, address)
    send(page, "code")
    page.click(".copy")
    page.wait_for(css(".copy") + " === 'Copied'")
    page.click(".copy-answer")
    page.wait_for("copied.length === 2")
    assert page.value("copied") == ["all:\n\techo <hi> && exit", made.texts["code"]]
    page.wait_for(css(".copy") + " === 'Copy'")
    # without a clipboard, as of pages of other machines without https
    page.value("navigator.clipboard.writeText = async () => { throw new Error() };"
               "document.execCommand = name => copied.push([name, document.activeElement.value])")  # fmt: skip
    page.click(".copy")
    page.wait_for("copied.length === 3")
    assert page.value("copied[2]") == ["copy", "all:\n\techo <hi> && exit"]


def test_what_is_selected_stays_while_it_grows(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    made.texts["list"] = "# Title\n\n" + "".join(f"- item {i}\n" for i in range(60))
    made.size, made.pause = 12, 0.01
    open_page(page, address)
    write(page, "list")
    key(page, "Enter", "\r")
    page.wait_for("document.querySelectorAll('.text li').length > 30")
    page.value(
        "window.first = document.querySelector('.text li'); getSelection().selectAllChildren(first)"
    )
    page.value("document.querySelector('#scroll').scrollTop = 0")
    page.wait_for(
        "document.querySelectorAll('.text li').length === 60 && !!document.querySelector('.stats')"
    )
    assert page.value("[getSelection().toString(), first.isConnected]") == ["item 0", True]
    assert page.value(css("#scroll", "scrollTop")) == 0


def test_the_end_stays_in_sight(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    made.texts["list"] = "".join(f"- item {i}\n" for i in range(60))
    open_page(page, address)
    send(page, "list")
    rest = "(box => box.scrollHeight - box.scrollTop - box.clientHeight)(document.querySelector('#scroll'))"
    assert page.value(css("#scroll", "scrollTop")) > 500 and page.value(rest) <= 1


def test_a_long_answer_costs_no_more_for_each_piece(drawn: Chromium) -> None:
    """What is drawn again is the end alone. All at once it is 3,000 blocks; a piece changes a few."""
    text = "".join(f"Paragraph **{i}** of `many`.\n\n" for i in range(3000))
    changes = drawn.value(
        f"""(() => {{ const text = {json.dumps(text)}, box = document.createElement('div');
        const growing = new markdown.Growing(box);
        let longest = 0;
        for (let at = 0; at < text.length; at += 200) {{
          growing.add(text.slice(at, at + 200)); growing.draw(); longest = Math.max(longest, growing.tail.length) }}
        return [longest, box.childNodes.length, growing.isPlain] }})()"""
    )
    assert changes[0] < 500 and changes[1:] == [3000, False]


def test_pieces_that_come_fast_are_drawn_together(drawn: Chromium) -> None:
    drawn.value(
        """window.list = document.createElement('div');
        window.growing = new markdown.Growing(list);
        window.draws = 0;
        const draw = growing.draw;
        growing.draw = () => { draws += 1; draw.call(growing); };
        for (let i = 0; i < 1000; i += 1) growing.add(`- item ${i}\\n`);"""
    )
    assert drawn.value("[draws, list.textContent]") == [0, ""]
    drawn.wait_for("list.querySelectorAll('li').length === 1000")
    assert drawn.value("draws") == 1


def test_depths_that_no_reader_has_are_shown_as_they_are(drawn: Chromium) -> None:
    deep = ">" * 50_000 + " x"
    html = call(drawn, "draw", deep)
    assert html.startswith('<p class="html">&gt;&gt;') and html.endswith(" x</p>")
    assert call(drawn, "draw", "**" * 3000 + "[" * 3000).startswith("<p>")
