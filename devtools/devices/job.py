# SPDX-License-Identifier: BSD-3-Clause
"""What runs on a device, and what comes back: the same for this machine and for one behind a wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Protocol


class Records(Enum):
    """What a run writes down beside its outputs: times of operators (ETDump), and also their values."""

    NOTHING = "nothing"
    EVENTS = "events"
    VALUES = "values"


@dataclass(frozen=True)
class Job:
    """`program`: a file, or the bytes of one. `inputs`: NumPy's or torch's arrays, laid out as the method wants them,
    and Python values. `threads`: 0 for as many as the runtime takes. `value_bytes`: room for values that are
    recorded. `returns`: whether outputs are brought back."""

    program: Path | bytes
    method: str
    inputs: Sequence[Any]
    data: Path | None = None
    runs: int = 1
    threads: int = 0
    records: Records = Records.NOTHING
    value_bytes: int = 0
    returns: bool = True


@dataclass(frozen=True)
class Ran:
    """`run_ns`: of each run; empty where the device measures nothing. Bytes of the process: 0 where it does not say.
    `dump`: an ETDump, `values`: its debug buffer; empty unless asked for."""

    outputs: list[Any]
    load_ns: int = 0
    run_ns: list[int] = field(default_factory=list)
    resident_bytes: int = 0
    peak_bytes: int = 0
    dump: bytes = b""
    values: bytes = b""


@dataclass(frozen=True)
class Runner:
    """What runs programs there, as it says itself. `operators`, `backends`: None where it does not."""

    version: str
    architecture: str
    system: str
    build: str
    has_events: bool
    threads: int
    operators: frozenset[str] | None
    backends: frozenset[str] | None

    def __str__(self) -> str:
        return f"executor_runner {self.version}, {self.architecture} {self.system}, {self.build}"


class DeviceError(OSError):
    """The device, the wire or the runner: one sentence, with the next step."""


class ProgramError(RuntimeError):
    """The program does not load or run there; the runner's words."""


class Device(Protocol):
    """`name`: as --device says it. `title`: for reports. `processor`, `identity`: what its speeds depend
    on, the second for the program that runs there. `is_here`: whether it is this process's own runtime."""

    name: str
    title: str
    processor: str
    identity: str
    is_here: bool

    def describe(self) -> Runner: ...

    def run(self, job: Job) -> Ran:
        """RuntimeError (ProgramError over a wire) when the program does not load or run there, DeviceError when it is
        the device or the wire that does not work."""
        ...

    def load(self, job: Job) -> None:
        """Loads the method and does not run it; otherwise as run()."""
        ...
