# SPDX-License-Identifier: BSD-3-Clause
"""What a language model's program carries beside the network, so that one file is enough: tokenizer, chat template,
settings of generation. Named data of the .pte, each under `llm/` and the name of the checkpoint's file.

    GGUF metadata, or files of a Hugging Face folder -> companions_of() -> .pte -> read_companions() -> chat, serve
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from executorch.extension.llm.checkpoint.errors import CheckpointError
from executorch.extension.llm.checkpoint.gguf import GGUFFile
from executorch.extension.llm.checkpoint.tokenizer import chat_settings, tokenizer_json

TOKENIZERS = ("tokenizer.json", "tokenizer.model", "tekken.json")
NAMES = (
    *TOKENIZERS,
    "tokenizer_config.json",
    "chat_template.jinja",
    "chat_template.json",
    "additional_chat_templates/tool_use.jinja",
    "generation_config.json",
)
_PREFIX = "llm/"
# Names of llama.cpp in `general.sampling.`, and generation_config.json's.
_SAMPLING = {
    "temp": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "penalty_repeat": "repetition_penalty",
}
# ids in a GGUF file's metadata after which a text, a turn or a message ends
_ENDS = ("eos_token_id", "eot_token_id", "eom_token_id")


def companions_of(
    checkpoint: str | None, gguf: GGUFFile | None, tokenizer: str | None
) -> dict[str, bytes]:
    """Contents by the name of a file: the GGUF file's, or those of the checkpoint's folder; `tokenizer`, a file of one
    of these names, in place of the checkpoint's."""
    found = of_gguf(gguf) if gguf is not None else _of_folder(Path(checkpoint or ""))
    if tokenizer and Path(tokenizer).name in NAMES and Path(tokenizer).is_file():
        found = {name: held for name, held in found.items() if name not in TOKENIZERS}
        found[Path(tokenizer).name] = Path(tokenizer).read_bytes()
    return found


def of_gguf(gguf: GGUFFile) -> dict[str, bytes]:
    """Nothing, with the reason printed, where the tokenizer is of a kind that is not read."""
    try:
        contents = tokenizer_json(gguf)
    except CheckpointError as error:
        print(f"no tokenizer.json: {error}")
        return {}
    held = {"tokenizer.json": contents, "tokenizer_config.json": chat_settings(gguf)}
    if sampling := _sampling(gguf):
        held["generation_config.json"] = sampling
    return {
        name: json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode()
        for name, each in held.items()
    }


def _sampling(gguf: GGUFFile) -> dict[str, Any]:
    settings = {
        ours: gguf.metadata.get(f"general.sampling.{name}") for name, ours in _SAMPLING.items()
    }
    return {ours: value for ours, value in settings.items() if value is not None}


def _of_folder(folder: Path) -> dict[str, bytes]:
    if not folder.is_dir():
        return {}
    return {name: (folder / name).read_bytes() for name in NAMES if (folder / name).is_file()}


def stop_tokens(companions: dict[str, bytes], gguf: GGUFFile | None) -> list[int]:
    """Ids that end an answer, as the checkpoint says; the first is the end of a text."""
    if gguf is not None:
        found: list[Any] = [gguf.metadata.get(f"tokenizer.ggml.{name}") for name in _ENDS]
    else:
        settings = json.loads(companions.get("generation_config.json", b"{}"))
        ends = settings.get("eos_token_id")
        found = ends if isinstance(ends, list) else [ends]
    return list(dict.fromkeys(each for each in found if isinstance(each, int)))


def named(companions: dict[str, bytes]) -> dict[str, bytes]:
    return {_PREFIX + name: held for name, held in companions.items()}


def read_companions(program: Path) -> dict[str, bytes]:
    """Those of a program's file, which is mapped; empty where it has none. Raises ValueError for what is no program."""
    from executorch.extension.llm.runner import named_data

    try:
        held = named_data(program, _PREFIX)
    except RuntimeError as error:
        raise ValueError(f"{program}: expected a program: {error}") from error
    return {name: held[name] for name in NAMES if name in held}
