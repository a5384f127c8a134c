# SPDX-License-Identifier: BSD-3-Clause
"""`executorch eval` and `executorch export --quantize auto`: numbers beside arithmetic, and the sentences of what does
not fit."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.cli import main
from executorch.cli.automatic import Held
from executorch.cli.eval import Loss
from executorch.devtools.accuracy.metrics import METRICS
from executorch.examples.models.comparison import largest_error
from executorch.runtime import Runtime

# The second layer takes the difference of large sums: 8 bits lose most there.
MODEL = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        self.second.weight.data[:4] *= 30

    def forward(self, x):
        return self.last(self.second(self.first(x).relu()))

torch.manual_seed(0)
net = (Net().eval(), (torch.randn(1, 4),))

class Same(nn.Module):
    def forward(self, x):
        return x * 1.0

same = (Same(), (torch.randn(1, 3),))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("nets.py").write_text(MODEL)
    numbers = np.random.default_rng(0).standard_normal((24, 4)).astype(np.float32)
    np.savez("data.npz", x=numbers[:, None])
    scores = np.eye(3, dtype=np.float32)[[0, 1, 2, 0]]
    np.savez("scores.npz", arr_0=scores, label=np.array([0, 1, 2, 1]))
    np.savez("whole.npz", x=np.ones((8, 1, 4), np.int64))
    np.savez("one.npz", x=numbers[:1, None])
    Path("words.npz").write_text("no arrays")
    Path("empty").mkdir()
    return tmp_path


def test_a_model_is_measured_by_labels(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of four rows three are right; Wilson's interval of 3 of 4."""
    assert main.main(["eval", "nets.py:same", "--data", "scores.npz", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["metric"], found["samples"], found["beside"]) == ("top1", 4, "labels")
    (row,) = found["rows"]
    assert (row["name"], row["value"]) == ("nets.py:same", 0.75)
    assert (row["low"], row["high"]) == pytest.approx((0.3006, 0.9544), abs=1e-4)
    assert found["interval"] == "95 %, Wilson"


def test_a_program_stands_beside_its_model(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["export", "nets.py:net", "--no-check"]) == 0
    capsys.readouterr()
    words = ["nets.py:net", "net.pte", "--data", "data.npz", "--metric", "cosine"]
    assert main.main(["eval", *words, "--html", "eval.html"]) == 0
    text = capsys.readouterr().out
    made = (here / "eval.html").read_text()
    assert "<title>cosine on data.npz · executorch eval</title>" in made
    assert "<p>24 samples (arrays), beside nets.py:net.</p>" in made
    assert "net.pte: cosine 1 (1 to 1)." in re.sub("<wbr>", "", made)
    assert "24 samples of data.npz (arrays), beside nets.py:net" in text
    assert "intervals by bootstrap" in text and "net.pte  1" in text
    assert main.main(["eval", "net.pte", "--data", "data.npz"]) == 2
    assert "expected labels or targets, or a model" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nets.py:same", "--data", "data.npz"], "expected size 3 in dimension 1, .* found 4"),
        (["nets.py:same", "--data", "none"], "none: no such file or folder"),
        (["nets.py:same", "nets.py:net", "--data", "x"], "expected one MODEL"),
        (["nets.py:same", "--data", "scores.npz", "--metric", "f1"], "found f1"),
        (["nets.py:same", "--data", "scores.npz", "--method", "step"], "a method of forward"),
    ],
)
def test_what_eval_refuses(
    words: list[str], message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["eval", *words]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_layers_that_lose_most_keep_more_bits(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """8 bits everywhere lose 16 %, floats everywhere nothing."""
    words = ["nets.py:net", "--quantize", "auto", "--data", "data.npz", "-o", "net.pte"]
    assert main.main(["export", *words, "--loss", "1.5%"]) == 0
    text = capsys.readouterr().out
    assert "loss of the program" in text and "1.5% asked" in text and "float" in text
    report = Path("net.accuracy.md").read_text()
    assert "| second | linear | float |" in report and "int8 would be 6" in report
    assert "of the time of floats is estimated" in text and "samples that measured" not in text
    program, data = Runtime.get().load_program("net.pte"), np.load("data.npz")["x"]
    module = _net(here)
    errors = [
        largest_error(program.load_method("forward").execute([x]), [module(x).detach()])
        for x in torch.from_numpy(data)
    ]
    assert 1e-5 < float(np.sqrt(np.mean(np.square(errors)))) < 0.03


def test_what_few_samples_do_not_show_is_said(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four files of two samples: two files measure."""
    data = np.load("data.npz")["x"]
    Path("few").mkdir()
    for number in range(4):
        np.savez(f"few/{number}.npz", x=data[2 * number : 2 * number + 2])
    words = ["nets.py:net", "--quantize", "auto", "--data", "few", "-o", "few.pte"]
    assert main.main(["export", *words, "--loss", "30%"]) == 0
    text = capsys.readouterr().out
    assert re.search("2 samples that measured (are few|do not show)", text)


def test_a_loss_is_resampled_by_groups() -> None:
    """Two files of four samples, one of which loses half: a quarter of all, none or half of one file."""
    own = np.ones((8, 2))
    sums = own + np.array([[0.5, 0.0]] * 4 + [[0.0, 0.0]] * 4)
    held = Held((), METRICS["mae"], own, Loss("1%", 0.01, True), ["a"] * 4 + ["b"] * 4)
    found = held.lost(sums)
    assert (found.value, found.low, found.high) == (0.25, 0.0, 0.5)


def _net(here: Path) -> torch.nn.Module:
    names: dict = {"__name__": "nets"}
    exec(compile(MODEL, "nets.py", "exec"), names)
    return names["net"][0]


def test_an_exported_program_is_quantized(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = _net(here)
    torch.export.save(torch.export.export(net, (torch.randn(1, 4),)), "net.pt2")
    words = ["net.pt2", "--quantize", "auto", "--data", "data.npz", "--no-strict"]
    assert main.main(["export", *words, "--loss", "50%"]) == 0
    assert "3 int8" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--loss", "1%"], "expected --data with --quantize auto"),
        (["--data", "data.npz"], "expected --loss with --quantize auto"),
        (["--loss", "1%", "--data", "scores.npz"], "expected size 4 in dimension 1, .* found 3"),
        (["--loss", "1%", "--data", "whole.npz"], "x.: expected float32, found int64"),
        (
            ["--loss", "1%", "--data", "empty"],
            r"empty: expected arrays \(.npz\), .* found no files",
        ),
        (["--loss", "1%", "--data", "one.npz"], "expected two samples or more, .* found 1"),
        (["--loss", "1%", "--data", "words.npz"], "words.npz: expected arrays .numpy.savez."),
        (["--loss", "1%", "--data", "data.npz", "--metric", "mse"], "own mse is 0, which has no"),
        (["--loss", "1%", "--data", "data.npz", "--metric", "snr"], "no loss is finite"),
        (["--loss", "1e-9%", "--data", "data.npz"], "layer in few bits keeps, .* found 1e-9%"),
    ],
)
def test_what_auto_refuses(
    words: list[str], message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["export", "nets.py:net", "--quantize", "auto", *words]) == 2
    assert re.search(message, capsys.readouterr().err)
    assert not Path("net.pte").exists()
