# SPDX-License-Identifier: BSD-3-Clause
"""The trace of planned memory: every step has the tensors that live then, none over another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from executorch.exir import ExecutorchProgramManager, to_edge
from executorch.util.activation_memory_profiler import generate_memory_trace


class Network(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.sin(x) * x
        return torch.cat([y, torch.cos(y)]).sum(0)


@pytest.fixture(scope="module")
def program() -> ExecutorchProgramManager:
    return to_edge(torch.export.export(Network(), (torch.zeros(256),))).to_executorch()


def trace(program: ExecutorchProgramManager, path: Path, **options: Any) -> list[dict]:
    generate_memory_trace(program, str(path), **options)
    return json.loads(path.read_text())["traceEvents"]


@pytest.mark.req("PY-013", "DT-033")
def test_tensors_that_live_together_lie_apart(
    program: ExecutorchProgramManager, tmp_path: Path
) -> None:
    events = trace(program, tmp_path / "memory.json", enable_memory_offsets=True)
    tensors = [event for event in events if event["ph"] == "X"]
    assert {event["name"].split("_default")[0] for event in tensors} >= {"x", "aten_sin"}
    sizes = {event["name"]: event["dur"] for event in tensors}
    assert sizes["x"] == sizes["aten_sin_default"] == 1024 and max(sizes.values()) == 2048
    steps = {(event["pid"], event["tid"]) for event in tensors}
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert steps == named and len(steps) > 5
    for step in steps:
        alive = sorted((e["ts"], e["dur"]) for e in tensors if (e["pid"], e["tid"]) == step)
        assert all(a + size <= b for (a, size), (b, _) in zip(alive, alive[1:])), step
    (arena,) = program.executorch_program.execution_plan[0].non_const_buffer_sizes[1:]
    assert max(event["ts"] + event["dur"] for event in tensors) == arena
    assert any("torch.sin" in event["args"]["stack_trace"] for event in tensors)


def test_without_offsets_a_step_is_as_wide_as_what_lives(
    program: ExecutorchProgramManager, tmp_path: Path
) -> None:
    events = trace(program, tmp_path / "memory.json", ommit_metadata=True)
    by_step: dict[tuple, list[dict]] = {}
    for event in events:
        if event["ph"] == "X":
            assert "stack_trace" not in event["args"]
            by_step.setdefault((event["pid"], event["tid"]), []).append(event)
    for alive in by_step.values():
        ends = [event["ts"] + event["dur"] for event in alive]
        assert [event["ts"] for event in alive] == [0, *ends[:-1]]


def test_an_unknown_method_is_named(program: ExecutorchProgramManager, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="forward, found 'backward'"):
        generate_memory_trace(program, str(tmp_path / "no.json"), method_name="backward")
    assert not (tmp_path / "no.json").exists()
