# SPDX-License-Identifier: BSD-3-Clause
"""What is measured in a process of its own: memory, and payloads that may crash; prints a line of JSON per stage.

FOLDER has with_weights.pte and its input x.pt; corrupted.pte, where its payload lies in span.json, and its input
small.pt; cut*.pte, with payloads that end too early."""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from executorch.extension.pybindings import libraries, portable_lib

CYCLES = 20
FLIPS = 200


def _resident() -> dict[str, int]:
    """Bytes: all, and those of no file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    numbers = dict(line.split(":", 1) for line in lines)
    return {key: int(numbers[key].split()[0]) * 1024 for key in ("VmRSS", "RssAnon")}


def _growth(before: dict[str, int]) -> dict[str, int]:
    gc.collect()
    return {key: value - before[key] for key, value in _resident().items()}


def _unregistered(folder: Path) -> str:
    try:
        program = portable_lib._load_for_executorch(str(folder / "with_weights.pte"))
        program.forward((torch.load(folder / "x.pt"),))
    except RuntimeError as error:
        return str(error)
    return ""


def _memory(folder: Path) -> dict[str, dict[str, int]]:
    """After one small program: what a library of the backend takes for itself is no part of a program."""
    _is_refused((folder / "corrupted.pte").read_bytes(), torch.load(folder / "small.pt"))
    file, x = str(folder / "with_weights.pte"), torch.load(folder / "x.pt")
    before = _resident()
    program = portable_lib._load_for_executorch(file)
    loaded = _growth(before)
    program.forward((x,))
    ran = _growth(before)
    del program
    once = _growth(before)
    for _ in range(CYCLES):
        portable_lib._load_for_executorch(file).forward((x,))
    return {"loaded": loaded, "ran": ran, "once": once, "cycles": _growth(before)}


def _is_refused(data: bytes, x: torch.Tensor) -> bool:
    try:
        portable_lib._load_for_executorch_from_buffer(data).forward((x,))
    except RuntimeError:
        return True
    return False


def _corrupted(folder: Path, x: torch.Tensor) -> Iterator[tuple[int, bool]]:
    data = (folder / "corrupted.pte").read_bytes()
    start, size = json.loads((folder / "span.json").read_text())
    rng = random.Random(7)
    for at in sorted({rng.randrange(size) for _ in range(FLIPS)} | set(range(min(size, 16)))):
        changed = bytearray(data)
        changed[start + at] ^= rng.randrange(1, 256)
        yield at, _is_refused(bytes(changed), x)


def _say(stage: str, result: Any) -> None:
    print(json.dumps({stage: result}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python -m executorch.backends.test.conformance.child FOLDER",
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("library", nargs="?", help="registers the backend")
    options = parser.parse_args()
    folder, library = options.folder, options.library
    if library:
        _say("unregistered", _unregistered(folder))
        libraries.load(library)
    if sys.platform == "linux":
        _say("memory", _memory(folder))
    x = torch.load(folder / "small.pt")
    _say("cut", {file.name: _is_refused(file.read_bytes(), x) for file in folder.glob("cut*.pte")})
    for at, refused in _corrupted(folder, x):
        _say("corrupted", [at, refused])
    _say("done", True)


if __name__ == "__main__":
    main()
