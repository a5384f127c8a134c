# SPDX-License-Identifier: BSD-3-Clause
"""Texts of every kind, and small tokenizers of every shape that the reference libraries train from them."""

from __future__ import annotations

import base64
import io
import itertools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import sentencepiece
import tiktoken
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from executorch.test.e2e.build_tree import ROOT

VOCABULARY = 1500
# What Qwen and others split by.
QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
MORSELS = (
    "'s 'LL <s> </s> ▁ e\u0301 ﬁ ſ İ <0x0A> <unk> <META> [UNK] <|end|> 日本語 हिन्दी 한국어 "
    "the return self. 12345 3.14 https://example.org/?q=1&r=2 == :// \U0001f469\u200d\U0001f4bb"
).split() + ["  ", "\n\n", "\t", " the", " " * 40, "=" * 70, "\r\n  "]
SPACES = " \n\t\r\u00a0\u3000\u180e\u2028\x85\x00"
PLANES = [(0x20, 0x7F), (0x80, 0x3000), (0x3000, 0xD800), (0xE000, 0x10000), (0x10000, 0x110000)]


def documents() -> list[str]:
    """Natural text and code of this tree."""
    paths = [
        *sorted((ROOT / "docs").rglob("*.md"))[:15],
        *sorted((ROOT / "exir").glob("*.py"))[:10],
    ]
    return [path.read_text(encoding="utf-8") for path in paths]


def lines() -> list[str]:
    return [line for text in documents() for line in text.split("\n") if line.strip()]


def texts(count: int, seed: int = 0) -> Iterator[str]:
    """Lines of documents, and mixtures of morsels, white space and characters of all planes."""
    rng = random.Random(seed)
    natural = lines()

    def morsel() -> str:
        kind = rng.random()
        if kind < 0.3:
            return rng.choice(MORSELS)
        if kind < 0.4:
            return rng.choice(SPACES)
        if kind < 0.6:
            return rng.choice(natural)[: rng.randrange(1, 40)]
        return chr(rng.randrange(*rng.choice(PLANES)))

    for _ in range(count):
        if rng.random() < 0.3:
            yield rng.choice(natural)
        else:
            yield "".join(morsel() for _ in range(rng.randrange(1, 50)))


@dataclass(frozen=True)
class Shape:
    """A tokenizer of `tokenizers`, to be trained; `finish` changes it afterwards."""

    model: Callable[[], models.Model]
    trainer: type
    normalizer: normalizers.Normalizer | None = None
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None
    decoder: decoders.Decoder | None = None
    processor: processors.PostProcessor | None = None
    special: tuple[str, ...] = ("<unk>", "<s>", "</s>")
    options: tuple[tuple[str, object], ...] = ()
    added: tuple[AddedToken, ...] = ()

    def train(self, folder: Path) -> Path:
        made = Tokenizer(self.model())
        for part in ("normalizer", "pre_tokenizer", "decoder"):
            if (value := getattr(self, part)) is not None:
                setattr(made, part, value)
        if self.processor is not None:
            made.post_processor = self.processor
        made.add_tokens(list(self.added))
        trainer = self.trainer(
            vocab_size=VOCABULARY,
            special_tokens=list(self.special),
            show_progress=False,
            **dict(self.options),
        )
        made.train_from_iterator(lines(), trainer)
        made.save(str(folder / "tokenizer.json"))
        return folder / "tokenizer.json"


def bpe(**options: object) -> Callable[[], models.Model]:
    return lambda: models.BPE(**options)


