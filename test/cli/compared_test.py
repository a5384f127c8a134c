# SPDX-License-Identifier: BSD-3-Clause
"""What `executorch export` and `bisect` say of a program beside its model: right programs differ by nothing."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from executorch.cli import main
from executorch.examples.models.comparison import largest_error

INF, NAN = math.inf, math.nan
MODEL = """import torch

class Changes(torch.nn.Module):
    def forward(self, x, y):
        x.add_(1)
        return x, x * y

model = (Changes(), (torch.ones(2, 3), torch.ones(2, 3)))
"""


@pytest.mark.parametrize(
    "found, expected, error",
    [
        ([3.0, 4.0], [3.0, 4.0], 0.0),
        ([3.0, 5.0], [3.0, 4.0], 1 / 5),
        ([1 - 7j, 3 + 5j], [1 + 2j, 3 - 1j], math.sqrt((81 + 36) / (5 + 10))),
        ([1 + 2j, INF + 0j], [1 + 2j, INF + 0j], 0.0),
        ([-INF, 2.0, NAN], [-INF, 2.0, NAN], 0.0),
        ([-INF, 3.0], [-INF, 2.0], 1 / 2),
        ([INF, 2.0], [-INF, 2.0], INF),
        ([1.0, 2.0], [NAN, 2.0], INF),
        ([NAN, 2.0], [1.0, 2.0], INF),
        ([1.0, 2.0, 3.0], [1.0, 2.0], INF),
        ([1.0 + 0j], [1.0], INF),
    ],
)
def test_the_error_is_that_of_the_norms(found: list, expected: list, error: float) -> None:
    wide = largest_error([torch.tensor(found)], [torch.tensor(expected)])
    assert wide == pytest.approx(error, rel=1e-6)


def test_a_program_that_changes_its_input_is_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("changes.py").write_text(MODEL)
    assert main.main(["export", "changes.py:model", "--etrecord", "record.etrecord"]) == 0
    assert "differs by 0.0e+00" in capsys.readouterr().out
    assert main.main(["bisect", "record.etrecord", "model.pte"]) == 0
    words = ["--etrecord", "record.etrecord", "--output", "tested.pte"]
    assert main.main(["self-test", "model.pte", *words]) == 0
