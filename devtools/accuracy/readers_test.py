# SPDX-License-Identifier: BSD-3-Clause
"""Samples of files: what they become, and the sentences of those that do not fit."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest
import torch

from executorch.devtools.accuracy.data import Data, slots_of_examples
from executorch.devtools.accuracy.readers import Reading, read

PICTURE = [torch.zeros(1, 3, 4, 4)]


def _read(path: Path, *inputs: torch.Tensor, is_open: bool = False, **how: object) -> Data:
    return read(path, slots_of_examples(inputs, (), is_open), Reading(**how))


def _saved(path: Path, **arrays: np.ndarray) -> Path:
    np.savez(path, **arrays)
    return path


@pytest.mark.parametrize("sizes", [(6, 1, 2), (6, 2)])
def test_rows_are_samples(tmp_path: Path, sizes: tuple[int, ...]) -> None:
    rows = np.arange(12, dtype=np.float32).reshape(sizes)
    path = _saved(tmp_path / "a.npz", arr_0=rows, label=np.arange(6), target=rows + 1)
    data = _read(path, torch.zeros(1, 2))
    assert (len(data), data.kind, data.has_labels, data.has_values) == (6, "arrays", True, True)
    sample = data.sample(4)
    assert sample.inputs[0].tolist() == [[8, 9]]
    assert sample.target.labels.tolist() == [4]
    assert sample.target.values[0].reshape(-1).tolist() == [9, 10]


def test_arrays_of_one_call_are_one_sample(tmp_path: Path) -> None:
    _saved(tmp_path / "b.npz", x=np.ones((4, 2)), label=np.arange(4))
    (sample,) = read(tmp_path, slots_of_examples([torch.zeros(4, 2)], ["x"], False))
    assert sample.inputs[0].shape == (4, 2) and sample.target.labels.tolist() == [0, 1, 2, 3]
    assert sample.inputs[0].dtype == np.float32


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"arr_0": np.zeros((5, 3), np.float32)}, r"a.npz\[0\]: .*expected size 2 .*found 3"),
        ({"arr_0": np.zeros((5, 2), np.uint8)}, "input 0: expected float32, found uint8"),
        ({"image": np.zeros((5, 2), np.float32)}, "expected an array arr_0 .*found image"),
        ({"arr_0": np.zeros((5, 2)), "arr_1": np.zeros(5)}, "arrays for 1 input, .*found arr_1"),
        ({"arr_0": np.zeros((5, 2)), "label": np.zeros(4)}, "a label for each of 5 samples"),
        ({"arr_0": np.zeros((0, 2))}, "expected a sample or more, found none"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path: Path, arrays: dict, message: str) -> None:
    path = _saved(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        list(_read(path, torch.zeros(1, 2)))


def test_folders_of_known_classes_have_their_numbers(tmp_path: Path) -> None:
    for name in ("cat", "emu"):
        (tmp_path / name).mkdir()
        with wave.open(str(tmp_path / name / "a.wav"), "wb") as file:
            file.setparams((1, 2, 16000, 4, "NONE", ""))
            file.writeframes(bytes(8))
    for classes, wanted in ((("emu", "dog", "cat"), [2, 0]), (("emu", "dog"), [0, 1])):
        data = _read(tmp_path, torch.zeros(1, 4), classes=classes)
        assert [int(sample.target.labels[0]) for sample in data] == wanted


def test_folders_that_have_no_data(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"expected arrays \(.npz\), .*found no files"):
        _read(tmp_path, *PICTURE)
    (tmp_path / "notes.md").write_text("none")
    with pytest.raises(ValueError, match=r"found notes.md"):
        _read(tmp_path, *PICTURE)
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        _read(tmp_path / "other", *PICTURE)


def test_pictures_in_folders_have_labels(tmp_path: Path) -> None:
    """The middle square, scaled to 4 x 4; (255 / 255 - 0.5) / 0.25 is 2."""
    image = pytest.importorskip("PIL.Image", reason="pillow is an extra")
    for name, colour in (("cat", (255, 0, 0)), ("dog", (0, 255, 0))):
        (tmp_path / name).mkdir()
        image.new("RGB", (16, 8), colour).save(tmp_path / name / "a.png")
    data = _read(tmp_path, *PICTURE, mean=(0.5,), std=(0.25,))
    cat, dog = data
    assert (data.kind, cat.target.labels.tolist(), dog.target.labels.tolist()) == (
        "pictures",
        [0],
        [1],
    )
    assert cat.inputs[0].shape == (1, 3, 4, 4) and cat.inputs[0].dtype == np.float32
    assert cat.inputs[0][0, :, 2, 2].tolist() == [2, -2, -2]
    last = _read(tmp_path, torch.zeros(1, 4, 4, 3, dtype=torch.uint8)).sample(1)
    assert last.inputs[0][0, 1, 1].tolist() == [0, 255, 0] and last.inputs[0].dtype == np.uint8
    (tmp_path / "labels.txt").write_text("bird\ndog\ncat\n")
    assert [each.target.labels[0] for each in _read(tmp_path, *PICTURE)] == [2, 1]
    with pytest.raises(ValueError, match="1 or 3 channels by height by width, found 1x7"):
        list(_read(tmp_path, torch.zeros(1, 7)))


def test_sounds_are_cut_to_pieces(tmp_path: Path) -> None:
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(np.array([0, 8192, 16384, -32768, 9], "<i2").tobytes())
    first, second = _read(tmp_path, torch.zeros(1, 2))
    assert first.inputs[0].tolist() == [[0, 0.25]] and second.inputs[0].tolist() == [[0.5, -1]]


def test_texts_are_followed_by_their_tokens(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("abcdefg")
    tokens = torch.zeros(1, 3, dtype=torch.int64)
    data = _read(tmp_path, tokens, tokenizer=lambda text: [ord(each) - 97 for each in text])
    assert [each.inputs[0].tolist() for each in data] == [[[0, 1, 2]], [[3, 4, 5]]]
    assert [each.target.labels.tolist() for each in data] == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(ValueError, match="--tokenizer"):
        _read(tmp_path, tokens)


def test_parts_share_nothing_and_are_drawn_alike(tmp_path: Path) -> None:
    data = _read(_saved(tmp_path / "a.npz", arr_0=np.zeros((9, 2))), torch.zeros(1, 2))
    some, others = ([each.name for each in part.entries] for part in data.parts(0.5, 3))
    assert (len(some), len(others), set(some) & set(others)) == (3, 6, set())
    assert [each.name for each in data.parts(0.5, 3)[0].entries] == some
    with pytest.raises(ValueError, match="expected two samples or more"):
        data.part([0]).parts(0.5, 3)


def test_samples_of_a_file_stay_together(tmp_path: Path) -> None:
    """Six files of four rows: three files choose, three measure; of three files rows are drawn alone."""
    for number in range(6):
        _saved(tmp_path / f"{number}.npz", arr_0=np.zeros((4, 2)))
    data = _read(tmp_path, torch.zeros(1, 2))
    some, others = data.parts(0.5, 128)
    assert (len(some), len(others)) == (12, 12)
    assert len(set(some.groups)) == len(set(others.groups)) == 3
    assert not set(some.groups) & set(others.groups)
    some, others = data.parts(0.5, 10)
    assert (len(some), len(set(some.groups)), len(others)) == (8, 2, 16)
    for number in range(3):
        (tmp_path / f"{number}.npz").unlink()
    data = _read(tmp_path, torch.zeros(1, 2))
    assert len(set(data.groups)) == 12


def test_a_file_larger_than_its_part_is_cut(tmp_path: Path) -> None:
    for number in range(4):
        _saved(tmp_path / f"{number}.npz", arr_0=np.zeros((40, 2)))
    some, others = _read(tmp_path, torch.zeros(1, 2)).parts(0.5, 30)
    assert (len(some), len(set(some.groups)), len(others)) == (30, 1, 120)
