# SPDX-License-Identifier: BSD-3-Clause
"""What only the runtime half of a backend can show: memory, corrupted payloads, registration, threads."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.backends.test.conformance.backend import Backend, Weights
from executorch.backends.test.conformance.lowered import Lowered, load, lower, named_data
from executorch.backends.test.conformance.needs import needs_runtime

WEIGHTS = 16 << 20  # bytes, in memory checks
SMALL = 1 << 10


# ---- Constants ----


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@needs_runtime
def test_weights_are_in_memory_once(backend: Backend) -> None:
    memory = _trial(backend)["memory"]
    if backend.weights is Weights.IN_PLACE:
        assert memory["loaded"]["RssAnon"] < WEIGHTS / 4
    elif backend.weights is Weights.PACKED:
        assert WEIGHTS <= memory["ran"]["VmRSS"] < WEIGHTS * 1.25
    elif backend.weights is Weights.WIDENED:
        assert WEIGHTS * 2 <= memory["ran"]["VmRSS"] < WEIGHTS * 2.5
    elif backend.weights is Weights.BOTH:
        assert memory["ran"]["VmRSS"] < WEIGHTS * 2.25


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@needs_runtime
def test_memory_comes_back(backend: Backend) -> None:
    memory = _trial(backend)["memory"]
    assert memory["once"]["VmRSS"] < WEIGHTS / 2, "after one program"
    more = memory["cycles"]["VmRSS"] - memory["once"]["VmRSS"]
    assert more < WEIGHTS / 4, "after 20 more"


@needs_runtime
def test_named_data_that_is_absent_is_an_error(backend: Backend) -> None:
    if not backend.named_data:
        pytest.skip(f"{backend.id} has no named data")
    lowered, inputs = _with_weights(backend, SMALL)
    buffer = lowered.to_executorch().buffer
    for each in lowered.delegates:
        payload = bytes(each.processed_bytes)
        buffer = buffer.replace(payload, functools.reduce(without_key, named_data(each), payload))
    with pytest.raises(RuntimeError):
        load(buffer).forward(inputs)


def without_key(payload: bytes, key: str) -> bytes:
    return payload.replace(key.encode(), b"?" * len(key))


# ---- Payloads ----


@needs_runtime
def test_corrupted_payloads_are_refused_or_run(backend: Backend) -> None:
    trial = _trial(backend)
    assert "done" in trial, (
        f"crashed after byte {trial['corrupted'][-1:]}: {trial['stderr'][-500:]}"
    )
    assert len(trial["cut"]) == 3 and all(trial["cut"].values()), trial["cut"]
    refused = [at for at, was_refused in trial["corrupted"] if was_refused]
    assert len(refused) >= 3 and len(trial["corrupted"]) > 50


# ---- Runtime ----


@needs_runtime
def test_a_runtime_without_the_backend_says_so(backend: Backend) -> None:
    lowered, inputs = _with_weights(backend, SMALL)
    buffer = lowered.to_executorch().buffer
    other = backend.id[:-1] + "?"
    with pytest.raises(RuntimeError, match="(?i)not found|backend") as caught:
        load(buffer.replace(backend.id.encode(), other.encode())).forward(inputs)
    assert caught.value
    if backend.library:
        assert _trial(backend)["unregistered"], "loaded before the backend was registered"


@needs_runtime
def test_delegates_of_many_threads_run_side_by_side(backend: Backend) -> None:
    lowered, inputs = _with_weights(backend, SMALL)
    buffer = lowered.to_executorch().buffer
    wrong: list[Exception] = []

    def work() -> None:
        try:
            loaded = load(buffer)
            for _ in range(25):
                lowered.check(loaded.forward(inputs), inputs)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]


# ---- What checks share ----


def _with_weights(backend: Backend, num_bytes: int) -> tuple[Lowered, tuple]:
    model, inputs = backend.sample(num_bytes)
    lowered = lower(backend, model, inputs)
    assert [each.backend_id for each in lowered.delegates] == [backend.id]
    return lowered, inputs


@functools.cache
def _trial(backend: Backend) -> dict[str, Any]:
    """What child.py measures, stage by stage; "corrupted" is a list of (byte, whether it was refused)."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lowered, (x,) = _with_weights(backend, WEIGHTS)
        lowered.to_executorch().save(str(folder / "with_weights.pte"))
        torch.save(x, folder / "x.pt")
        _save_payloads(backend, folder)
        # memory that is freed goes back at once
        limits = {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
        limits["EXECUTORCH_PLUGINS"] = (
            "0"  # an installed package would register the backend before it is told to
        )
        done = subprocess.run(
            [sys.executable, "-m", "executorch.backends.test.conformance.child", place]
            + ([backend.library] if backend.library else []),
            capture_output=True, text=True, timeout=300, check=False, env=os.environ | limits,
        )  # fmt: skip
    trial: dict[str, Any] = {"corrupted": [], "stderr": done.stderr}
    for line in done.stdout.splitlines():
        for stage, result in json.loads(line).items():
            if stage == "corrupted":
                trial["corrupted"].append(result)
            else:
                trial[stage] = result
    return trial


def _save_payloads(backend: Backend, folder: Path) -> None:
    lowered, (x,) = _with_weights(backend, SMALL)
    torch.save(x, folder / "small.pt")
    buffer = lowered.to_executorch().buffer
    (delegate,) = lowered.delegates
    payload = bytes(delegate.processed_bytes)
    start = buffer.index(payload)
    (folder / "corrupted.pte").write_bytes(buffer)
    (folder / "span.json").write_text(json.dumps([start, len(payload)]))
    for size in (0, 1, len(payload) // 2):
        delegate._processed_bytes = payload[:size]
        (folder / f"cut{size}.pte").write_bytes(lowered.to_executorch().buffer)
