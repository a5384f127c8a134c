# SPDX-License-Identifier: BSD-3-Clause
"""A browser, and a server that answers as the last message says: what the page shows of it is what tests look at."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from executorch.extension.llm.server.conftest import running
from executorch.extension.llm.server.page import routes
from executorch.test.e2e.chromium import Chromium

IS_READY = "document.documentElement?.dataset.ready === ''"
IS_IDLE = "!document.querySelector('#send').disabled && !!document.querySelector('#list .open')"
TALK = (
    "[...document.querySelectorAll('#talk > :not(.again)')].map(box =>"
    " [box.className, (box.querySelector('.text, .said') ?? box).textContent])"
)
CALL = {
    "index": 0, "id": "call_1", "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Bern", "days": 2}'},
}  # fmt: skip
BLOCKED = (
    "addEventListener('securitypolicyviolation', event =>"
    " console.error(event.violatedDirective, event.blockedURI))"
)


class Scripted:
    """Keeps what it was sent, and counts the clients that went away."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.texts: dict[str, str] = {}  # answers to these messages
        self.size, self.pause = 7, 0.0  # of pieces of them, and seconds between two
        self.room = 1000  # messages at most, else the context is full
        self.modalities = ["text"]
        self.left = 0
        chat = Route("/v1/chat/completions", self.chat, methods=["POST"])
        self.app = Starlette(routes=[*routes(), Route("/health", self.health), chat])

    @property
    def asked(self) -> list[list[dict[str, Any]]]:
        return [body["messages"] for body in self.bodies]

    async def health(self, request: Request) -> Response:
        about = {"model": "a/b <c>", "context": 99, "sampling": {"temperature": 0.3}}
        return JSONResponse({**about, "input_modalities": self.modalities})

    async def chat(self, request: Request) -> Response:
        self.bodies.append(await request.json())
        wish = self.asked[-1][-1]["content"]
        if len(self.asked[-1]) > self.room:
            full = {"message": "the prompt has 99 tokens", "code": "context_length_exceeded"}
            return JSONResponse({"error": full}, 400)
        if wish == "refuse":
            return JSONResponse({"error": {"message": "no <b>room</b>"}}, 400)
        if wish == "break":
            return Response("<html>bad gateway", 502)
        return StreamingResponse(self.events(wish), media_type="text/event-stream")

    async def events(self, wish: Any) -> AsyncIterator[bytes]:
        def event(content: dict[str, Any]) -> bytes:
            return f"data: {json.dumps(content)}\n\n".encode()

        def piece(text: str, reason: str | None = None, **more: Any) -> bytes:
            delta = {"content": text, **more}
            return event({"choices": [{"delta": delta, "finish_reason": reason}]})

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
                text = self.texts.get(str(wish), f"You said: {wish}")
                for start in range(0, len(text), self.size):
                    yield piece(text[start : start + self.size])
                    await asyncio.sleep(self.pause)
                if wish == "call":
                    yield piece("", "tool_calls", tool_calls=[CALL])
                else:
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


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Chromium]:
    with Chromium(tmp_path / "profile") as browser:
        browser.resize(1000, 700)
        before_scripts(browser, BLOCKED)
        yield browser
        assert not browser.exceptions


def before_scripts(page: Chromium, script: str) -> None:
    """Runs it in each page before those of its own."""
    page.call("Page.addScriptToEvaluateOnNewDocument", source=script)


def open_page(page: Chromium, address: str) -> None:
    page.open(address)
    page.wait_for(IS_READY)


def reload(page: Chromium) -> None:
    page.value("window.isOld = true")
    page.call("Page.reload")
    page.wait_for(f"!window.isOld && {IS_READY}")


def key(page: Chromium, name: str, text: str = "", modifiers: int = 0) -> None:
    for kind in ("keyDown", "keyUp"):
        known = {"key": name, "code": name, "text": text, "modifiers": modifiers}
        codes = {"Enter": 13, "Tab": 9, "Escape": 27}
        page.call("Input.dispatchKeyEvent", type=kind, windowsVirtualKeyCode=codes[name], **known)


def write(page: Chromium, text: str) -> None:
    page.value("document.querySelector('#text').focus()")
    page.write(text)


def send(page: Chromium, text: str) -> None:
    """And waits until it is answered."""
    write(page, text)
    key(page, "Enter", "\r")
    page.wait_for(IS_IDLE)


def css(selector: str, what: str = "textContent") -> str:
    return f"document.querySelector({json.dumps(selector)})?.{what}"
