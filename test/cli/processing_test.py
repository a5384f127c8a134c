# SPDX-License-Identifier: BSD-3-Clause
"""`executorch export --preprocess --postprocess --labels`, and who reads what the program carries: run, eval, wrap."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

from executorch.cli import main
from executorch.cli.wrap.languages import NAMES

# Scores are the means of red, green and blue: a picture's class is its strongest colour.
MODEL = """import torch

class Colours(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 3, 1)
        self.conv.weight.data = torch.eye(3).view(3, 3, 1, 1)
        self.conv.bias.data.zero_()

    def forward(self, image):
        return self.conv(image).mean((2, 3))

net = (Colours().eval(), (torch.rand(1, 3, 16, 16),))
"""
BEFORE, AFTER = "resize 20, crop 16, normalize 0.4 0.5 0.6 0.2 0.25 0.3", "softmax, top 2"
LABELS = ("red", "green", "blue")
COLOURS = {"red": (250, 40, 30), "green": (30, 250, 40), "blue": (40, 30, 250)}


def write(folder: Path) -> None:
    (folder / "nets.py").write_text(MODEL)
    (folder / "labels.txt").write_text("\n".join(LABELS) + "\n")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path)
    Path("two.txt").write_text("red\ngreen\n")
    Path("hole.txt").write_text("red\n\nblue\n")
    for name, colour in COLOURS.items():
        np.save(f"{name}.npy", np.full((24, 30, 3), colour, np.uint8))
    return tmp_path


def exported(folder: Path, *words: str) -> str:
    """What it prints."""
    steps = ["--preprocess", BEFORE, "--postprocess", AFTER, "--labels", f"{folder}/labels.txt"]
    output = ["-o", f"{folder}/colours.pte"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main.main(["export", f"{folder}/nets.py:net", *steps, *output, *words]) == 0
    return printed.getvalue()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A program, and what was printed of it."""
    folder = tmp_path_factory.mktemp("colours")
    write(folder)
    return folder / "colours.pte", exported(folder)


