# SPDX-License-Identifier: BSD-3-Clause
"""In the place of MediaTek's compiler, for tests: a model is the MLIR behind its options, and `tail`: for stand_in/."""

from __future__ import annotations

from typing import Any

LOG: list[Any] = []
refused: set[str] = set()
tail = b""
__version__ = "8.2.23"


def compile(mlir: bytes, options: str) -> bytes:
    LOG.append(["compile", mlir.decode(), options])
    found = sorted(each for each in refused if each in mlir.decode())
    if found:
        raise RuntimeError(f"{found[0]} is not supported by the platform")
    return options.encode() + b"\n" + mlir + tail


def extract_shared_data(models: list[bytes], options: str = "") -> tuple[bytes, list[bytes]]:
    """What models have in common, and the rest of each: here no byte of them is."""
    LOG.append(["extract_shared_data", [each.decode() for each in models], options])
    return b"shared by %d" % len(models), [b"rest of " + each for each in models]
