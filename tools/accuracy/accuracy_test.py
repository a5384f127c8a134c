# SPDX-License-Identifier: BSD-3-Clause
"""Trained networks keep their accuracy: each reaches the floor that its row says, in float and in int8."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

import pytest
import torch

from executorch.tools.accuracy import engine, inputs, page
from executorch.tools.accuracy.__main__ import measured
from executorch.tools.accuracy.networks import NETWORKS, Network
from executorch.tools.accuracy.packages import ROOT, folder, load


@pytest.fixture(scope="module")
def packages() -> Path:
    try:
        return folder()
    except subprocess.CalledProcessError as failed:
        pytest.skip(f"the packages of trained weights cannot be installed here: {failed}")


@pytest.mark.full
@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_reaches_its_floor(network: Network, packages: Path) -> None:
    row = measured(network, packages, None)
    assert page.problems(row, network.floor) == []


@pytest.mark.machine("a page of results")
def test_the_page_has_every_network_above_its_floor() -> None:
    text = (ROOT / "docs" / "results" / "accuracy.md").read_text()
    trained = text.partition("## Trained weights")[2].partition("\n## ")[0]
    rows = {line.split(" | ")[0].removeprefix("| "): line for line in trained.splitlines()}
    for network in NETWORKS:
        cells = rows[network.name].split(" | ")
        assert float(cells[3]) >= network.floor["float"]
        assert float(cells[7]) >= network.floor["int8"]


def test_decibels() -> None:
    """An error of a tenth is 20 dB; the worst output of several counts, over all calls together."""
    want = torch.tensor([3.0, 4.0])
    assert engine.sqnr([([want], [want * 1.1])]) == pytest.approx(20.0, abs=1e-4)
    assert engine.sqnr([([want, want], [want, want * 1.01])]) == pytest.approx(40.0, abs=1e-3)
    assert engine.sqnr([([want], [want])]) == math.inf
    both = [([want], [want]), ([want], [want * 1.1])]
    assert engine.sqnr(both) == pytest.approx(20 + 10 * math.log10(2), abs=1e-4)


def test_problems_name_network_precision_and_backend() -> None:
    row = {
        "name": "net",
        "float": {"xnnpack": 120.0, "kernels": 70.0},
        "int8": {"error": "ValueError: no"},
    }
    assert page.problems(row, {"float": 80, "int8": 20}) == [
        "net float on kernels: 70.0 dB, expected 80",
        "net int8: ValueError: no",
    ]


def test_recipes_of_a_backend_have_a_table() -> None:
    """SQNR, and sizes beside the first; what failed says so."""
    answers = {
        "mine_float": {"sqnr": 120.0, "bytes": 400},
        "mine_int8": {"sqnr": 31.25, "bytes": 104},
        "mine_int4": {"error": "ValueError: no"},
    }
    text = page.text([{"name": "crepe_tiny", "parameters": 1, "mine recipes": answers}])
    assert "## Recipes of mine" in text and "| network | float | int8 | int4 |" in text
    assert "| crepe_tiny | 120.0 (1.00) | 31.2 (0.26) | fails |" in text


def test_mel_bands_of_a_tone() -> None:
    """1 kHz is 15 on Slaney's scale, whose 40 bands up to 8 kHz are 1.104 apart: it peaks in band 13 of 0 to 39."""
    seconds = torch.arange(16000) / 16000
    bands = inputs.mel(torch.sin(2 * math.pi * 1000 * seconds), 40, 400, 160, to_decibel=False)
    assert bands.shape == (101, 40)
    assert set(bands[5:-5].argmax(1).tolist()) == {13}


def test_one_file_of_a_package_is_loaded_with_stubs(tmp_path: Path) -> None:
    file = tmp_path / "part.py"
    file.write_text("import no_such_package\nvalue = no_such_package.NUMBER + 1\n")
    assert load(file, "part", no_such_package={"NUMBER": 41}).value == 42
