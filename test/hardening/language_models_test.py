# SPDX-License-Identifier: BSD-3-Clause
"""Corrupted weights beside a language model's program are refused or read; those of programs: mutants_test.py."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from executorch.extension.pybindings.portable_lib import _load_for_executorch
from executorch.test.hardening import language_models, mutants


def test_corrupted_weights_are_refused_or_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = language_models.make("llm_weights_beside", tmp_path)
    weights = tmp_path / language_models.WEIGHTS
    whole, chance = weights.read_bytes(), random.Random(5)
    verdicts: Counter[str] = Counter()

    def run(path: Path, inputs: mutants.Inputs) -> None:
        module = _load_for_executorch(str(program), str(path))
        for _ in range(2):
            module.run_method("forward", inputs["forward"])

    monkeypatch.setattr(mutants, "run_program", run)
    assert mutants.verdict(weights, language_models.INPUTS) == "accepted"
    head = len(whole) - len(whole) // 2
    corrupted = tmp_path / "corrupted.ptd"
    for _ in range(int(os.environ.get("EXECUTORCH_MUTANTS", "100"))):
        data = bytearray(whole[: chance.randrange(len(whole))] if chance.random() < 0.1 else whole)
        for _ in range(chance.choice((1, 1, 2, 4))):
            data[chance.randrange(min(len(data) or 1, head))] ^= 1 << chance.randrange(8)
        corrupted.write_bytes(data)
        verdicts[mutants.verdict(corrupted, language_models.INPUTS)] += 1
    assert set(verdicts) <= {"refused", "accepted"}, verdicts
    assert verdicts["refused"] > 0


@pytest.mark.full
@pytest.mark.parametrize("name", language_models.NAMES)
def test_thousands_of_corrupted_programs(name: str, tmp_path: Path) -> None:
    """10,000 over all of them; mutants_test.py has a sample for every run."""
    count = int(os.environ.get("EXECUTORCH_MUTANTS", str(10_000 // len(language_models.NAMES))))
    verdicts = mutants.try_program(language_models.make(name, tmp_path), count, 23, tmp_path)
    assert set(verdicts) <= {"refused", "accepted"}, verdicts
    assert min(verdicts.values()) > 0 and len(verdicts) == 2
