# SPDX-License-Identifier: BSD-3-Clause
"""Ten things that a newcomer wants: each answer is at most two clicks from README.md, along links whose surroundings
speak of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from executorch.test.repository.sources import ROOT

CLICKS = 2
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.M)
INDEX = (
    "docs/guide/README.md"  # whose rows say what each page is for: it may be looked at for anything
)


@dataclass(frozen=True)
class Question:
    """`word`: one of it, which stands where the links are; `answer`: what the section of `page` says."""

    asked: str
    word: str
    page: str
    answer: str

    def __str__(self) -> str:
        return self.asked


QUESTIONS = [
    Question("make my model smaller", "smaller", "docs/guide/quantization.md", "bits"),
    Question("why is it slow", "slow", "docs/guide/debugging.md", "executorch doctor"),
    Question("serve a GGUF", "GGUF", "docs/guide/language_models.md#serve", "executorch serve"),
    Question(
        "which operators are missing", "missing", "docs/guide/debugging.md", "missing operators"
    ),
    Question("how much RAM", "RAM", "docs/guide/microcontrollers.md#how-much-memory", "is RAM"),
    Question(
        "my numbers are wrong",
        "wrong",
        "docs/guide/debugging.md#my-numbers-are-wrong",
        "executorch bisect",
    ),
    Question(
        "run it on a microcontroller",
        "microcontroller",
        "docs/guide/microcontrollers.md#boards",
        "Raspberry Pi Pico 2",
    ),
    Question("add an operator", "operator", "docs/guide/own_operators.md", "torch.library"),
    Question(
        "my model does not export",
        "export",
        "docs/guide/debugging.md#my-model-does-not-export",
        "which line stops it",
    ),
    Question("which backends are there", "backends", "docs/backends.md", "Arm Ethos-U55"),
]


def section(place: str) -> str:
    """The text of a page, or of what stands below the heading of an anchor. KeyError for an anchor without one."""
    page, _, anchor = place.partition("#")
    text = (ROOT / page).read_text()
    if not anchor:
        return text
    parts = re.split(r"^(?=#+ )", text, flags=re.M)
    return {_slug(HEADING.match(part)[1]): part for part in parts if HEADING.match(part)}[anchor]


def _slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def links(page: str) -> Iterator[tuple[str, str]]:
    """Pages, and what stands around each link: the heading of its section, and its paragraph or row."""
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.S | re.M)
    for part in re.split(r"^(?=#+ )", text, flags=re.M):
        heading = part.partition("\n")[0]
        for block in re.split(r"\n(?:\n|(?=\|))", part):
            for target in LINK.findall(block):
                path = (ROOT / page).parent / target.partition("#")[0]
                if path.is_file() and path.suffix == ".md":
                    yield path.resolve().relative_to(ROOT).as_posix(), f"{heading}\n{block}"


def clicks(question: Question) -> int | None:
    """From README.md to the page, along links that speak of it."""
    wanted, here, seen = question.page.partition("#")[0], {"README.md"}, set()
    for count in range(CLICKS + 1):
        if wanted in here:
            return count
        seen |= here
        here = {
            target
            for page in here
            for target, around in links(page)
            if question.word.lower() in around.lower() or target == INDEX
        } - seen
    return None


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_an_answer_is_two_clicks_away(question: Question) -> None:
    assert question.word.lower() in question.asked.lower()
    assert question.answer in section(question.page)
    found = clicks(question)
    print(f"{question}: {question.page}, {found} clicks")
    assert found is not None


def test_other_words_lead_nowhere() -> None:
    """The path is made of links that speak of the question."""
    assert clicks(Question("", "no such word", "docs/guide/wheels.md", "")) is None
