# SPDX-License-Identifier: BSD-3-Clause
"""Tokenizers of real models, id for id with the libraries that they are of, and back."""

from __future__ import annotations

import random

import pytest

from executorch.extension.llm.tokenizers.test import references
from executorch.extension.llm.tokenizers.test.published import PUBLISHED

MANY = 12_000  # of each: more than 200,000 texts


@pytest.mark.full
@pytest.mark.req("LLM-034")
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_tokenizer(name: str) -> None:
    row = PUBLISHED[name]
    sides = row.load(row.file())
    chance = random.Random(1)
    for number, text in enumerate(references.texts(MANY, seed=len(name))):
        if sides.special and number % 10 == 0:  # a special token somewhere in it
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(sides.special) + text[at:]
        expected = list(sides.encode(text))
        assert sides.ours.encode(text) == expected, repr(text)
        assert sides.our_text(expected) == sides.decode(expected), repr(text)
