# SPDX-License-Identifier: BSD-3-Clause
"""adb[:SERIAL] - an Android phone or its emulator; without a serial number the only one that is connected."""

from __future__ import annotations

from pathlib import Path

from executorch.devtools.devices.wires.wire import Finished, Wire, run_here


class Adb(Wire):
    folder = "/data/local/tmp"  # where a shell may run programs
    is_android = True

    def __init__(self, serial: str) -> None:
        self.name = f"adb:{serial}" if serial else "adb"
        self._words = ["adb", "-s", serial] if serial else ["adb"]
        self.advice = "see `adb devices`: it has to be listed as `device` (debugging on, this computer allowed)"

    def command(self, script: str) -> list[str]:
        return [*self._words, "shell", script]

    def push(self, source: Path, target: str) -> Finished:
        return run_here([*self._words, "push", str(source), target])

    def pull(self, source: str, target: Path) -> Finished:
        return run_here([*self._words, "pull", source, str(target)])

    def is_cut(self, code: int) -> bool:
        """adb ends with 1, as programs do: what tells is whether the device answers."""
        return code != 0 and run_here([*self._words, "get-state"]).out.strip() != b"device"