def expected(pixels: np.ndarray) -> np.ndarray:
    """The steps and the model written out."""
    image = torch.from_numpy(pixels).float().permute(2, 0, 1)[None]
    short = min(pixels.shape[:2])
    sizes = [20 * size // short for size in pixels.shape[:2]]
    image = functional.interpolate(image, sizes, mode="bilinear")
    top, left = (int(round((size - 16) / 2.0)) for size in sizes)
    image = image[0, :, top : top + 16, left : left + 16].mean((1, 2)).numpy() / 255
    scores = np.exp((image - [0.4, 0.5, 0.6]) / [0.2, 0.25, 0.3])
    return scores / scores.sum()


def test_a_picture_goes_in_and_labels_come_out(
    here: Path, made: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    program, printed = made
    assert float(re.search(r"differs by (\S+) beside", printed)[1]) < 1e-4
    for name in COLOURS:
        assert main.main(["run", str(program), "--inputs", f"{name}.npy", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)["labels"]
        scores = expected(np.load(f"{name}.npy"))
        order = np.argsort(-scores)[:2]
        assert [label for label, _ in found] == [LABELS[place] for place in order]
        assert found[0][0] == name
        np.testing.assert_allclose([score for _, score in found], scores[order], rtol=1e-4)
    assert main.main(["run", str(program), "--inputs", "green.npy"]) == 0
    assert re.search(r"^    0\.\d{4} green$", capsys.readouterr().out, re.M)


def test_the_class_has_labels(here: Path, made: tuple[Path, str]) -> None:
    program, _ = made
    assert main.main(["wrap", str(program), "--lang", "python", "-o", "found.py"]) == 0
    spec = importlib.util.spec_from_file_location("found", here / "found.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    model = module.Colours(program)
    (label, score), _ = model.labeled(model.forward(picture=np.load("blue.npy")))
    assert label == "blue" and score == pytest.approx(expected(np.load("blue.npy")).max(), rel=1e-4)
    for language in NAMES:
        assert main.main(["wrap", str(program), "--lang", language, "-o", "found.txt"]) == 0
        text = Path("found.txt").read_text()
        assert "labeled(" in text and '"green",' in text
        Path("found.txt").unlink()


def samples() -> tuple[np.ndarray, np.ndarray]:
    """Pictures, and labels of which a third is another colour's."""
    draw = np.random.default_rng(0)
    pictures = draw.integers(0, 256, (30, 24, 30, 3)).astype(np.uint8)
    labels = np.array([int(expected(each).argmax()) for each in pictures])
    labels[::3] = (labels[::3] + 1) % 3
    return pictures, labels


def test_accuracy_is_that_of_the_model_with_its_steps_outside(
    here: Path, made: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """20 of 30, as samples() has it; the model beside the program has the steps in PyTorch."""
    pictures, labels = samples()
    np.savez("pictures.npz", picture=pictures, label=labels)
    words = ["nets.py:net", str(made[0]), "--data", "pictures.npz", "--json"]
    assert main.main(["eval", *words]) == 0
    model, program = json.loads(capsys.readouterr().out)["rows"]
    assert program["value"] == pytest.approx(20 / 30) == model["value"]
    assert main.main(["eval", *words, "--metric", "top5"]) == 2
    assert "expected top1 behind `top 2`, found top5" in capsys.readouterr().err
    assert main.main(["export", "nets.py:net", "--no-check", "-o", "plain.pte"]) == 0
    capsys.readouterr()
    assert main.main(["eval", "plain.pte", *words]) == 2
    assert "expected programs with the same steps" in capsys.readouterr().err


@pytest.mark.parametrize("channels", ["RGB", "BGR"])
def test_files_of_pictures_are_whole_pictures(
    channels: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Red and blue ones of any size, also for a program that takes blue first; folders are its labels."""
    image = pytest.importorskip("PIL.Image", reason="pillow is an extra")
    exported(here, "--no-check", *(["--preprocess", f"bgr, {BEFORE}"] if channels == "BGR" else []))
    for name, size in (("red", (30, 24)), ("blue", (2000, 1500))):
        folder = here / "photos" / name
        folder.mkdir(parents=True)
        image.new("RGB", size, COLOURS[name]).save(folder / "a.png")
    assert main.main(["eval", "colours.pte", "--data", "photos", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["value"] == 1
    assert main.main(["run", "colours.pte", "--inputs", "photos/blue/a.png", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["labels"][0][0] == "blue" and found["inputs"][0]["shape"] == [768, 1024, 3]


def test_few_bits_are_the_models_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Calibrated, and chosen, by pictures."""
    pictures, labels = samples()
    np.savez("pictures.npz", picture=pictures, label=labels)
    np.save("first.npy", pictures[0])
    exported(here, "--quantize", "int8", "--calibrate", "pictures.npz")
    assert main.main(["run", "colours.pte", "--inputs", "first.npy", "--json"]) == 0
    (label, score), _ = json.loads(capsys.readouterr().out)["labels"]
    scores = expected(pictures[0])
    assert label == LABELS[scores.argmax()] and score == pytest.approx(scores.max(), abs=0.02)
    np.savez("pictures.npz", picture=pictures)
    words = ["--data", "pictures.npz", "--metric", "top1", "--loss", "50%"]
    assert "top1: loss of the program" in exported(here, "--quantize", "auto", *words)
    assert "15 samples of pictures.npz chose" in Path("colours.accuracy.md").read_text()


WRONG = {
    "a word": (["--preprocess", "resise 20"], "step 1, 'resise 20': expected one of picture, bgr, resize"),
    "too few labels": (["--labels", "two.txt"], "--labels: expected 3, as the model has classes, found 2"),
    "a hole": (["--labels", "hole.txt"], "hole.txt: expected a class's name in each line, found line 2 empty"),
    "no file": (["--labels", "none.txt"], "No such file or directory: 'none.txt'"),
    "another size": (["--preprocess", "resize 20, crop 15"], r"\[1, 3, 16, 16\], as the model's example input is"),
    "no file of samples": (["--calibrate", "labels.npz"], "labels.npz: no such file or folder"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_fit_is_a_sentence(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, sentence = WRONG[name]
    steps = ["--preprocess", BEFORE, "--postprocess", AFTER]
    words = ["export", "nets.py:net", *steps, "-o", "x.pte", *words]
    assert main.main(words) == 2
    assert re.search(sentence, capsys.readouterr().err) and not Path("x.pte").exists()


def test_a_picture_for_numbers_is_a_sentence(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["export", "nets.py:net", "--no-check", "-o", "plain.pte"]) == 0
    Path("a.png").write_bytes(b"no picture")
    assert main.main(["run", "plain.pte", "--inputs", "a.png"]) == 2
    assert "pictures go to bytes [height, width, 3]" in capsys.readouterr().err
