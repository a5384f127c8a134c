# SPDX-License-Identifier: BSD-3-Clause
"""Processes that take turns: each engine is idle while the other works, so noise hits all alike."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# One measurement at a time on a machine: whoever measures holds it.
LOCK = Path(tempfile.gettempdir()) / "bench.lock"


class Program:
    """A process that answers each line of JSON with one line of JSON after the word RESULT, in a folder of its own."""

    def __init__(
        self, command: Sequence[str], folder: Path, label: str, environment: Mapping[str, str]
    ) -> None:
        self._errors = folder / f"{label}.errors"
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors.open("w"),
            text=True,
        )

    def ask(self, question: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("RESULT "):
                return json.loads(line.removeprefix("RESULT "))
        raise RuntimeError(f"a worker ended:\n{self._errors.read_text()[-2000:]}")

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # it ended before it read the last question
            self._process.stdin.close()
        self._process.wait()


def environment_of(python: str) -> dict[str, str]:
    """This process's interpreter finds the package `executorch` of this tree, any other one only what it has
    installed."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV")
    environment = {k: v for k, v in os.environ.items() if k not in hidden}
    if python == sys.executable:
        environment["PYTHONPATH"] = str(ROOT / "src")
    return environment


class Worker(Program):
    """A Python process."""

    def __init__(
        self, python: str, code: str, folder: Path, label: str, prefix: Sequence[str] = ()
    ) -> None:
        super().__init__([*prefix, python, "-c", code], folder, label, environment_of(python))


@contextlib.contextmanager
def ahead(processes: Sequence[int], priority: int) -> Iterator[None]:
    """These processes alone work inside, whatever else runs on the machine: nobody else measures, and with a priority
    above 0 (Linux, needs the right to set it) others wait for them."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for process in processes if priority else ():
            _schedule(process, os.SCHED_FIFO, priority)
        try:
            yield
        finally:
            for process in processes if priority else ():
                _schedule(process, os.SCHED_OTHER, 0)


def _schedule(process: int, policy: int, priority: int) -> None:
    """All its threads. One that has ended is found out by the next question."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for thread in Path(f"/proc/{process}/task").iterdir():
            os.sched_setscheduler(int(thread.name), policy, os.sched_param(priority))


def peer_python() -> str:
    """The interpreter of the upstream wheel's environment, made when it is not there."""
    if given := os.environ.get("EXECUTORCH_PEER_PYTHON"):
        return given
    script = ROOT / "test" / "interop" / "make_peer.sh"
    done = subprocess.run([script], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the upstream wheel cannot be installed here: {done.stderr[-400:]}")
    return done.stdout.strip()
