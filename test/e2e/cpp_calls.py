# SPDX-License-Identifier: BSD-3-Clause
"""Calls a program through the C++ Module: values go to module_calls and come back as files."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from executorch.test.e2e.build_tree import binary, run

INT, DOUBLE, BOOL = 255, 254, 253
SCALAR_TYPES = {
    torch.uint8: 0,
    torch.int8: 1,
    torch.int16: 2,
    torch.int32: 3,
    torch.int64: 4,
    torch.float16: 5,
    torch.float32: 6,
    torch.float64: 7,
    torch.bool: 11,
    torch.bfloat16: 15,
}
DTYPES = {code: dtype for dtype, code in SCALAR_TYPES.items()}


def raw_bytes(tensor: torch.Tensor) -> bytes:
    flat = tensor.detach().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def encode(value: Any) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<BB", BOOL, value)
    if isinstance(value, int):
        return struct.pack("<Bq", INT, value)
    if isinstance(value, float):
        return struct.pack("<Bd", DOUBLE, value)
    data = raw_bytes(value)
    head = struct.pack("<BB", SCALAR_TYPES[value.dtype], value.dim())
    return head + struct.pack(f"<{value.dim()}iQ", *value.shape, len(data)) + data


def decode(data: bytes, at: int) -> tuple[Any, int]:
    tag = data[at]
    for special, form in ((INT, "<q"), (DOUBLE, "<d"), (BOOL, "<?")):
        if tag == special:
            return struct.unpack_from(form, data, at + 1)[0], at + 1 + struct.calcsize(form)
    rank = data[at + 1]
    *sizes, count = struct.unpack_from(f"<{rank}iQ", data, at + 2)
    at += 2 + struct.calcsize(f"<{rank}iQ")
    content = bytearray(data[at : at + count])
    if not content:
        return torch.empty(sizes, dtype=DTYPES[tag]), at
    return torch.frombuffer(content, dtype=DTYPES[tag]).reshape(sizes), at + count


# For glibc: memory that is given back is overwritten, and from a page on it is not there any more.
POISON = {"GLIBC_TUNABLES": "glibc.malloc.perturb=165:glibc.malloc.mmap_threshold=4096"}


class CallFailed(RuntimeError):
    """`status`: what the process ended with; of a signal a negative number, or 128 more than it under an emulator."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"module_calls ended with {status}:\n{text}")
        self.status = status

    @property
    def is_crash(self) -> bool:
        return self.status < 0 or self.status > 128


def call_in_cpp(
    pte: Path,
    calls: Sequence[tuple[str, Sequence[Any]]],
    data_files: Sequence[Path] = (),
    emulator: Sequence[str] = (),
    program: Path | None = None,
    **environment: str,
) -> list[list[Any]]:
    """Outputs of each (method, flat inputs) on one Module; CallFailed with its messages when a call fails. With an
    emulator (a command and its arguments) on the processor that it emulates. `program`: another module_calls."""
    parts = [struct.pack("<I", len(calls))]
    for method, inputs in calls:
        name = method.encode()
        parts += [struct.pack("<I", len(name)), name, struct.pack("<I", len(inputs))]
        parts += [encode(value) for value in inputs]
    with tempfile.TemporaryDirectory() as folder:
        asked, answered = Path(folder, "calls.bin"), Path(folder, "outputs.bin")
        asked.write_bytes(b"".join(parts))
        words = (*emulator, program or binary("module_calls"), pte, asked, answered, *data_files)
        done = run(*words, **environment)
        if done.returncode != 0:
            raise CallFailed(done.returncode, f"{done.stdout}{done.stderr}")
        data = answered.read_bytes()
    results, at = [], 0
    for _ in calls:
        (count,) = struct.unpack_from("<I", data, at)
        at += 4
        outputs = []
        for _ in range(count):
            value, at = decode(data, at)
            outputs.append(value)
        results.append(outputs)
    return results
