# SPDX-License-Identifier: BSD-3-Clause
"""The page in a browser: what is typed is answered as it streams; stopping, errors, windows of any width."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from executorch.extension.llm.runner.test.tiny_llama import CONTEXT
from executorch.extension.llm.server.app import PAGE
from executorch.extension.llm.server.conftest import running
from executorch.test.e2e.chromium import Chromium, needs_chromium

pytestmark = needs_chromium
# A message that is shown last is not answered yet, whether the button knows of it or not.
IS_IDLE = (
    "!document.querySelector('#send').disabled"
    " && document.querySelector('#talk > :last-child')?.className !== 'user'"
)
TALK = "[...document.querySelectorAll('#talk > *')].map(box => [box.className, box.textContent])"
WRONG = {
    "refuse": "no <b>room</b>",
    "break": "502",
    "fail": "the program failed",
    "cut": "cut off",
}
ANSWERED = "document.querySelector('.assistant:last-child')?.textContent"


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Chromium]:
    with Chromium(tmp_path / "profile") as browser:
        browser.resize(1000, 700)
        yield browser
        assert not browser.exceptions


class Scripted:
    """Answers as the last message says; keeps what it was sent, and counts the clients that went away."""

    def __init__(self) -> None:
        self.asked: list[list[dict[str, str]]] = []
        self.bodies: list[dict[str, Any]] = []
        self.left = 0
        chat = Route("/v1/chat/completions", self.chat, methods=["POST"])
        self.app = Starlette(routes=[Route("/", self.page), Route("/health", self.health), chat])

    async def health(self, request: Request) -> Response:
        return JSONResponse({"model": "a/b <c>", "context": 99, "sampling": {"temperature": 0.3}})

    async def page(self, request: Request) -> Response:
        return HTMLResponse(PAGE.read_text())

    async def chat(self, request: Request) -> Response:
        self.bodies.append(await request.json())
        self.asked.append(self.bodies[-1]["messages"])
        wish = self.asked[-1][-1]["content"]
        if wish == "refuse":
            return JSONResponse({"error": {"message": "no <b>room</b>"}}, 400)
        if wish == "break":
            return Response("<html>bad gateway", 502)
        return StreamingResponse(self.events(wish), media_type="text/event-stream")

    async def events(self, wish: str) -> AsyncIterator[bytes]:
        def event(content: dict[str, Any]) -> bytes:
            return f"data: {json.dumps(content)}\n\n".encode()

        def piece(text: str, reason: str | None = None) -> bytes:
            return event({"choices": [{"delta": {"content": text}, "finish_reason": reason}]})

        try:
            yield piece("")
            if wish == "forever":
                for number in range(10_000):
                    yield piece(f"word {number} ")
                    await asyncio.sleep(0.02)
            elif wish == "fail":
                yield piece("half ")
                yield event({"error": {"message": "the program failed"}})
            elif wish == "cut":
                yield piece("half ")
                return
            else:
                yield piece(f"{wish}\n" if wish.startswith("x") else f"**{wish}**\n\n  <i>1</i>")
                yield piece("", "length" if wish == "long" else "stop")
                usage = {"prompt_tokens": 5, "completion_tokens": 7}
                yield event(
                    {"choices": [], "usage": usage, "timings": {"predicted_per_second": 12.34}}
                )
            yield b"data: [DONE]\n\n"
        except asyncio.CancelledError:
            self.left += 1
            raise


@pytest.fixture
def scripted() -> Iterator[tuple[Scripted, str]]:
    made = Scripted()
    with running(made.app) as address:
        yield made, address


def send(page: Chromium, text: str) -> None:
    page.click("#text")
    page.write(text)
    page.press("Enter", "\r")


def test_a_model_answers(server: str, page: Chromium, tmp_path: Path) -> None:
    page.open(server)
    page.value(
        "window.changes = 0; new MutationObserver(records => changes += records.length)"
        ".observe(document.querySelector('#talk'), {subtree: true, childList: true})"
    )
    send(page, "Hi <img src=x onerror='document.title = 1'> & *you*")
    page.wait_for(IS_IDLE)
    (_, mine), (kind, answer), *_ = page.value(TALK)
    assert mine == "Hi <img src=x onerror='document.title = 1'> & *you*"
    assert kind == "assistant" and answer
    assert page.value("changes") > 5  # it came piece by piece
    assert page.value("document.querySelectorAll('#talk img').length") == 0
    assert page.value("[document.title, document.querySelector('#model').textContent]") == [
        "tiny",
        "tiny",
    ]
    status = page.value("document.querySelector('#status').textContent")
    assert re.fullmatch(rf"\d+ tokens, ([\d.]+ tokens/s, )?context \d+ of {CONTEXT}", status), (
        status
    )
    assert page.value("document.activeElement.id") == "text"
    page.screenshot(tmp_path / "answer.png")
    assert (tmp_path / "answer.png").stat().st_size > 5000
    page.click("#new")
    assert page.value(TALK) == []


def test_the_talk_goes_on(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    page.open(address)
    send(page, "one")
    page.wait_for(IS_IDLE)
    page.click("#text")
    page.write("two\nlines")
    page.click("#send")
    page.wait_for(IS_IDLE)
    answer = "**one**\n\n  <i>1</i>"
    assert page.value(TALK)[1] == ["assistant", answer]
    assert made.asked[-1] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": "two\nlines"},
    ]
    assert page.value("getComputedStyle(document.querySelector('.assistant')).whiteSpace") in (
        "pre-wrap",
        "preserve",
    )
    send(page, "long")
    page.wait_for(IS_IDLE)
    assert page.value(TALK)[-1][0] == "note"


def test_settings_go_with_the_message_and_speed_is_shown(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    page.open(address)
    page.wait_for("document.title === 'a/b <c>'")
    send(page, "one")
    page.wait_for(IS_IDLE)
    assert {k: v for k, v in made.bodies[-1].items() if k != "messages"} == {
        "stream": True, "stream_options": {"include_usage": True}, "temperature": 0.3, "top_p": 0.9,
    }  # fmt: skip
    status = "document.querySelector('#status').textContent"
    assert page.value(status) == "7 tokens, 12.3 tokens/s, context 12 of 99"
    for name, value in {
        "temperature": "1.5",
        "max_tokens": "9",
        "seed": "4",
        "system": "Be brief.",
    }.items():
        page.value(f"document.querySelector('#{name}').value = {value!r}")
    send(page, "two")
    page.wait_for(IS_IDLE)
    body = made.bodies[-1]
    assert [body[name] for name in ("temperature", "max_tokens", "seed")] == [1.5, 9, 4]
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert len(body["messages"]) == 4


def test_stopping(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    page.open(address)
    send(page, "forever")
    page.wait_for(f"({ANSWERED} ?? '').includes('word 3')")
    assert page.value("document.querySelector('#send').disabled")
    send(page, "not sent while it answers")
    page.click("#stop")
    page.wait_for(IS_IDLE)
    (_, _), (kind, text), note = page.value(TALK)
    assert (
        kind == "assistant" and text.startswith("word 0 word 1 ") and note == ["note", "Stopped."]
    )
    page.value("document.querySelector('#text').value = ''")
    send(page, "more")
    page.wait_for(IS_IDLE)
    assert [m["content"] for m in made.asked[-1]] == ["forever", text, "more"]
    assert len(made.asked) == 2 and made.left == 1


def test_errors_are_shown_and_are_no_part_of_the_talk(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    page.open(address)
    for wish, message in WRONG.items():
        send(page, wish)
        page.wait_for(IS_IDLE)
        kind, text = page.value(TALK)[-1]
        assert kind == "error" and message in text, wish
    send(page, "last")
    page.wait_for(IS_IDLE)
    assert [m["content"] for m in made.asked[-1]] == ["fail", "half ", "cut", "half ", "last"]
    assert page.value("document.querySelectorAll('#talk b').length") == 0


@pytest.mark.parametrize("width", [320, 1400])
def test_windows(
    width: int, scripted: tuple[Scripted, str], page: Chromium, tmp_path: Path
) -> None:
    _, address = scripted
    page.resize(width, 600)
    page.open(address)
    for _ in range(3):
        send(page, "x" * 300)
        page.wait_for(IS_IDLE)
        send(page, "a question of several words, " * 8)
        page.wait_for(IS_IDLE)
    send(page, "refuse")
    page.wait_for(IS_IDLE)
    assert page.value("document.documentElement.scrollWidth") <= width
    place = "document.querySelector('#foot').getBoundingClientRect()"
    assert 0 <= page.value(f"{place}.top") and page.value(f"{place}.bottom") <= 600
    last = page.value("document.querySelector('.error').getBoundingClientRect().bottom")
    assert last <= page.value(f"{place}.top")  # the newest is in sight
    page.screenshot(tmp_path / f"{width}.png")
