# SPDX-License-Identifier: BSD-3-Clause
"""Thirty networks that the commit draws, on the flows that run here fast; a thousand in the full run."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.backends.test.corpus.drawn import LARGE, drawn
from executorch.backends.test.suite.flow import all_flows
from executorch.test.e2e.cpp_calls import CallFailed
from executorch.tools.drawn import __main__ as command
from executorch.tools.drawn import attempt
from executorch.tools.drawn.attempt import BAD, CRASHED, FAILED, RIGHT, WRONG, Machine, outcome_of
from executorch.tools.drawn.processors import CORTEX_A55, CORTEX_A76, MIXED
from executorch.tools.tiers import times

SAMPLE, ALL = 30, 1000
# The flow of each network in turn.
TURNS = (
    "xnnpack", "xnnpack_static_int8_per_channel", "xnnpack", "xnnpack_dynamic_int8_per_channel", "portable",
)  # fmt: skip
FIRST = (times.drawn(10_000) - 1) * SAMPLE


def check(seed: int, folder: Path) -> None:
    flow = all_flows()[TURNS[seed % len(TURNS)]]
    found = outcome_of(seed, flow, Machine(), folder)
    assert found.kind not in BAD, f"--flow {flow.name} --seed {seed}: {found}"


@pytest.mark.parametrize("place", range(SAMPLE))
def test_a_network_of_this_commit(place: int, tmp_path: Path) -> None:
    check(FIRST + place, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(ALL))
def test_a_network(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


def test_a_number_draws_the_same_network_again() -> None:
    one, same, other = drawn(7, LARGE), drawn(7, LARGE), drawn(8, LARGE)
    assert one.name == same.name != other.name
    assert one.inputs[0].equal(same.inputs[0])
    assert one.module()(*one.inputs).equal(same.module()(*same.inputs))


def test_what_goes_wrong_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flow, run = all_flows()["xnnpack"], attempt._run
    found = {}
    for kind, spoiled in {
        RIGHT: run,
        WRONG: lambda *words: [[each + 1 for each in outputs] for outputs in run(*words)],
        CRASHED: lambda *words: _raise(CallFailed(-11, "")),
        FAILED: lambda *words: _raise(CallFailed(2, "no such method")),
    }.items():
        monkeypatch.setattr(attempt, "_run", spoiled)
        found[kind] = outcome_of(3, flow, Machine(), tmp_path).kind
    assert found == {kind: kind for kind in found}


def _raise(error: Exception) -> None:
    raise error


def test_the_command_ends_with_its_findings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--flow", "portable", "--seed", "4", "--count", "1"]
    assert command.main(words) == 0
    assert "portable: 1 right, 0 refused" in capsys.readouterr().out
    monkeypatch.setattr(attempt, "_run", lambda *given: _raise(CallFailed(139, "signal 11")))
    assert command.main(words) == 1
    assert "crashed: --flow portable --seed 4 --count 1: 4 " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["--flow", "nothing"])


def test_a_root_tells_of_its_cores(tmp_path: Path) -> None:
    words = MIXED.emulator("aarch64", Path("/usr/aarch64-linux-gnu"), tmp_path)
    root = Path(words[2])
    text = (root / "proc/cpuinfo").read_text()
    assert text.count(CORTEX_A55) == text.count(CORTEX_A76) == 4
    cores = root / "sys/devices/system/cpu"
    assert (cores / "possible").read_text() == "0-7\n"
    clusters = [(cores / f"cpu{i}/topology/cluster_cpus_list").read_text() for i in range(8)]
    assert clusters == ["0-3\n"] * 4 + ["4-7\n"] * 4
    assert int((cores / "cpu0/cpufreq/cpuinfo_max_freq").read_text()) < 2_000_000