N, P, D = normalizers, pre_tokenizers, decoders
BYTES = (("initial_alphabet", P.ByteLevel.alphabet()),)
FALLBACK = ("<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)))
TEMPLATE = processors.TemplateProcessing(
    single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
)
SHAPES = {
    "gpt2": Shape(
        bpe(), trainers.BpeTrainer, None, P.ByteLevel(), D.ByteLevel(), None, ("<|end|>",), BYTES
    ),
    "qwen": Shape(
        bpe(),
        trainers.BpeTrainer,
        N.NFC(),
        P.Sequence([P.Split(Regex(QWEN), "isolated"), P.ByteLevel(False, use_regex=False)]),
        D.ByteLevel(),
        None,
        ("<|end|>",),
        BYTES,
    ),
    "smollm2": Shape(
        bpe(),
        trainers.BpeTrainer,
        None,
        P.Sequence([P.Digits(individual_digits=True), P.ByteLevel(False)]),
        D.ByteLevel(),
        None,
        ("<|end|>", "<META>"),
        BYTES,
    ),
    "claude": Shape(
        bpe(),
        trainers.BpeTrainer,
        N.NFKC(),
        P.ByteLevel(False),
        D.ByteLevel(),
        None,
        ("<META>",),
        BYTES,
    ),
    "llama2": Shape(
        bpe(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
        trainers.BpeTrainer,
        N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")]),
        P.Split("▁", "merged_with_next"),
        D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)]),
        TEMPLATE,
        FALLBACK,
    ),
    "clip": Shape(
        bpe(unk_token="<unk>", end_of_word_suffix="</w>"),
        trainers.BpeTrainer,
        N.Sequence([N.NFD(), N.Lowercase(), N.StripAccents(), N.Strip()]),
        P.Sequence([P.Whitespace(), P.Punctuation(), P.Digits()]),
        D.BPEDecoder(),
        processors.RobertaProcessing(("</s>", 2), ("<s>", 1)),
        options=(("end_of_word_suffix", "</w>"),),
    ),
    "bert": Shape(
        lambda: models.WordPiece(unk_token="<unk>"),
        trainers.WordPieceTrainer,
        N.BertNormalizer(),
        P.BertPreTokenizer(),
        D.WordPiece(),
        processors.BertProcessing(("</s>", 2), ("<s>", 1)),
    ),
    "t5": Shape(
        models.Unigram,
        trainers.UnigramTrainer,
        N.Sequence([N.Nmt(), N.NFKC(), N.Replace(Regex(" {2,}"), " ")]),
        P.Metaspace(),
        D.Metaspace(),
        TEMPLATE,
        options=(("unk_token", "<unk>"),),
    ),
    "words": Shape(
        lambda: models.WordLevel(unk_token="<unk>"),
        trainers.WordLevelTrainer,
        N.NFKD(),
        P.WhitespaceSplit(),
    ),
    "added": Shape(
        bpe(unk_token="<unk>"),
        trainers.BpeTrainer,
        N.Lowercase(),
        P.Metaspace(prepend_scheme="first"),
        D.Metaspace(),
        added=(
            AddedToken("the", lstrip=True, rstrip=True),
            AddedToken("self", single_word=True),
            AddedToken("<META>", rstrip=True),
        ),
    ),
}
for behavior, invert in itertools.product(
    ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"), (False, True)
):
    SHAPES[f"split {behavior}{' inverted' * invert}"] = Shape(
        bpe(unk_token="<unk>"),
        trainers.BpeTrainer,
        None,
        P.Split(Regex(r"[aeiou]|\d+|\s"), behavior, invert),
    )

SENTENCEPIECES = {
    "plain": {},
    "bytes": {"byte_fallback": True, "user_defined_symbols": ["the ", "<META>", "日本"]},
    "as it is": {
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
    },
    "suffix": {"treat_whitespace_as_suffix": True},
    "across words": {"split_by_whitespace": False},
}


def train_sentencepiece(path: Path, kind: str, options: dict[str, object]) -> None:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines()),
        model_writer=model,
        vocab_size=VOCABULARY,
        model_type=kind,
        minloglevel=2,
        **options,
    )
    path.write_bytes(model.getvalue())


def train_ranks() -> dict[bytes, int]:
    """All bytes, then merges in the order in which byte-level BPE learns them: each token's id is its rank."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = P.ByteLevel(add_prefix_space=False)
    made.train_from_iterator(
        lines(),
        trainers.BpeTrainer(
            vocab_size=VOCABULARY, initial_alphabet=P.ByteLevel.alphabet(), show_progress=False
        ),
    )
    bytes_of = {c: bytes([b]) for b, c in enumerate(byte_characters())}
    return {b"".join(bytes_of[c] for c in piece): rank for piece, rank in made.get_vocab().items()}


def byte_characters() -> list[str]:
    """GPT-2's character of each byte: itself where Latin-1 prints it, else U+0100 and on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = itertools.count(0x100)
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def write_ranks(ranks: dict[bytes, int], path: Path) -> None:
    rows = sorted(ranks.items(), key=lambda row: row[1])
    path.write_text("".join(f"{base64.b64encode(t).decode()} {rank}\n" for t, rank in rows))


def tiktoken_of(ranks: dict[bytes, int], pattern: str, special: list[str]) -> tiktoken.Encoding:
    ids = {name: len(ranks) + i for i, name in enumerate(special)}
    return tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=ranks, special_tokens=ids)
