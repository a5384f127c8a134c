# SPDX-License-Identifier: BSD-3-Clause
"""The page in a browser: what is typed is answered as it streams; stopping, errors, tools, files, keys."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import httpx
import pytest

from executorch.extension.llm.runner.test.tiny_llama import CONTEXT
from executorch.extension.llm.server.page import FILES, HERE
from executorch.extension.llm.server.page.conftest import (
    CALL,
    IS_IDLE,
    TALK,
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
WRONG = {
    "refuse": "no <b>room</b>",
    "break": "502",
    "fail": "the program failed",
    "cut": "cut off",
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TALKED = "[...document.querySelectorAll('#talk [role=alert]')].map(box => box.textContent)"


def test_the_server_sends_the_page_and_nothing_else(server: str) -> None:
    page = httpx.get(server)
    assert page.content == (HERE / "index.html").read_bytes()
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    asked = set(re.findall(r'(?:href|src)="(page/[^"]+)"', page.text))
    imported = {
        f"page/{name}"
        for path in FILES.values()
        for name in re.findall(r'from "\./([\w.]+)"', path.read_text())
    }
    assert {f"page/{name}" for name in FILES} == asked | imported
    for name in FILES:
        found = httpx.get(f"{server}/page/{name}")
        assert found.status_code == 200 and found.headers["content-security-policy"] == policy
        assert found.headers["content-type"].startswith(
            "text/css" if name.endswith("css") else "text/javascript"
        )
    for name in ("__init__.py", "..%2fapp.py", "nothing.js"):
        missing = httpx.get(f"{server}/page/{name}")
        assert missing.status_code == 404 and missing.json()["error"]["message"]


def test_a_model_answers(server: str, page: Chromium) -> None:
    open_page(page, server)
    asked = "Hi <img src=x onerror='document.title = 1'> & *you*"
    send(page, asked)
    (_, mine), (kind, answer), *_ = page.value(TALK)
    assert mine == asked and kind == "assistant" and answer
    assert page.value("document.querySelectorAll('#talk img').length") == 0
    assert page.value("[document.title, document.querySelector('#model').textContent]") == [
        "tiny",
        "tiny",
    ]
    assert page.value(css("#context")) == f"context of {CONTEXT} tokens"
    assert re.fullmatch(r"\d+ tokens?(, [\d.]+ tokens/s)?", page.value(css(".stats")))
    used = page.value(css("#status"))
    assert re.fullmatch(rf"\d+ of {CONTEXT} tokens of the context are used", used)
    assert page.value("document.activeElement.id") == "text"
    page.click("#new")
    page.wait_for("!document.querySelector('#empty').hidden")
    assert page.value(TALK) == []
    assert page.value(css("#attach", "hidden"))  # the model takes text alone


def test_the_talk_goes_on(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    open_page(page, address)
    send(page, "one")
    write(page, "two\nlines")
    page.click("#send")
    page.wait_for("document.querySelectorAll('#talk .stats').length === 2")
    assert made.asked[-1] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "You said: one"},
        {"role": "user", "content": "two\nlines"},
    ]
    send(page, "long")
    assert page.value(TALK)[-1][0] == "note"


def test_examples_begin_a_talk(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    open_page(page, address)
    examples = page.value(
        "[...document.querySelectorAll('#examples button')].map(b => b.textContent)"
    )
    assert len(examples) == 3
    page.click("#examples li:nth-child(2) button")
    page.wait_for(IS_IDLE)
    assert made.asked == [[{"role": "user", "content": examples[1]}]]
    assert page.value("[document.activeElement.id, document.querySelector('#empty').hidden]") == [
        "text",
        True,
    ]


def test_settings_go_with_the_message_and_speed_is_shown(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    open_page(page, address)
    assert page.value("document.title") == "a/b <c>"
    send(page, "one")
    assert {k: v for k, v in made.bodies[-1].items() if k != "messages"} == {
        "stream": True, "stream_options": {"include_usage": True}, "temperature": 0.3, "top_p": 0.9,
    }  # fmt: skip
    assert page.value(css("#status")) == "12 of 99 tokens of the context are used"
    assert page.value(css(".assistant .stats")) == "7 tokens, 12.3 tokens/s"
    for name, value in {
        "temperature": "1.5",
        "max_tokens": "7",
        "seed": "4",
        "system": "Be brief.",
    }.items():
        page.value(f"document.querySelector('#{name}').value = {value!r}")
    send(page, "long")
    body = made.bodies[-1]
    assert [body[name] for name in ("temperature", "max_tokens", "seed")] == [1.5, 7, 4]
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert len(body["messages"]) == 4
    assert page.value(TALK)[-1] == ["note", "Cut short at 7 tokens, as the settings say."]
    reload(page)
    page.wait_for("document.querySelector('#system')?.value === 'Be brief.'")


@pytest.mark.parametrize("how", ["#stop", "Escape"])
def test_stopping(how: str, scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    open_page(page, address)
    write(page, "forever")
    key(page, "Enter", "\r")
    page.wait_for(f"({css('.assistant .text')} ?? '').includes('word 3')")
    assert page.value(css("#send", "hidden"))
    write(page, "not sent while it answers")
    key(page, "Enter", "\r")
    if how == "Escape":
        key(page, how)
    else:
        page.click(how)
    page.wait_for(IS_IDLE)
    (_, _), (kind, text), note = page.value(TALK)
    assert kind == "assistant" and text.startswith("word 0 word 1 ")
    assert note == ["note", "Stopped."]
    page.value("document.querySelector('#text').value = ''")
    send(page, "more")
    assert [m["content"].strip() for m in made.asked[-1]] == ["forever", text.strip(), "more"]
    assert len(made.asked) == 2 and made.left == 1


def test_errors_are_shown_and_are_no_part_of_the_talk(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    open_page(page, address)
    for wish, message in WRONG.items():
        send(page, wish)
        kind, text = page.value(TALK)[-1]
        assert kind == "error" and message in text, wish
    made.texts["silence"] = ""
    send(page, "silence")
    assert page.value(TALK)[-1] == ["note", "The model said nothing."]
    send(page, "last")
    assert [m["content"] for m in made.asked[-1]] == ["fail", "half ", "cut", "half ", "last"]
    assert page.value("document.querySelectorAll('#talk b').length") == 0
    assert len(page.value(TALKED)) == len(WRONG)


def test_a_server_that_is_gone_is_told_and_can_be_asked_again(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    open_page(page, address)
    page.value("window.kept = fetch; window.fetch = async () => { throw new TypeError('x') }")
    send(page, "hello")
    assert page.value(TALKED) == [
        "The server cannot be reached. Is `executorch serve` still running?"
    ]
    page.value("window.fetch = kept")
    page.click(".again")
    page.wait_for(f"{IS_IDLE} && !!document.querySelector('.stats')")
    assert page.value(TALK) == [["user", "hello"], ["assistant", "You said: hello"]]
    page.click(".again")
    page.wait_for(f"{IS_IDLE} && !!document.querySelector('.stats')")
    assert made.asked == [[{"role": "user", "content": "hello"}]] * 2


def test_a_page_without_its_server_tells(scripted: tuple[Scripted, str], page: Chromium) -> None:
    _, address = scripted
    before_scripts(page, "window.fetch = async () => { throw new TypeError('x') }")
    open_page(page, address)
    assert page.value(css("#notice")).startswith("The server cannot be reached.")


def test_a_full_context_leaves_the_oldest_out_and_shows_where(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    made.room = 3
    open_page(page, address)
    for text in ("one", "two", "three"):
        send(page, text)
    assert [m["content"] for m in made.asked[-1]] == ["two", "You said: two", "three"]
    kinds = [kind for kind, _ in page.value(TALK)]
    assert kinds == ["user", "assistant", "cut", "user", "assistant", "user", "assistant"]
    reload(page)
    page.wait_for("document.querySelectorAll('#talk .cut').length === 1")
    made.room = 0  # not even the question has room
    send(page, "four")
    assert page.value(TALKED) == ["the prompt has 99 tokens"]


def test_room_is_made_before_the_context_is_full(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    """12 tokens for some 100 characters of JSON, and 74 of 99 for what was said: 600 characters are too many."""
    made, address = scripted
    open_page(page, address)
    send(page, "one")
    send(page, "x" * 700)
    assert [len(asked) for asked in made.asked] == [1, 1]
    assert [kind for kind, _ in page.value(TALK)][2] == "cut"


def test_calls_are_shown_and_their_results_go_back(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    open_page(page, address)
    page.value("document.querySelector('#tools').value = '[{'")
    send(page, "call")
    assert "Tools: expected a list of functions in JSON" in page.value(TALKED)[0]
    assert made.asked == []
    tools = '[{"type": "function", "function": {"name": "weather"}}]'
    page.value(f"document.querySelector('#tools').value = {tools!r}")
    page.click(".again")
    page.wait_for("!!document.querySelector('.call')")
    assert made.bodies[-1]["tools"][0]["function"]["name"] == "weather"
    assert page.value(css(".call", "getAttribute('aria-label')")) == "Call of weather"
    assert page.value(css(".call pre")) == '{\n  "city": "Bern",\n  "days": 2\n}'
    page.wait_for(IS_IDLE)
    page.click(".call textarea")
    page.write('{"rain": "<i>none</i>"}')
    page.click(".send-results")
    page.wait_for("document.querySelectorAll('.assistant .stats').length === 2")
    call = {name: CALL[name] for name in ("id", "type", "function")}
    assert made.asked[-1][1:] == [
        {"role": "assistant", "content": "You said: call", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"rain": "<i>none</i>"}'},
    ]
    shown = page.value("[...document.querySelectorAll('.call pre')].map(box => box.textContent)")
    assert shown[1] == '{\n  "rain": "<i>none</i>"\n}'
    assert page.value("document.querySelectorAll('.call textarea, .call i').length") == 0


def test_thoughts_are_folded(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    made.texts["why"] = "<think>\nSo <b>this</b>.\n</think>\n\nBecause **so**."
    open_page(page, address)
    send(page, "why")
    assert page.value(css(".thoughts div")).strip() == "So <b>this</b>."
    assert not page.value(css(".thoughts", "open")) and not page.value(css(".thoughts", "hidden"))
    assert page.value(css(".assistant .text", "innerHTML")) == "<p>Because <strong>so</strong>.</p>"
    send(page, "no thoughts")
    assert page.value("document.querySelectorAll('.thoughts:not([hidden])').length") == 1


def drop(page: Chromium, kind: str, mime: str, data: str, name: str) -> None:
    """A file that is dropped or pasted, as a browser tells it."""
    event = (
        "new DragEvent('drop', {dataTransfer: data"
        if kind == "drop"
        else "new ClipboardEvent('paste', {clipboardData: data"
    )
    page.value(
        f"(() => {{ const data = new DataTransfer(), bytes = Uint8Array.from(atob('{data}'), c => c.charCodeAt(0));"
        f"data.items.add(new File([bytes], '{name}', {{type: '{mime}'}}));"
        f"document.body.dispatchEvent({event}, bubbles: true, cancelable: true}})); }})()"
    )


def test_pictures_and_sound_go_with_the_message(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    made.modalities = ["text", "image", "audio"]
    open_page(page, address)
    assert not page.value(css("#attach", "hidden"))
    assert page.value(css("#files", "accept")) == "image/*,audio/*"
    sound = base64.b64encode(b"RIFF....WAVE").decode()
    drop(page, "drop", "image/png", PIXEL, "dot.png")
    drop(page, "paste", "audio/wav", sound, "hum.wav")
    page.wait_for("document.querySelectorAll('#tray li').length === 2")
    drop(page, "drop", "text/plain", "", "a.txt")
    page.wait_for(css("#notice"))
    assert (
        page.value(css("#notice"))
        == "a.txt: this model takes text, image, and audio, not text/plain."
    )
    send(page, "What is it?")
    picture, wave, text = made.asked[-1][0]["content"]
    assert picture["type"] == "image_url"
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")
    assert wave == {"type": "input_audio", "input_audio": {"data": sound, "format": "wav"}}
    assert text == {"type": "text", "text": "What is it?"}
    assert page.value("document.querySelectorAll('#tray li').length") == 0
    reload(page)
    page.wait_for(
        f"{css('.user img', 'naturalWidth')} === 1 && !!document.querySelector('.user audio')"
    )


def test_a_model_of_text_takes_no_picture(scripted: tuple[Scripted, str], page: Chromium) -> None:
    _, address = scripted
    open_page(page, address)
    drop(page, "drop", "image/png", PIXEL, "dot.png")
    page.wait_for(css("#notice"))
    assert page.value(css("#notice")) == "dot.png: this model takes text, not image/png."
    assert page.value("document.querySelectorAll('#tray li').length") == 0


def test_keys_and_names(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    open_page(page, address)
    write(page, "one")
    key(page, "Enter", "\r", modifiers=8)  # Shift
    page.write("two")
    assert page.value(css("#text", "value")) == "one\ntwo" and made.asked == []
    key(page, "Enter", "\r")
    page.wait_for(IS_IDLE)
    assert made.asked[-1][0]["content"] == "one\ntwo"
    order = []
    for _ in range(16):
        key(page, "Tab")
        order.append(
            page.value(
                "document.activeElement.id || document.activeElement.className || document.activeElement.tagName"
            )
        )
        outline = page.value("getComputedStyle(document.activeElement).outlineStyle")
        assert order[-1] == "BODY" or outline != "none", order
    expected = [
        "tune",
        "new",
        "import",
        "A",
        "rename",
        "save",
        "remove",
        "copy-answer",
        "again",
        "text",
        "send",
    ]
    order = order[order.index("BODY") :]
    assert [name for name in order if name in expected][: len(expected)] == expected, order
    unnamed = page.value(
        "[...document.querySelectorAll('button, input:not([hidden]), textarea, [role=region], nav, section')]"
        ".filter(e =>"
        " !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML)"
    )
    assert unnamed == []
    assert page.value(css("#talk", "getAttribute('role')")) == "log"
    assert page.value(css("#talk", "getAttribute('aria-busy')")) == "false"


@pytest.mark.parametrize("width", [320, 1400])
def test_windows(
    width: int, scripted: tuple[Scripted, str], page: Chromium, tmp_path: Path
) -> None:
    made, address = scripted
    page.resize(width, 600)
    open_page(page, address)
    made.texts["code"] = (
        f"```\n{'x' * 300}\n```\n\n| {' | '.join(['column'] * 12)} |\n{'|-' * 12}|\n"
    )
    for wish in ("x" * 300, "a question of several words, " * 8, "code", "refuse"):
        send(page, wish)
    assert page.value("document.documentElement.scrollWidth") <= width
    assert (
        page.value(
            "document.querySelector('#scroll').scrollWidth - document.querySelector('#scroll').clientWidth"
        )
        <= 0
    )
    scrolled = "(pre => { pre.scrollLeft = 50; return pre.scrollLeft })(document.querySelector('.code pre'))"
    assert page.value(scrolled) == 50
    place = "document.querySelector('#foot').getBoundingClientRect()"
    assert 0 <= page.value(f"{place}.top") and page.value(f"{place}.bottom") <= 600
    last = page.value("document.querySelector('.error').getBoundingClientRect().bottom")
    assert last <= page.value(f"{place}.top")  # the newest is in sight
    if width < 800:
        assert (
            page.value("getComputedStyle(document.querySelector('#side')).visibility") == "hidden"
        )
        page.click("#menu")
        page.wait_for("getComputedStyle(document.querySelector('#side')).visibility === 'visible'")
        assert page.value("document.activeElement.id") == "new"
        key(page, "Escape")
        page.wait_for("getComputedStyle(document.querySelector('#side')).visibility === 'hidden'")
        assert page.value("document.activeElement.id") == "menu"
