# SPDX-License-Identifier: BSD-3-Clause
"""The demo on a small model: its table, and what it says when numbers differ."""

from pathlib import Path

import pytest
import torch

from executorch.examples.demo import demo
from executorch.test.e2e.build_tree import binary


@pytest.fixture(autouse=True)
def with_the_cpp_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed package does not know the build folder."""
    monkeypatch.setenv("EXECUTORCH_BUILD_DIR", str(binary("executor_runner").parent))


def test_the_table_has_what_is_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert demo.main(["--model", "linear", "--runs", "4", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    for row in (
        "inputs",
        "outputs",
        "largest difference, Python",
        "largest difference, executor_runner",
    ):
        assert f"| {row} " in text
    for row in (
        "planned memory",
        "file",
        "eager PyTorch",
        "ours, from Python",
        "seconds: torch.export",
        "XNNPACK, float",
        "XNNPACK, 8-bit",
        "error beside PyTorch's, XNNPACK 8-bit",
    ):
        assert row in text
    assert (tmp_path / "linear.pte").exists()


@pytest.mark.parametrize("model", ["running_total", "dynamic_rows", "two_methods"])
def test_state_sizes_that_vary_and_several_methods(model: str, tmp_path: Path) -> None:
    assert demo.main(["--model", model, "--runs", "4", "--out", str(tmp_path)]) == 0


def test_without_the_cpp_program_and_from_an_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As from an installed package, whose folder is no checkout."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EXECUTORCH_BUILD_DIR")
    monkeypatch.setattr(demo, "ROOT", tmp_path / "site-packages" / "executorch")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert demo.main(["--model", "linear", "--runs", "4"]) == 0
    text = capsys.readouterr().out
    assert "executor_runner | left out" in " ".join(text.split()) and "make build" not in text
    assert [path.name for path in tmp_path.iterdir()] == ["build"]
    assert (tmp_path / "build" / "demo" / "linear.pte").exists()


@pytest.mark.parametrize("wrong", [1.0, float("nan")])
def test_numbers_that_differ_fail_the_demo(wrong: float) -> None:
    report = demo.Report()
    report.compare("here", [torch.zeros(2)], [torch.zeros(2)])
    assert report.failed == []
    report.compare("there", [torch.tensor([0.0, wrong])], [torch.zeros(2)])
    assert report.failed == ["there"] and "MORE THAN" in report.table()
