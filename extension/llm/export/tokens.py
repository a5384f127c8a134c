# SPDX-License-Identifier: BSD-3-Clause
"""Reads a tokenizer for calibration."""

from __future__ import annotations

from collections.abc import Callable


def read_tokenizer(path: str) -> Callable[[str], list[int]]:
    """A function from text to token ids; reads a tokenizer.json."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(
            "reading a tokenizer.json needs the package tokenizers: pip install 'executorch[llm]'"
        ) from error
    tokenizer = Tokenizer.from_file(path)
    return lambda text: tokenizer.encode(text).ids
