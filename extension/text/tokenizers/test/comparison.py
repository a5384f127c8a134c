# SPDX-License-Identifier: BSD-3-Clause
"""Counts the texts that a tokenizer and its reference do not see alike."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from executorch.extension.text.tokenizers.test import references
from executorch.extension.text.tokenizers.test.published import Sides

SURROGATES = ("\ud800", "\udfff", "\udc00\ud800", "\ud83d\ude00")  # the last two are a pair


@dataclass
class Differences:
    texts: int = 0
    encoded: int = 0
    decoded: int = 0
    first: str = ""  # a text that differs

    def __bool__(self) -> bool:
        return bool(self.encoded or self.decoded)


def texts(sides: Sides, count: int, seed: int) -> Iterator[str]:
    """Of every ten one with a special token, one with a long run of spaces, one with a broken surrogate."""
    chance = random.Random(seed)
    for number, text in enumerate(references.texts(count, seed)):
        added = ""
        if number % 10 == 0 and sides.special:
            added = chance.choice(sides.special)
        elif number % 10 == 3:
            added = " " * chance.randrange(50, 1500)
        elif number % 10 == 6 and sides.takes_surrogates:
            added = chance.choice(SURROGATES)
        at = chance.randrange(len(text) + 1)
        yield text[:at] + added + text[at:]


def compare(sides: Sides, count: int, seed: int) -> Differences:
    found = Differences()
    for text in texts(sides, count, seed):
        ids = list(sides.encode(text))
        is_same = sides.ours.encode(text) == ids
        if sides.ordinary is not None:
            plain, expected = sides.ordinary
            is_same = is_same and plain.encode(text) == expected(text)
        is_back = sides.our_text(ids) == sides.decode(ids)
        found.texts += 1
        found.encoded += not is_same
        found.decoded += not is_back
        if not (is_same and is_back) and not found.first:
            found.first = repr(text)
    return found
