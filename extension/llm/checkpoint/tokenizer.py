# SPDX-License-Identifier: BSD-3-Clause
"""The tokenizer that a GGUF file carries, as Hugging Face's tokenizer.json and tokenizer_config.json."""

from __future__ import annotations

from typing import Any

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.gguf import GGUFFile

_CONTROL, _USER_DEFINED = 3, 4  # kinds of tokens that text is not split into

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
_QWEN2 = _LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")


def _split(pattern: str) -> dict[str, Any]:
    return {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }


def _bytes(use_regex: bool = False) -> dict[str, Any]:
    return {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


# what `tokenizer.ggml.pre` names: how text is cut before merging
_CUTS: dict[str, list[dict[str, Any]]] = {
    "gpt-2": [_split(_GPT2), _bytes()],
    "default": [_split(_GPT2), _bytes()],
    "smollm": [{"type": "Digits", "individual_digits": True}, _bytes(use_regex=True)],
    "llama-bpe": [_split(_LLAMA3), _bytes()],
    "llama3": [_split(_LLAMA3), _bytes()],
    "smaug-bpe": [_split(_LLAMA3), _bytes()],
    "lfm2": [_split(_LLAMA3), _bytes()],
    "qwen2": [_split(_QWEN2), _bytes()],
}


def tokenizer_json(file: GGUFFile) -> dict[str, Any]:
    """The contents of a tokenizer.json. Raises CheckpointError for a kind that is not byte-level BPE."""
    meta = file.metadata
    kind, cut = meta.get("tokenizer.ggml.model"), meta.get("tokenizer.ggml.pre", "default")
    if kind != "gpt2" or cut not in _CUTS:
        raise CheckpointError(
            f"{file.path}: expected a tokenizer of model 'gpt2' cut as one of {', '.join(_CUTS)}, "
            f"found {kind!r}, {cut!r}"
        )
    tokens, merges = meta["tokenizer.ggml.tokens"], meta["tokenizer.ggml.merges"]
    kinds = meta.get("tokenizer.ggml.token_type", [1] * len(tokens))
    if len(kinds) != len(tokens):
        raise CheckpointError(
            f"{file.path}: {len(tokens)} tokens, and {len(kinds)} kinds of tokens"
        )
    added = [
        {
            "id": number,
            "content": token,
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": kinds[number] == _CONTROL,
        }
        for number, token in enumerate(tokens)
        if kinds[number] in (_CONTROL, _USER_DEFINED)
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": _CUTS[cut]},
        "post_processor": None,
        "decoder": _bytes(use_regex=True),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": cut in ("llama-bpe", "llama3"),
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [pair.split(" ") for pair in merges],
        },
    }


def chat_settings(file: GGUFFile) -> dict[str, Any]:
    """The contents of a tokenizer_config.json: the chat template, and the tokens that it names."""
    meta = file.metadata
    tokens = meta.get("tokenizer.ggml.tokens", [])
    found: dict[str, Any] = {}
    if template := meta.get("tokenizer.chat_template"):
        found["chat_template"] = template
    for name in ("bos_token", "eos_token"):
        number = meta.get(f"tokenizer.ggml.{name}_id")
        if number is not None and number < len(tokens):
            found[name] = tokens[number]
    return found
