# SPDX-License-Identifier: BSD-3-Clause
"""Corrupted tokenizer files of every format: no crash, no hang, and no ids where the reference refuses the file."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sentencepiece
import tiktoken
from tokenizers import Tokenizer

import pytorch_tokenizers as ours
from executorch.extension.text.tokenizers.test import references

COUNT = int(os.environ.get("EXECUTORCH_MUTANTS", "100"))
MANY = int(os.environ.get("EXECUTORCH_MUTANTS", "10000"))
SECONDS, BATCH = 20, 200
REFUSED, WRONG, LENIENT = 3, 4, 5
TEXTS = ("Hello, wörld! 12 日本\n\n  the end<s>", "a\x00\U0001f469\u200d\U0001f4bb b" + " " * 30)

Encode = Callable[[str], list[int]]
Load = Callable[[str], Encode]


def hugging_face(path: str) -> Encode:
    made = Tokenizer.from_file(path)
    return lambda text: made.encode(text, add_special_tokens=False).ids


def pieces(path: str) -> Encode:
    return sentencepiece.SentencePieceProcessor(model_file=path).encode


def ranks(path: str) -> Encode:
    rows = (line.split() for line in Path(path).read_bytes().splitlines() if line)
    table = {base64.b64decode(token): int(rank) for token, rank in rows}
    made = references.tiktoken_of(table, references.QWEN, ["<s>", "</s>"])
    return lambda text: made.encode(text, allowed_special="all")


def tekken(path: str) -> Encode:
    tree = json.loads(Path(path).read_text())
    config = tree["config"]
    first = config["default_num_special_tokens"]
    rows = tree["vocab"][: config["default_vocab_size"] - first]
    table = {base64.b64decode(row["token_bytes"]): first + row["rank"] for row in rows}
    made = tiktoken.Encoding(
        "tekken", pat_str=config["pattern"], mergeable_ranks=table, special_tokens={"<s>": 1}
    )
    return lambda text: made.encode(text, allowed_special="all")


def load_with(kind: Callable[[], ours.Tokenizer]) -> Load:
    def load(path: str) -> Encode:
        tokenizer = kind()
        tokenizer.load(path)
        return tokenizer.encode

    return load


def shape(name: str) -> Callable[[Path], Path]:
    return lambda folder: references.SHAPES[name].train(folder)


def sentencepiece_of(kind: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "tokenizer.model"
        references.train_sentencepiece(path, kind, {"byte_fallback": True})
        return path

    return make


def ranks_file(folder: Path) -> Path:
    path = folder / "tokenizer.tiktoken"
    references.write_ranks(references.train_ranks(), path)
    return path


def tekken_file(folder: Path) -> Path:
    path = folder / "tekken.json"
    rows = sorted(references.train_ranks().items(), key=lambda row: row[1])
    vocabulary = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for token, rank in rows
    ]
    config = {
        "pattern": references.QWEN,
        "num_vocab_tokens": len(rows),
        "default_vocab_size": len(rows) + 20,
        "default_num_special_tokens": 20,
        "version": "v3",
    }
    path.write_text(json.dumps({"config": config, "vocab": vocabulary}))
    return path


def llama2c_file(folder: Path) -> Path:
    model = sentencepiece_of("bpe")(folder)
    path = folder / "tokenizer.bin"
    ours.Llama2cTokenizer(str(model)).export(str(path))
    return path


def own_tiktoken() -> ours.Tokenizer:
    return ours.CppTiktoken(references.QWEN, ["<s>", "</s>"], 0, 1)


# name: what makes the file, ours, the reference (Llama2.c's has none that refuses anything)
FORMATS: dict[str, tuple[Callable[[Path], Path], Load, Load | None]] = {
    "byte-level BPE": (shape("qwen"), load_with(ours.CppHFTokenizer), hugging_face),
    "BPE of characters": (shape("llama2"), load_with(ours.CppHFTokenizer), hugging_face),
    "WordPiece": (shape("bert"), load_with(ours.CppHFTokenizer), hugging_face),
    "Unigram": (shape("t5"), load_with(ours.CppHFTokenizer), hugging_face),
    "SentencePiece BPE": (sentencepiece_of("bpe"), load_with(ours.CppSPTokenizer), pieces),
    "SentencePiece unigram": (sentencepiece_of("unigram"), load_with(ours.CppSPTokenizer), pieces),
    "tiktoken": (ranks_file, load_with(own_tiktoken), ranks),
    "Tekken": (tekken_file, load_with(ours.CppTekken), tekken),
    "Llama2.c": (llama2c_file, load_with(ours.CppLlama2cTokenizer), None),
}


def mutants(data: bytes, count: int) -> Iterator[bytes]:
    """Truncated, or with one to four of: a flipped bit, another byte, a run of bytes copied, left out or doubled.
    Half of them are in the first 2,000 or the last 2,000 bytes, where the settings are."""
    chance = random.Random(3)
    for _ in range(count):
        if chance.random() < 0.1:
            yield data[: chance.randrange(len(data))]
            continue
        mutant = bytearray(data)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            size = len(mutant)
            near = chance.randrange(min(2000, size))
            at = chance.choice((near, size - 1 - near, chance.randrange(size)))
            run = chance.choice((1, 2, 4, 16))
            kind = chance.randrange(5)
            if kind == 0:
                mutant[at] ^= 1 << chance.randrange(8)
            elif kind == 1:
                mutant[at] = (
                    chance.choice(b'\x00\xff"0123456789-.eE{}[],:\\ \n') if run < 4 else 0x7F
                )
            elif kind == 2:
                source = chance.randrange(size)
                mutant[at : at + run] = mutant[source : source + run]
            elif kind == 3:
                del mutant[at : at + run]
            else:
                mutant[at:at] = mutant[at : at + run]
        yield bytes(mutant)


def outcome(path: str, load: Load, reference: Load | None, whole: list[list[int]]) -> int:
    try:
        found = [load(path)(text) for text in TEXTS]
    except (RuntimeError, ValueError):
        return REFUSED
    if reference is None or found == whole:
        return 0
    try:
        expected = [list(reference(path)(text)) for text in TEXTS]
    except BaseException:  # pyo3's panics are none of Exception
        return LENIENT
    return 0 if found == expected else WRONG


NAMES = {0: "read", REFUSED: "refused", WRONG: "other ids", LENIENT: "ids of a refused file"}


def verdicts(files: list[Path], judge: Callable[[str], int]) -> list[str]:
    """Of child processes, each of which goes on until a file ends it. A hang must happen twice: a busy machine may
    stall a child once."""
    found: list[str] = []
    while len(found) < len(files):
        found += _verdicts_until_death(files[len(found) :], judge)
        if found[-1] == "hang":
            found[-1:] = _verdicts_until_death(files[len(found) - 1 : len(found)], judge)
    return found


def _verdicts_until_death(files: list[Path], judge: Callable[[str], int]) -> list[str]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        for path in files:
            signal.alarm(SECONDS)
            os.write(writer, bytes([judge(str(path))]))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        found = [NAMES[code] for code in pipe.read()]
    _, status = os.waitpid(child, 0)
    if len(found) < len(files):
        is_alarm = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
        found.append("hang" if is_alarm else "crash")
    return found


@pytest.mark.req("LLM-034")
@pytest.mark.parametrize(
    "count",
    [COUNT, pytest.param(MANY, marks=pytest.mark.full)],
    ids=["sample", "many"],
)
@pytest.mark.parametrize("name", FORMATS)
def test_corrupted_files(name: str, count: int, tmp_path: Path) -> None:
    make, load, reference = FORMATS[name]
    original = make(tmp_path)
    data = original.read_bytes()
    whole = [load(str(original))(text) for text in TEXTS]
    counts: Counter[str] = Counter()
    batch: list[Path] = []

    def judge_batch() -> None:
        found = verdicts(batch, lambda path: outcome(path, load, reference, whole))
        counts.update(found)
        for path, verdict in zip(batch, found):
            if verdict in ("read", "refused"):
                shutil.rmtree(path.parent)
        batch.clear()

    for number, mutant in enumerate(mutants(data, count)):
        batch.append(tmp_path / str(number) / original.name)
        batch[-1].parent.mkdir()
        batch[-1].write_bytes(mutant)
        if len(batch) == BATCH:
            judge_batch()
    judge_batch()
    print(name, dict(counts))
    kept = sorted(path.name for path in tmp_path.iterdir() if path.is_dir())
    assert set(counts) == {"read", "refused"}, (counts, tmp_path, kept[:20])
