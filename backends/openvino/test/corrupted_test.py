# SPDX-License-Identifier: BSD-3-Clause
"""Payloads that are not what was exported: checksum, version, header. A library that crashed or hung would take this
process with it, so they are loaded in another one, with a limit."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import torch

from executorch.backends.openvino.aot.compiler import OPENVINO
from executorch.backends.openvino.partitioner import OpenvinoPartitioner
from executorch.backends.openvino.test.lowered import (
    delegates,
    loaded,
    lower,
    needs_compiler,
    needs_runtime,
    specs,
)

pytestmark = [needs_compiler, needs_runtime]

CHILD = """
import json, random, sys
from executorch.extension.pybindings import portable_lib
import torch
file, start, size, count = sys.argv[1], *map(int, sys.argv[2:])
data, x, rng, refused = open(file, "rb").read(), torch.zeros(2, 64), random.Random(5), 0
for _ in range(count):
    changed = bytearray(data)
    at = start + rng.randrange(size)
    changed[at] ^= rng.randrange(1, 256)
    try:
        portable_lib._load_for_executorch_from_buffer(bytes(changed)).forward((x,))
    except RuntimeError:
        refused += 1
print(json.dumps(refused))
"""


def _file(**texts: str) -> tuple[bytes, bytes, torch.nn.Module]:
    """A file, its payload, the model."""
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()).eval()
    edge = lower(model, (torch.zeros(2, 64),), OpenvinoPartitioner(specs(**texts)))
    (delegate,) = delegates(edge)
    return edge.to_executorch().buffer, bytes(delegate.processed_bytes), model


def _refused(tmp_path: Path, buffer: bytes, payload: bytes, count: int) -> int:
    file = tmp_path / "model.pte"
    file.write_bytes(buffer)
    start = buffer.index(payload)
    words = [sys.executable, "-c", CHILD, str(file), str(start), str(len(payload)), str(count)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("payload", ["compiled", "ir"])
def test_every_changed_byte_is_noticed(tmp_path: Path, payload: str) -> None:
    buffer, found, _ = _file(payload=payload)
    assert _refused(tmp_path, buffer, found, 40) == 40


@pytest.mark.full
@pytest.mark.parametrize("payload", ["compiled", "ir"])
def test_thousands_of_changed_bytes_are_noticed(tmp_path: Path, payload: str) -> None:
    buffer, found, _ = _file(payload=payload)
    assert _refused(tmp_path, buffer, found, 2500) == 2500


def test_a_payload_of_another_version_names_both(capfd: pytest.CaptureFixture[str]) -> None:
    """As another OpenVINO would have made it, checksum included."""
    buffer, payload, _ = _file(payload="compiled")
    version = OPENVINO.version().encode()
    other = version[:-1] + (b"7" if version[-1:] != b"7" else b"6")
    sums = [
        f"{zlib.crc32(each):08x}".encode() for each in (payload, payload.replace(version, other))
    ]
    with pytest.raises(RuntimeError) as caught:
        loaded(buffer.replace(version, other).replace(*sums))
    output = str(caught.value) + capfd.readouterr().err
    for words in (
        f"made by OpenVINO {other.decode()}",
        f"this is OpenVINO {version.decode()}",
        "payload=ir",
    ):
        assert words in output


@pytest.mark.parametrize("keep", [0, 7, 30, 1000])
def test_what_ends_too_early_is_refused(keep: int) -> None:
    """Without a checksum, as upstream's files have none: its bytes say how long they are, or the library refuses."""
    buffer, payload, _ = _file(payload="ir")
    short = payload[:keep] + random.Random(1).randbytes(len(payload) - keep)
    sums = [f"{zlib.crc32(each):08x}".encode() for each in (payload, short)]
    with pytest.raises(RuntimeError):
        loaded(buffer.replace(payload, short).replace(*sums))
