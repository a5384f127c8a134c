# SPDX-License-Identifier: BSD-3-Clause
"""python -m executorch.tools.bench.tokenizers [FILE...]: our seconds beside the reference libraries'.

One thread, one run, in turns; the best of several rounds of each. Without files: small vocabularies trained on
this tree's text. A FILE is a tokenizer.json, a SentencePiece .model, or tiktoken ranks with Llama 3's pattern.
"""

from __future__ import annotations

import argparse
import base64
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 5


def seconds(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def in_turns(ours: Callable[[], Any], theirs: Callable[[], Any]) -> tuple[float, float]:
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(ROUNDS)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


def reference_of(path: str) -> Callable[[], tuple[Any, Callable[[str], Any]]]:
    """What loads the file with the library it is of, and encodes with that."""
    import sentencepiece
    import tokenizers

    from executorch.extension.llm.tokenizers.test import references
    from pytorch_tokenizers.constants import CL100K_PAT_STR

    def hugging_face() -> tuple[Any, Callable[[str], Any]]:
        loaded = tokenizers.Tokenizer.from_file(path)
        return loaded, lambda text: loaded.encode(text, add_special_tokens=False)

    def pieces() -> tuple[Any, Callable[[str], Any]]:
        loaded = sentencepiece.SentencePieceProcessor(model_file=path)
        return loaded, loaded.encode

    def ranks() -> tuple[Any, Callable[[str], Any]]:
        rows = (line.split() for line in Path(path).read_bytes().splitlines() if line)
        table = {base64.b64decode(token): int(rank) for token, rank in rows}
        loaded = references.tiktoken_of(table, CL100K_PAT_STR, [])
        return loaded, loaded.encode_ordinary

    if path.endswith(".json"):
        return hugging_face
    head = Path(path).read_bytes()[:64]
    return ranks if head.isascii() and b"\n" in head and b" " in head else pieces


def row(name: str, path: str, documents: list[str]) -> str:
    import pytorch_tokenizers

    load = reference_of(path)
    ours = pytorch_tokenizers.load_tokenizer(path)
    _, theirs = load()
    kind = type(ours)

    def encode(each: Callable[[str], Any]) -> Callable[[], Any]:
        return lambda: [each(text) for text in documents]

    encoded = in_turns(encode(ours.encode), encode(theirs))
    loaded = in_turns(lambda: kind().load(path), load)
    numbers = [f"{a * 1000:9.2f} {b * 1000:9.2f} {a / b:6.2f}" for a, b in (encoded, loaded)]
    return f"{name:24} {numbers[0]}   {numbers[1]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    files = parser.parse_args().files
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from executorch.extension.llm.tokenizers.test import references

    documents = references.documents()
    size = sum(len(text.encode()) for text in documents)
    print(
        f"{len(documents)} documents, {size / 1e6:.2f} MB; milliseconds of ours, theirs, the ratio"
    )
    print(f"{'':24} {'encode':>26}   {'load':>26}")
    with tempfile.TemporaryDirectory() as folder:
        rows = [(Path(file).name, file) for file in files]
        if not rows:
            for name in ("gpt2", "qwen", "smollm2", "llama2", "bert", "t5"):
                place = Path(folder) / name
                place.mkdir()
                rows.append((name, str(references.SHAPES[name].train(place))))
            for kind in ("bpe", "unigram"):
                path = Path(folder) / f"{kind}.model"
                references.train_sentencepiece(path, kind, {})
                rows.append((f"sentencepiece {kind}", str(path)))
            path = Path(folder) / "ranks.tiktoken"
            references.write_ranks(references.train_ranks(), path)
            rows.append(("tiktoken", str(path)))
        for name, path in rows:
            print(row(name, path, documents), flush=True)


if __name__ == "__main__":
    main()
