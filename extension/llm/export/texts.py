# SPDX-License-Identifier: BSD-3-Clause
"""Texts that an export reads: those that weights are rounded and chosen by, and one to predict (`--eval`)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from executorch.extension.llm.export.config.llm_config import LlmConfig, QuantizationConfig
from executorch.extension.llm.formats.weight_bits import BY_TEXT
from executorch.extension.llm.model.likelihood import windows

_LEAST = 128  # tokens that tell how inputs of a layer are tied together
_LONGEST = 256  # tokens of a piece: gradients of all layers are held at once
_CHARACTERS = 40_000  # of the manual: about ten thousand tokens


def manual() -> str:
    """The manual that Python ships, its topics in alphabetical order."""
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


def read_tokenizer(
    path: str | None, contents: dict[str, Any] | None = None
) -> Callable[[str], list[int]]:
    """A function from text to token ids, of a tokenizer.json or of such a file's contents."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(
            "reading a tokenizer.json needs the package tokenizers: pip install tokenizers"
        ) from error
    if contents is not None:
        tokenizer = Tokenizer.from_str(json.dumps(contents))
    else:
        tokenizer = Tokenizer.from_file(path)
    return lambda text: tokenizer.encode(text).ids


def encoder(config: LlmConfig, beside: dict[str, bytes], what: str) -> Callable[[str], list[int]]:
    """The config's tokenizer, or the checkpoint's own among the files `beside` it."""
    path, own = config.base.tokenizer_path, beside.get("tokenizer.json")
    if path is None and own is None:
        raise ValueError(f"{what} needs base.tokenizer_path, a tokenizer.json")
    return read_tokenizer(path, None if path else json.loads(own or b""))


def pieces(config: LlmConfig, beside: dict[str, bytes]) -> list[torch.Tensor]:
    """Tokens (1, n) of quantization.calibration_data, a text or a file with one, no longer than calls are; without it
    the end of manual(). None where neither rounding nor a choice of weights is by a text."""
    asked = config.quantization
    if asked.budget is None and not (asked.qmode or "").endswith(BY_TEXT):
        return []
    what = f"quantization.{'budget' if asked.budget else 'qmode'}={asked.budget or asked.qmode}"
    given = asked.calibration_data
    if given == QuantizationConfig.calibration_data:
        text = manual()[-_CHARACTERS:]
    else:
        is_file = len(given) < 256 and Path(given).is_file()
        text = Path(given).read_text(encoding="utf-8") if is_file else given
    tokens = encoder(config, beside, what)(text)[: asked.calibration_seq_length]
    if len(tokens) < _LEAST:
        raise ValueError(
            f"{what}: expected a text of {_LEAST} tokens or more, or a file with one, as "
            f"quantization.calibration_data, found {len(tokens)} tokens"
        )
    return list(windows(tokens, min(_LONGEST, max(2, config.export.max_seq_length - 1))))
