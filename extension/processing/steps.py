# SPDX-License-Identifier: BSD-3-Clause
"""The steps that a program may have before and after its model, and the language that names them: steps with a comma
between, words with a space. PyTorch is imported by modules.py alone."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

Words = Sequence[str]
T = TypeVar("T")

# What a step takes and gives.
PICTURE, PIXELS, FLOATS = "a picture", "pixels", "normalized pixels"
SCORES, BOXES, CLASSES, FOUND = "scores", "boxes and scores", "scores of classes", "found boxes"
# Of a short side that steps resize or crop: the largest side where `picture` says none.
LARGEST, TIMES = 1024, 4
_WIDTH, _COLUMN = 120, 30  # of the printed table
NORMALS = {"imagenet": ("0.485", "0.456", "0.406", "0.229", "0.224", "0.225")}


# ---- Arguments ----


def _whole(word: str, least: int = 1) -> int:
    if not word.isdecimal() or int(word) < least:
        raise ValueError(f"expected a whole number from {least}, found {word!r}")
    return int(word)


def _number(word: str) -> float:
    try:
        return float(Fraction(word))
    except (ValueError, ZeroDivisionError):
        raise ValueError(f"expected a number such as 0.485 or 127/255, found {word!r}") from None


def _count(words: Words, least: int, most: int) -> None:
    if not least <= len(words) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise ValueError(
            f"expected {wanted} words, found {len(words)}: {' '.join(words) or 'none'}"
        )


def _sides(word: str, read: Callable[[str], T]) -> tuple[T, T]:
    """224 or 224x320, height first."""
    height, times, width = word.partition("x")
    return read(height), read(width if times else height)


def _nothing(words: Words) -> tuple[()]:
    _count(words, 0, 0)
    return ()


def _limits(word: str) -> tuple[int, int]:
    """480 or 224..1024."""
    least, dots, most = word.partition("..")
    found = _whole(least), _whole(most if dots else least)
    if found[0] > found[1] or (found[0] < found[1] and found[0] < 2):
        raise ValueError(f"expected limits from 2 such as 224..1024, found {word!r}")
    return found


def _picture(words: Words) -> tuple[tuple[int, int], tuple[int, int]]:
    _count(words, 1, 1)
    return _sides(words[0], _limits)


def _resize(words: Words) -> tuple[int, int | None, bool]:
    """Height, width (None: of the short side), whether antialiased."""
    _count(words, 1, 2)
    if words[1:] not in ([], ["antialias"]):
        raise ValueError(f"expected antialias or nothing, found {words[1]!r}")
    height, width = _sides(words[0], _whole)
    return height, width if "x" in words[0] else None, len(words) > 1


def _crop(words: Words) -> tuple[int, int]:
    _count(words, 1, 1)
    return _sides(words[0], _whole)


def _normalize(words: Words) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Means and standard deviations."""
    if len(words) == 1:
        if words[0] not in NORMALS:
            raise ValueError(f"expected {', '.join(NORMALS)} or numbers, found {words[0]!r}")
        words = NORMALS[words[0]]
    if len(words) not in (2, 6):
        raise ValueError(
            f"expected a mean and a deviation, or 3 of each, found {len(words)} numbers"
        )
    numbers = tuple(map(_number, words))
    half = len(numbers) // 2
    if not all(each > 0 for each in numbers[half:]):
        raise ValueError(f"expected deviations above 0, found {' '.join(words[half:])}")
    return numbers[:half], numbers[half:]


def _top(words: Words) -> tuple[int]:
    _count(words, 1, 1)
    return (_whole(words[0]),)


def _nms(words: Words) -> tuple[float, int, float | None]:
    """IoU, boxes at most, and the score that is too low."""
    _count(words, 2, 3)
    iou = _number(words[0])
    if not 0 <= iou <= 1:
        raise ValueError(f"expected an IoU from 0 to 1, found {words[0]!r}")
    return iou, _whole(words[1]), _number(words[2]) if len(words) > 2 else None


# ---- The table ----


@dataclass(frozen=True)
class Step:
    """`arguments`: as help shows them; `needs`: any of these; `gives`: "" for what it was given; `read`: words -> the
    arguments of the module of modules.py whose name is `module`; "" for what is no step of the arithmetic."""

    name: str
    arguments: str
    needs: tuple[str, ...]
    gives: str
    what: str
    read: Callable[[Words], tuple[Any, ...]]
    module: str


