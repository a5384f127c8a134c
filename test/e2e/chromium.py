# SPDX-License-Identifier: BSD-3-Clause
"""Headless Chromium for tests of pages: its DevTools protocol through two pipes, JSON with a NUL after each message."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
FOUND = next(filter(None, map(shutil.which, NAMES)), "")
needs_chromium = pytest.mark.skipif(
    not FOUND, reason="needs Chromium (Debian: chromium-headless-shell)"
)
SECONDS = 60


def _above(pair: tuple[int, int]) -> list[int]:
    """The same pipe by numbers that are neither 3 nor 4, which the browser talks through."""
    moved = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in pair]
    for end in pair:
        os.close(end)
    return moved


class Chromium:
    """One page. `exceptions` are those that its scripts did not catch, and what they wrote to the console as errors."""

    def __init__(self, folder: Path) -> None:
        (their_in, self._out), (self._in, their_out) = _above(os.pipe()), _above(os.pipe())
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        flags += ["--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={folder}"]

        def place() -> None:
            os.dup2(their_in, 3)
            os.dup2(their_out, 4)

        self._process = subprocess.Popen(
            [FOUND, *flags, "about:blank"],
            pass_fds=(3, 4),
            preexec_fn=place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_in)
        os.close(their_out)
        self._held, self._number, self._session = b"", 0, ""
        self.exceptions: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Chromium:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.wait(SECONDS)
        os.close(self._in)
        os.close(self._out)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._held:
            if not select.select([self._in], [], [], SECONDS)[0]:
                raise TimeoutError(f"nothing from Chromium in {SECONDS} s")
            read = os.read(self._in, 1 << 16)
            if not read:
                raise RuntimeError(f"Chromium ended with {self._process.wait()}")
            self._held += read
        message, _, self._held = self._held.partition(b"\0")
        return json.loads(message)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        asked: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            asked["sessionId"] = self._session
        os.write(self._out, json.dumps(asked).encode() + b"\0")
        while (message := self._message()).get("id") != self._number:
            found = message.get("params", {})
            if message.get("method") == "Runtime.exceptionThrown":
                self.exceptions.append(json.dumps(found["exceptionDetails"]))
            if message.get("method") == "Runtime.consoleAPICalled" and found["type"] == "error":
                self.exceptions.append(json.dumps(found["args"]))
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def open(self, address: str) -> None:
        self.call("Page.navigate", url=address)
        self.wait_for(
            f"location.href.startsWith({address!r}) && document.readyState === 'complete'"
        )

    def value(self, expression: str) -> Any:
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def wait_for(self, expression: str, seconds: float = SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > deadline:
                raise TimeoutError(f"not so in {seconds} s: {expression}")
            time.sleep(0.02)

    def resize(self, width: int, height: int) -> None:
        sizes = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **sizes)

    def click(self, selector: str) -> None:
        """With the mouse, in the middle of the element."""
        x, y = self.value(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])"
            f"(document.querySelector({selector!r}).getBoundingClientRect())"
        )
        for kind in ("mousePressed", "mouseReleased"):
            place = {"x": x, "y": y, "button": "left", "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=kind, **place)

    def write(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def press(self, key: str, text: str = "") -> None:
        code = {"Enter": 13, "Tab": 9}[key]
        for kind in ("keyDown", "keyUp"):
            known = {"key": key, "code": key, "windowsVirtualKeyCode": code, "text": text}
            self.call("Input.dispatchKeyEvent", type=kind, **known)

    def key(self, name: str) -> None:
        """That writes nothing: ArrowDown, Escape, or a letter as a command."""
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name)

    def screenshot(self, path: Path, of_all: bool = False) -> None:
        """Of the window, or of the whole page."""
        whole = {}
        if of_all:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            size["width"] = self.value(
                "innerWidth"
            )  # without bars, which no window of that size needs
            whole = {"captureBeyondViewport": True, "clip": {**size, "scale": 1}}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **whole)["data"]))
