# SPDX-License-Identifier: BSD-3-Clause
"""Reads a tokenizer for calibration and evaluation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def read_tokenizer(
    path: str | None, contents: dict[str, Any] | None = None
) -> Callable[[str], list[int]]:
    """A function from text to token ids, of a tokenizer.json or of such a file's contents."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(
            "reading a tokenizer.json needs the package tokenizers: pip install 'executorch[llm]'"
        ) from error
    if contents is not None:
        tokenizer = Tokenizer.from_str(json.dumps(contents))
    else:
        tokenizer = Tokenizer.from_file(path)
    return lambda text: tokenizer.encode(text).ids
