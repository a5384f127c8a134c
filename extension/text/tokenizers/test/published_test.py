# SPDX-License-Identifier: BSD-3-Clause
"""Tokenizers of real models, id for id with the libraries that they are of, and back."""

from __future__ import annotations

import pytest

from executorch.extension.text.tokenizers.test.comparison import compare
from executorch.extension.text.tokenizers.test.published import PUBLISHED

MANY = 12_000  # of each: more than 200,000 texts


@pytest.mark.full
@pytest.mark.req("LLM-034")
@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_tokenizer(name: str) -> None:
    row = PUBLISHED[name]
    found = compare(row.load(row.file()), MANY, seed=len(name))
    assert found.texts == MANY and not found, found
