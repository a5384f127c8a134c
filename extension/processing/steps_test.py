# SPDX-License-Identifier: BSD-3-Clause
"""The language of steps, and the table that it reads."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from executorch.extension.processing import modules
from executorch.extension.processing.carried import Carried, carried_by, labeled, labels_of
from executorch.extension.processing.steps import STEPS, Processing, table

BEFORE, AFTER = STEPS


def test_words_become_arguments() -> None:
    steps = Processing(
        "picture 240..1080x320, bgr, resize 256 antialias, crop 224x192, normalize 127/255 0.5",
        "sigmoid, nms 0.5 100 1/4",
    )
    before = {call.step.name: call.arguments for call in steps.calls(BEFORE)}
    assert before == {
        "picture": ((240, 1080), (320, 320)),
        "bgr": (),
        "resize": (256, None, True),
        "crop": (224, 192),
        "normalize": ((127 / 255,), (0.5,)),
    }
    assert [call.arguments for call in steps.calls(AFTER)] == [(), (0.5, 100, 0.25)]
    assert steps.channels == "BGR" and Processing("crop 2").channels == "RGB"
    assert Processing("resize 2x3").calls(BEFORE)[0].arguments == (2, 3, False)


def test_imagenet_is_torchvisions() -> None:
    ((mean, deviation),) = [
        call.arguments for call in Processing("normalize imagenet").calls(BEFORE)
    ]
    assert mean == (0.485, 0.456, 0.406) and deviation == (0.229, 0.224, 0.225)


WRONG = {
    "another word": (BEFORE, "crop 2, resiz 3", "step 2, 'resiz 3': expected one of picture, bgr, .*, found 'resiz'"),
    "nothing between commas": (BEFORE, "crop 2,", "step 2, '': expected one of .*, found nothing"),
    "a step of the other side": (BEFORE, "softmax", "expected one of picture, .*, found 'softmax'"),
    "no number": (BEFORE, "crop two", "crop SIZE: expected a whole number from 1, found 'two'"),
    "no width": (BEFORE, "crop 22x", "crop SIZE: expected a whole number from 1, found ''"),
    "zero": (BEFORE, "resize 0", "a whole number from 1, found '0'"),
    "a word too many": (BEFORE, "crop 2 3", "expected 1 words, found 2: 2 3"),
    "a word that means nothing": (BEFORE, "resize 2 smooth", "expected antialias or nothing, found 'smooth'"),
    "limits upside down": (BEFORE, "picture 9..3", "expected limits from 2 such as 224..1024, found '9..3'"),
    "five numbers": (BEFORE, "normalize 1 2 3 4 5", "a mean and a deviation, or 3 of each, found 5"),
    "an unknown normal": (BEFORE, "normalize cifar", "expected imagenet or numbers, found 'cifar'"),
    "a deviation of zero": (BEFORE, "normalize 0.5 0", "expected deviations above 0"),
    "an order": (BEFORE, "normalize imagenet, crop 2", "expected a picture or pixels before it, found normalized"),
    "bgr too late": (BEFORE, "crop 2, bgr", "expected a picture before it, found pixels, which crop gives"),
    "a picture twice": (BEFORE, "picture 2, picture 3", "expected picture once, found it twice"),
    "behind what chooses": (AFTER, "top 5, softmax", "expected scores or boxes and scores before it, found scores of"),
    "two that choose": (AFTER, "nms 0.5 10, top 5", "found found boxes, which nms gives"),
    "no IoU": (AFTER, "nms 1.5 10", "expected an IoU from 0 to 1, found '1.5'"),
    "no count": (AFTER, "nms 0.5", "expected 2 to 3 words, found 1: 0.5"),
    "a fraction by zero": (AFTER, "nms 1/0 10", "a number such as 0.485 or 127/255, found '1/0'"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_words_are_sentences(name: str) -> None:
    option, text, expected = WRONG[name]
    with pytest.raises(ValueError, match=f"^{option}: .*{expected}"):
        Processing(**{option.removeprefix("--"): text})


@pytest.mark.parametrize("option", STEPS)
def test_each_row_has_a_module_and_a_line(option: str) -> None:
    for step in STEPS[option]:
        assert not step.module or hasattr(modules, step.module)
        assert f"  {step.name} {step.arguments}".rstrip() in table(option)
    assert max(map(len, table(option).splitlines())) <= 120


def test_metadata_goes_and_comes_back() -> None:
    carried = Carried("bgr, crop 2", "top 5", "BGR", 10)
    text = json.dumps({"licence": "BSD", **carried.metadata("encode", ("a", "b"))})
    assert carried_by(text, "encode") == carried and labels_of(text) == ("a", "b")
    assert carried_by(text, "forward") == Carried() == carried_by(None, "forward")
    assert Carried().metadata("forward", ()) == {}


@pytest.mark.parametrize(
    "text", ["no JSON", "[]", '{"processing": 3}', '{"processing": {"forward": {"classes": "x"}}}']
)
def test_metadata_of_others_says_nothing(text: str) -> None:
    assert carried_by(text, "forward") == Carried() and labels_of(text) == ()


def test_labels_go_with_scores() -> None:
    import numpy as np

    text = json.dumps({"labels": ["cat", "dog"]})
    outputs = {"scores": np.array([[0.5, 0.25, 0.0]]), "classes": np.array([[1, 0, -1]])}
    assert labeled(text, outputs) == [("dog", 0.5), ("cat", 0.25)]
    assert labeled("{}", outputs) == [] == labeled(text, {"scores": outputs["scores"]})
    with pytest.raises(ValueError, match="expected a list of texts as the metadata's labels"):
        labeled('{"labels": [1]}', outputs)


def test_the_table_needs_no_torch() -> None:
    code = (
        "import sys\nfrom executorch.extension.processing import Processing, carried_by\n"
        "Processing('crop 2', 'top 5')\nassert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
