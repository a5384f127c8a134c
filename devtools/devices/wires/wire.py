# SPDX-License-Identifier: BSD-3-Clause
"""What a wire has to do: run a line of shell there, and carry files. All else is common (devices/remote.py)."""

from __future__ import annotations

import shlex
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from executorch.devtools.devices.job import DeviceError

_PROBE = (
    "uname -m; (getconf LONG_BIT || echo 0) 2>/dev/null; "
    "(getprop ro.product.model || tr -d '\\000' </sys/firmware/devicetree/base/model; echo) 2>/dev/null | head -n 1; "
    "cat /proc/cpuinfo"
)


@dataclass(frozen=True)
class Finished:
    """A command that ended: exit code, output, and its words on standard error."""

    code: int
    out: bytes
    err: str

    @property
    def last_words(self) -> str:
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        return lines[-1] if lines else f"exit code {self.code}"

    def errors_in(self, log: str) -> str:
        """What a runner logged as errors, without where in its source; else its last words."""
        lines = [line for line in log.splitlines() if line.startswith("E ")]
        shown = [line.partition("] ")[2] or line for line in lines]
        return "; ".join(dict.fromkeys(shown)) or self.last_words


@dataclass(frozen=True)
class Machine:
    """`name`: as `uname -m` says it, for the programs that run there; `processor`: what tells it from others."""

    name: str
    processor: str


class Wire(ABC):
    """`name`: as --device says it. `folder`: in which the device's temporary folder is made, in the words of its
    shell. `advice`: what to look at when the device does not answer. `prefix`: words before a program's."""

    name: str
    folder = '"${TMPDIR:-/tmp}"'
    is_android = False
    advice: str
    prefix: Sequence[str] = ()

    @abstractmethod
    def command(self, script: str) -> list[str]:
        """The command of this machine that runs a line of shell there and ends with its exit code."""

    @abstractmethod
    def is_cut(self, code: int) -> bool:
        """By the exit code of a command: whether it was the wire that failed, and not what ran there."""

    def run(
        self, script: str, stdin: IO[bytes] | None = None, stdout: IO[bytes] | None = None
    ) -> Finished:
        return run_here(self.command(script), stdin, stdout)

    def push(self, source: Path, target: str) -> Finished:
        with source.open("rb") as file:
            return self.run(f"cat > {shlex.quote(target)}", stdin=file)

    def pull(self, source: str, target: Path) -> Finished:
        with target.open("wb") as file:
            return self.run(f"cat {shlex.quote(source)}", stdout=file)

    def machine(self) -> Machine:
        """DeviceError, with the next step, for a device that does not answer."""
        found = self.run(_PROBE)
        lines = found.out.decode(errors="replace").splitlines()
        if not lines:
            raise DeviceError(f"{self.name} does not answer: {found.last_words}; {self.advice}")
        name, bits, model, *described = [*lines, "", ""]
        if name == "aarch64" and bits == "32":  # a 64-bit kernel below a 32-bit system
            name = "armv8l"
        return Machine(name, _processor(described, model) or name)


def run_here(
    words: Sequence[str], stdin: IO[bytes] | None = None, stdout: IO[bytes] | None = None
) -> Finished:
    """DeviceError where this machine lacks the program."""
    try:
        done = subprocess.run(
            words,
            stdin=stdin or subprocess.DEVNULL,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
    except FileNotFoundError as problem:
        raise DeviceError(f"there is no program {words[0]!r} on PATH: install it") from problem
    return Finished(done.returncode, done.stdout or b"", done.stderr.decode(errors="replace"))


def _processor(described: Sequence[str], model: str) -> str:
    """By /proc/cpuinfo, which on Arm tells parts and no name."""
    fields = [
        (key.strip(), value.strip())
        for key, _, value in (each.partition(":") for each in described)
    ]
    names = [value for key, value in fields if key == "model name"]
    parts = dict.fromkeys(value for key, value in fields if key == "CPU part")
    cores = names[:1] or ([f"cores {' '.join(parts)}"] if parts else [])
    return ", ".join(filter(None, [model.strip(), *cores]))