BEFORE = (
    Step("picture", "SIZES", (PICTURE,), "",
         "its sizes: 480x640, 224..1024 (each side), 240..1080x320..1920; default: the model's, or with resize or crop "
         f"from the model's to {LARGEST}", _picture, ""),
    Step("bgr", "", (PICTURE,), "", "blue comes first in the picture; the model gets red first", _nothing, "Flip"),
    Step("resize", "SIZE [antialias]", (PICTURE, PIXELS), PIXELS,
         "bilinear: 256 is the short side, 224x320 height and width", _resize, "Resize"),
    Step("crop", "SIZE", (PICTURE, PIXELS), PIXELS, "the middle: 224, or 224x320", _crop, "Crop"),
    Step("normalize", "MEANS DEVIATIONS", (PICTURE, PIXELS), FLOATS,
         "(pixel / 255 - mean) / deviation, by channel: imagenet, 0.5 0.5, or 6 numbers; 127/255 is one; without it "
         "pixels are from 0 to 1", _normalize, "Normalize"),
)  # fmt: skip
AFTER = (
    Step("softmax", "", (SCORES, BOXES), "", "of each row of classes", _nothing, "Softmax"),
    Step("sigmoid", "", (SCORES, BOXES), "", "of each score", _nothing, "Sigmoid"),
    Step("top", "COUNT", (SCORES,), CLASSES,
         "the largest scores, and their classes: outputs `scores` and `classes`", _top, "Top"),
    Step("nms", "IOU COUNT [SCORE]", (BOXES,), FOUND,
         "of outputs boxes [1, n, 4] (x1 y1 x2 y2) and scores [1, n, classes]: the best boxes of each class that "
         "overlap no better one by more than IOU, and score above SCORE; `boxes`, `scores`, `classes` (-1: none)",
         _nms, "Nms"),
)  # fmt: skip
STEPS = {"--preprocess": BEFORE, "--postprocess": AFTER}


def table(option: str) -> str:
    """For --help."""
    lines = []
    for each in STEPS[option]:
        head = f"  {each.name} {each.arguments}".rstrip()
        what = textwrap.wrap(each.what, _WIDTH - _COLUMN)
        lines += [f"{head.ljust(_COLUMN)}{what[0]}", *(" " * _COLUMN + more for more in what[1:])]
    return "\n".join(lines)


@dataclass(frozen=True)
class Call:
    step: Step
    arguments: tuple[Any, ...]


def read(option: str, text: str) -> tuple[list[Call], set[str]]:
    """The steps, and what the first of them may be given. ValueError with the step and the words that are allowed."""
    kinds = {PICTURE} if option == "--preprocess" else {SCORES, BOXES}
    first, calls, giver = set(kinds), [], ""
    parts = [part.split() for part in text.split(",")] if text else []
    for number, words in enumerate(parts, 1):
        where = f"{option}: step {number}, {' '.join(words)!r}"
        step = next((each for each in STEPS[option] if words[:1] == [each.name]), None)
        if step is None:
            names = ", ".join(each.name for each in STEPS[option])
            found = repr(words[0]) if words else "nothing"
            raise ValueError(f"{where}: expected one of {names}, found {found}")
        try:
            calls.append(Call(step, step.read(words[1:])))
        except ValueError as problem:
            raise ValueError(f"{where}: {step.name} {step.arguments}: {problem}") from None
        if not kinds & set(step.needs):
            raise ValueError(
                f"{where}: expected {' or '.join(step.needs)} before it, found {' or '.join(sorted(kinds))}, which "
                f"{giver} gives"
            )
        kinds &= set(step.needs)
        if len(first) > 1:
            first = set(kinds)
        if step.gives:
            kinds, giver = {step.gives}, step.name
    for name in ("picture", "bgr"):
        if sum(call.step.name == name for call in calls) > 1:
            raise ValueError(f"{option}: expected {name} once, found it twice")
    return calls, first


@dataclass(frozen=True)
class Processing:
    """What stands before and after a model; `labels`: of its classes, in order. ValueError for what the language has
    not."""

    preprocess: str = ""
    postprocess: str = ""
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))
        read("--preprocess", self.preprocess)
        read("--postprocess", self.postprocess)

    def __bool__(self) -> bool:
        return bool(self.preprocess or self.postprocess or self.labels)

    def calls(self, option: str) -> list[Call]:
        return read(option, self.preprocess if option == "--preprocess" else self.postprocess)[0]

    @property
    def channels(self) -> str:
        """In which order a picture has them; "" without preprocessing."""
        is_bgr = any(each.step.name == "bgr" for each in self.calls("--preprocess"))
        return ("BGR" if is_bgr else "RGB") if self.preprocess else ""
