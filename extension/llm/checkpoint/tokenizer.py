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
# llama.cpp's own, of one after the other: what "default" means there
_DEFAULT = (r"[\p{P}\$\+<=>\^~\|]+", _GPT2.removesuffix(r"|\s+"), r"\p{N}+", r"[0-9][0-9][0-9]")


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


_DIGITS = [{"type": "Digits", "individual_digits": True}, _bytes(use_regex=True)]
# what `tokenizer.ggml.pre` names: how text is cut before merging
_CUTS: dict[str, list[dict[str, Any]]] = {
    "gpt-2": [_split(_GPT2), _bytes()],
    "default": [*map(_split, _DEFAULT), _bytes()],
    **dict.fromkeys(("smollm", "refact"), _DIGITS),
    "llama-bpe": [_split(_LLAMA3), _bytes()],
    "llama3": [_split(_LLAMA3), _bytes()],
    "smaug-bpe": [_split(_LLAMA3), _bytes()],
    "lfm2": [_split(_LLAMA3), _bytes()],
    "qwen2": [_split(_QWEN2), _bytes()],
}
# Of files from before there was such a name: what all models of an architecture have. Those of others differ.
_CUT_OF_ARCHITECTURE = {
    "qwen2": "qwen2",
    "qwen3": "qwen2",
    "lfm2": "lfm2",
    "smollm3": "smaug-bpe",
    "granite": "refact",
}
_WHOLE_WORDS = ("llama-bpe", "llama3", "lfm2")  # a word of the vocabulary is never merged of parts


def _cut(file: GGUFFile) -> str:
    name = file.metadata.get("tokenizer.ggml.pre") or _CUT_OF_ARCHITECTURE.get(file.architecture())
    if name is None:
        raise CheckpointError(
            f"{file.path}: metadata lacks tokenizer.ggml.pre, how text is cut, and models of architecture "
            f"{file.architecture()!r} differ in it (llama.cpp warns, and cuts in its own way): convert the checkpoint "
            "once more, or name its tokenizer.json: base.tokenizer_path=FILE"
        )
    return str(name)


def tokenizer_json(file: GGUFFile) -> dict[str, Any]:
    """The contents of a tokenizer.json. Raises CheckpointError for a kind that is not byte-level BPE."""
    meta = file.metadata
    kind = meta.get("tokenizer.ggml.model")
    cut = _cut(file) if kind == "gpt2" else None
    if cut not in _CUTS:
        raise CheckpointError(
            f"{file.path}: expected a tokenizer of model 'gpt2' cut as one of {', '.join(_CUTS)}, "
            f"found {kind!r}, {cut!r}"
        )
    tokens, merges = (meta.get(f"tokenizer.ggml.{name}") for name in ("tokens", "merges"))
    if not tokens or not merges:
        raise CheckpointError(f"{file.path}: metadata lacks tokenizer.ggml.tokens or .merges")
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
            "ignore_merges": cut in _WHOLE_WORDS,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [pair.split(" ") for pair in merges],
        },
    }


# Ids of tokens that a chat template may name, and their names in tokenizer_config.json.
_SPECIAL = {
    "bos_token_id": "bos_token",
    "eos_token_id": "eos_token",
    "unknown_token_id": "unk_token",
    "seperator_token_id": "sep_token",
    "padding_token_id": "pad_token",
    "cls_token_id": "cls_token",
    "mask_token_id": "mask_token",
}
_TEMPLATE = "tokenizer.chat_template"


def chat_settings(file: GGUFFile) -> dict[str, Any]:
    """The contents of a tokenizer_config.json: the chat templates, and the tokens that they name."""
    meta = file.metadata
    tokens = meta.get("tokenizer.ggml.tokens", [])
    found: dict[str, Any] = {}
    templates = {
        key.removeprefix(f"{_TEMPLATE}."): text
        for key, text in meta.items()
        if key.startswith(f"{_TEMPLATE}.")
    }
    if template := meta.get(_TEMPLATE):
        found["chat_template"] = template
    if templates:
        default = {"default": template} if template else {}
        rows = {**default, **templates}.items()
        found["chat_template"] = [{"name": name, "template": text} for name, text in rows]
    for key, name in _SPECIAL.items():
        number = meta.get(f"tokenizer.ggml.{key}")
        if number is not None and number < len(tokens):
            found[name] = tokens[number]
    return found
