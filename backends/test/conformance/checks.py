# SPDX-License-Identifier: BSD-3-Clause
"""What every backend must pass, as tests of a fixture `backend` (a Backend whose runtime half is loaded). What one says
that it lacks (backend.py) is checked to be lacking. conformance_test.py runs them on the backends of this package; a
project of its own imports them: `executorch new-backend` writes such a test."""

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
from torch.export import Dim, export

from executorch.backends.test.conformance.backend import Backend, Weights
from executorch.backends.test.conformance.lowered import Lowered, check, load, lower
from executorch.backends.test.conformance.models import Calls, Sum, Uses
from executorch.exir import to_edge

WEIGHTS = 16 << 20  # bytes, in memory checks
SMALL = 1 << 10


# ---- Partitions ----


def test_a_partitioner_only_tags(backend: Backend) -> None:
    partitioner = backend.partitioner()
    program = to_edge(export(Calls(), (Calls.inputs(),))).exported_program()
    partitioner.prepare(program)
    before = [(node.name, node.op, node.target, node.args) for node in program.graph.nodes]
    result = partitioner.partition(program)
    nodes = list(result.tagged_exported_program.graph.nodes)
    assert [(node.name, node.op, node.target, node.args) for node in nodes] == before
    tags = {node.meta["delegation_tag"] for node in nodes if "delegation_tag" in node.meta}
    assert tags and tags == set(result.partition_tags)
    assert {spec.backend_id for spec in result.partition_tags.values()} == {backend.id}


def test_what_is_claimed_is_compiled_and_right(backend: Backend) -> None:
    inputs = Calls.inputs()
    lowered = lower(backend, Calls(), (inputs,))
    assert lowered.delegates and {each.backend_id for each in lowered.delegates} == {backend.id}
    values = [value for each in inputs.values() for value in each]
    check(load(lowered.to_executorch().buffer).forward(values), Calls()(inputs), list(inputs))


def test_results_are_right_however_they_are_used(backend: Backend) -> None:
    model = Uses()
    loaded = load(
        lower(backend, model, (torch.ones(2, 2), torch.ones(2, 2))).to_executorch().buffer
    )
    for sign in (1, -1, 1):
        x, y = sign * torch.rand(2, 2), torch.randn(2, 2)
        check(loaded.forward((x, y)), model(x, y))


# ---- Dynamic shapes ----


def test_sizes_that_vary(backend: Backend) -> None:
    rows = Dim("rows", min=1, max=9)
    shapes = ({0: rows}, {0: rows})
    lowered = lower(backend, Sum(), (torch.ones(4, 3), torch.ones(4, 3)), dynamic_shapes=shapes)
    assert bool(lowered.delegates) == backend.dynamic_shapes
    loaded = load(lowered.to_executorch().buffer)
    for size in (4, 1, 9, 2):
        x, y = torch.randn(size, 3), torch.randn(size, 3)
        check(loaded.forward((x, y)), x + y + y)


# ---- Constants ----


