# SPDX-License-Identifier: BSD-3-Clause
"""What the page says of measured numbers; and of each network, in full runs, that the loss asked is kept."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from executorch.devtools.accuracy.metrics import METRICS, Target
from executorch.tools.accuracy.packages import ROOT, folder
from executorch.tools.bench.auto_quantize import page, rivals
from executorch.tools.bench.auto_quantize.cases import CASES, Case
from executorch.tools.bench.auto_quantize.ours import Network


def _engine(lost: float, size: int, milliseconds: float, **more: Any) -> dict[str, Any]:
    times = {"low": milliseconds, "median": milliseconds, "high": 2 * milliseconds}
    other = {"value": lost, "low": lost / 2, "high": lost * 2}
    return {"other": other, "bytes": size, "ms 1": times, "ms 2": times, "seconds": 5.0, **more}


def _row(name: str, auto: float) -> dict[str, Any]:
    return {
        "name": name,
        "asked": "2%",
        "samples": {"calibration": 3, "held": 4, "other": 5},
        "float": _engine(0.0, 4000, 8.0),
        "int8": _engine(0.08, 1000, 2.0),
        "auto": _engine(auto, 2000, 4.0, held=0.01, layers={"float": 1, "int8": 3}),
        "nncf": {"error": "RuntimeError: a | b"},
    }


def test_the_summary_counts_what_was_kept() -> None:
    """Of two networks, one loses 1 % and one 3 % of 2 % asked; half the bytes and half the time of floats."""
    lines = page.summary([_row("crepe_tiny", 0.01), _row("fcpe", 0.03)]).splitlines()
    cells = {line.split(" | ")[0]: line.split(" | ")[1:] for line in lines[2:]}
    assert cells["| auto"][:5] == ["2", "1 of 2", "1.50", "0.50", "0.50"]
    assert cells["| int8"][:5] == ["2", "0 of 2", "4.00", "0.25", "0.25"]
    assert set(cells) == {"| auto", "| int8"}


def test_the_table_has_what_failed() -> None:
    lines = page.table([_row("fcpe", 0.01)]).splitlines()
    assert len({line.count("|") for line in lines}) == 1
    assert "| fcpe | NNCF accuracy control | 2% | RuntimeError: a / b |" in lines[-1]
    assert (
        "| fcpe | auto | 2% | 1.00% | 1.00% | 0.50% to 2.00% | 2,000 | 4.00 | 4.00 to 8.00 |"
        in lines[-2]
    )
    assert "3 + 4 + 5" in page.text([_row("fcpe", 0.01)])


def test_rivals_count_errors_as_we_do() -> None:
    wanted = [torch.tensor([3.0, 4.0]), torch.tensor([[1.0]])]
    found = [np.array([3.0, 5.0]), np.array([[1.5]])]
    held = [((torch.zeros(1),), wanted)] * 2
    metric = METRICS["error"]
    sums = metric.sums(found, Target(values=tuple(each.numpy() for each in wanted)))
    assert rivals.error(lambda _: found, held) == pytest.approx(metric.value(np.array([sums] * 2)))
    assert rivals.error(lambda _: found, held) == pytest.approx(((1 / 25 + 1 / 4) / 2) ** 0.5)


@pytest.mark.machine("a page of results")
def test_the_page_has_every_network() -> None:
    lines = (ROOT / "docs" / "results" / "auto_quantize.md").read_text().splitlines()
    rows = {tuple(line.split(" | ")[:2]) for line in lines if line.startswith("| ")}
    for each in CASES:
        for engine in ("floats", "int8", "auto", "ONNX Runtime int8", "NNCF accuracy control"):
            assert (f"| {each.name}", engine) in rows


@pytest.fixture(scope="module")
def packages() -> Path:
    try:
        return folder()
    except subprocess.CalledProcessError as failed:
        pytest.skip(f"the packages of trained weights cannot be installed here: {failed}")


@pytest.mark.full
@pytest.mark.parametrize("each", CASES, ids=lambda each: each.name)
def test_auto_keeps_what_was_asked(each: Case, packages: Path, tmp_path: Path) -> None:
    """On the samples that measured; the file is smaller than that of floats. Of silero_vad no choice keeps it."""
    network = Network(each, packages, tmp_path)
    floats, auto = network.program("float"), network.program("auto")
    if each.name == "silero_vad" and "error" in auto:
        assert "in few bits keeps" in auto["error"]
        return
    assert "error" not in auto, auto
    assert auto["held"] <= page.share(each.asked)
    assert auto["bytes"] < floats["bytes"]
