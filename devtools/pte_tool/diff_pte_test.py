# SPDX-License-Identifier: BSD-3-Clause
"""Equal files, files that differ, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.export import export

from executorch.devtools.pte_tool.diff_pte import diff_pte, format_diff_result, main
from executorch.exir import to_edge


class Sum(torch.nn.Module):
    def __init__(self, by: float) -> None:
        super().__init__()
        self.by = torch.nn.Parameter(torch.full((3,), by))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.by


def program(by: float) -> bytes:
    return to_edge(export(Sum(by), (torch.ones(3),))).to_executorch().buffer


def test_results_and_texts() -> None:
    one, two = program(1.0), program(2.0)
    same = diff_pte(one, one)
    assert same.bitwise_equal and same.report is None
    assert "Status: bitwise equal" in format_diff_result(same)
    other = diff_pte(one, two, "one.pte", "two.pte")
    assert not other.bitwise_equal and (other.size_a, other.size_b) == (len(one), len(two))
    assert "NOT bitwise equal" in format_diff_result(other)
    assert "only before" in format_diff_result(other, verbose=True)
    assert "only before" not in format_diff_result(other)
    broken = diff_pte(one, b"text" * 20, path_b="broken.pte")
    assert broken.error is not None and "broken.pte: expected a program file" in broken.error


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, by in (("a.pte", 1.0), ("b.pte", 2.0)):
        (tmp_path / name).write_bytes(program(by))
    a, b = str(tmp_path / "a.pte"), str(tmp_path / "b.pte")
    assert main([a, a]) == 0 and main([a, b, "--verbose", "--max-samples", "1"]) == 1
    assert "... and 2 more rows" in capsys.readouterr().out
    assert main([a, str(tmp_path / "no.pte")]) == 2
    assert "no.pte" in capsys.readouterr().err