def test_named_data_is_stored_once(backend: Backend) -> None:
    num_bytes = 1 << 16
    model, inputs = backend.weighted(num_bytes)

    class Twice(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = model

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            once = self.inner(*inputs)
            return once + once

    programs = {"once": export(model, inputs), "twice": export(Twice(), inputs)}
    lowered = lower(backend, programs)
    keys = {key for each in lowered.delegates for key in _keys(each)}
    assert bool(keys) == backend.named_data
    buffer = lowered.to_executorch().buffer
    loaded = load(buffer)
    check(loaded.run_method("once", inputs), model(*inputs))
    check(loaded.run_method("twice", inputs), Twice()(*inputs))
    if backend.named_data:
        assert num_bytes <= len(buffer) < 1.5 * num_bytes
        absent = buffer
        for each in lowered.delegates:
            payload = bytes(each.processed_bytes)
            other = functools.reduce(_without_key, _keys(each), payload)
            assert payload in absent and other != payload, "the payload names its data"
            absent = absent.replace(payload, other)
        with pytest.raises(RuntimeError):
            load(absent).run_method("once", inputs)


def _keys(delegate: Any) -> list[str]:
    output = delegate.named_data_store_output
    return [] if output is None else list(output.pte_data)


def _without_key(payload: bytes, key: str) -> bytes:
    return payload.replace(key.encode(), b"?" * len(key))


def test_who_owns_weights(backend: Backend) -> None:
    owned = sum(_owned_bytes(each) for each in _weighted(backend, SMALL)[0].delegates)
    assert (owned >= SMALL) == (backend.weights is not Weights.INPUTS)


def _owned_bytes(delegate: Any) -> int:
    state = delegate.original_module.state_dict
    return sum(tensor.nbytes for tensor in state.values())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_weights_are_in_memory_once(backend: Backend) -> None:
    memory = _trial(backend)["memory"]
    if backend.weights is Weights.IN_PLACE:
        assert memory["loaded"]["RssAnon"] < WEIGHTS / 4
    elif backend.weights is Weights.PACKED:
        assert WEIGHTS <= memory["ran"]["VmRSS"] < WEIGHTS * 1.25
    elif backend.weights is Weights.BOTH:
        assert memory["ran"]["VmRSS"] < WEIGHTS * 2.25


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_comes_back(backend: Backend) -> None:
    memory = _trial(backend)["memory"]
    assert memory["once"]["VmRSS"] < WEIGHTS / 2, "after one program"
    more = memory["cycles"]["VmRSS"] - memory["once"]["VmRSS"]
    assert more < WEIGHTS / 4, "after 20 more"


# ---- Payloads ----


def test_corrupted_payloads_are_refused_or_run(backend: Backend) -> None:
    trial = _trial(backend)
    assert "done" in trial, (
        f"crashed after byte {trial['corrupted'][-1:]}: {trial['stderr'][-500:]}"
    )
    assert len(trial["cut"]) == 3 and all(trial["cut"].values()), trial["cut"]
    refused = [at for at, was_refused in trial["corrupted"] if was_refused]
    assert len(refused) >= 3 and len(trial["corrupted"]) > 50


# ---- Runtime ----


def test_a_runtime_without_the_backend_says_so(backend: Backend) -> None:
    lowered, inputs, _ = _weighted(backend, SMALL)
    buffer = lowered.to_executorch().buffer
    other = backend.id[:-1] + "?"
    with pytest.raises(RuntimeError, match="(?i)not found|backend") as caught:
        load(buffer.replace(backend.id.encode(), other.encode())).forward(inputs)
    assert caught.value
    if backend.library:
        assert _trial(backend)["unregistered"], "loaded before the backend was registered"


def test_delegates_of_many_threads_run_side_by_side(backend: Backend) -> None:
    lowered, inputs, expected = _weighted(backend, SMALL)
    buffer = lowered.to_executorch().buffer
    wrong: list[Exception] = []

    def work() -> None:
        try:
            loaded = load(buffer)
            for _ in range(25):
                check(loaded.forward(inputs), expected)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]


# ---- What checks share ----


def _weighted(backend: Backend, num_bytes: int) -> tuple[Lowered, tuple, Any]:
    model, inputs = backend.weighted(num_bytes)
    lowered = lower(backend, model, inputs)
    assert [each.backend_id for each in lowered.delegates] == [backend.id]
    return lowered, inputs, model(*inputs)


@functools.cache
def _trial(backend: Backend) -> dict[str, Any]:
    """What child.py measures, stage by stage; "corrupted" is a list of (byte, whether it was refused)."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lowered, (x,), _ = _weighted(backend, WEIGHTS)
        lowered.to_executorch().save(str(folder / "weighted.pte"))
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
    lowered, (x,), _ = _weighted(backend, SMALL)
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
