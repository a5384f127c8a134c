# SPDX-License-Identifier: BSD-3-Clause
"""A sample of mutants in every run, and proof that the harness sees crashes, aborts and hangs."""

from __future__ import annotations

import faulthandler
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from executorch.runtime import Runtime
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.hardening import mutants


@pytest.fixture(scope="module")
def programs(program_store: ProgramStore) -> dict[str, Path]:
    made = program_store.folder("mutants", mutants.make_programs)
    return {name: made / f"{name}.pte" for name in mutants.PROGRAMS}


@pytest.mark.parametrize("name", mutants.PROGRAMS)
def test_corrupted_programs_are_refused_or_run(
    name: str, programs: dict[str, Path], tmp_path: Path
) -> None:
    count = int(os.environ.get("EXECUTORCH_MUTANTS", "100"))
    verdicts = mutants.try_program(programs[name], count, seed=1, keep=tmp_path)
    assert set(verdicts) <= {"refused", "accepted"}, verdicts
    assert verdicts["refused"] > 0


def test_constants_in_the_program_data_are_read(programs: dict[str, Path]) -> None:
    """As upstream's runtime reads them."""
    (method,) = mutants.methods_of("inline_linear").values()
    program = Runtime.get().load_program(programs["inline_linear"])
    assert b"eh00" not in programs["inline_linear"].read_bytes()[:16]
    found = program.load_method("forward").execute(method.inputs)
    torch.testing.assert_close(list(found), method.eager()[0])


@pytest.mark.parametrize(
    "end, expected",
    [
        (lambda: (faulthandler.disable(), os.kill(os.getpid(), signal.SIGSEGV)), "CRASH"),
        (lambda: (faulthandler.disable(), os.kill(os.getpid(), signal.SIGABRT)), "ABORT"),
        (lambda: os._exit(77), "CRASH"),
        (lambda: time.sleep(5), "HANG"),
    ],
    ids=["fault", "abort", "exit code", "endless"],
)
def test_the_harness_sees_failures(
    end: Callable[[], object], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the files of one child, too, which go on in another."""

    def run(path: Path, inputs: mutants.Inputs) -> None:
        if path.name == "ends":
            end()
        if path.name == "refused":
            raise RuntimeError

    monkeypatch.setattr(mutants, "SECONDS", 1)
    monkeypatch.setattr(mutants, "run_program", run)
    assert mutants.verdict(Path("ends"), {}) == expected
    files = [Path(name) for name in ("fine", "ends", "refused", "ends", "fine")]
    found = mutants.verdicts(files, {})
    assert found == ["accepted", expected, "refused", expected, "accepted"]
