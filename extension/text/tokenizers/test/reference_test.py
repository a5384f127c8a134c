# SPDX-License-Identifier: BSD-3-Clause
"""Id for id with the reference libraries, and back: `tokenizers`, `sentencepiece`, `tiktoken`."""

from __future__ import annotations

import base64
import json
import random
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import sentencepiece
from tokenizers import Tokenizer

import pytorch_tokenizers as ours
from executorch.extension.text.tokenizers.test import references

SAMPLE = 400  # of each shape in every run
MANY = 12_000  # of each shape in a full run: more than 300,000 texts

many = pytest.mark.parametrize(
    "count", [SAMPLE, pytest.param(MANY, marks=pytest.mark.full)], ids=["sample", "many"]
)

Ids = Sequence[int]


def compare(
    count: int,
    encode: Callable[[str], Ids],
    expected: Callable[[str], Ids],
    decode: Callable[[list[int]], str],
    expected_text: Callable[[list[int]], str],
) -> None:
    for text in references.texts(count):
        ids = list(expected(text))
        assert encode(text) == ids, repr(text)
        assert decode(ids) == expected_text(ids), repr(text)


@many
@pytest.mark.req("LLM-034", "LLM-019")
@pytest.mark.parametrize("name", references.SHAPES)
def test_tokenizer_json(name: str, count: int, tmp_path: Path) -> None:
    path = str(references.SHAPES[name].train(tmp_path))
    tokenizer, reference = ours.CppHFTokenizer(), Tokenizer.from_file(path)
    tokenizer.load(path)
    assert tokenizer.vocab_size() == reference.get_vocab_size()
    compare(
        count,
        tokenizer.encode,
        lambda text: reference.encode(text, add_special_tokens=False).ids,
        tokenizer.decode_batch,
        lambda ids: reference.decode(ids, skip_special_tokens=False),
    )
    for text in references.texts(100, seed=1):
        ids = reference.encode(text).ids
        assert tokenizer.encode(text, bos=1) == ids
        assert tokenizer.decode_batch(ids, skip_special_tokens=True) == reference.decode(ids)


@pytest.mark.req("LLM-034")
@pytest.mark.parametrize(
    "text", ["a<0x9C>b", "ꏪ<0x9C>", "<0xE0><0xA4>", "ि<0xFF> ꏪ", "<0xC3><0xA9>"]
)
def test_bytes_that_are_no_character(text: str, tmp_path: Path) -> None:
    """Each of a run's bytes becomes U+FFFD where the run is not UTF-8; a stream has them as they come."""
    path = str(references.SHAPES["llama2"].train(tmp_path))
    tokenizer, reference = ours.CppHFTokenizer(), Tokenizer.from_file(path)
    tokenizer.load(path)
    ids = reference.encode(text, add_special_tokens=False).ids
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode_batch(ids) == reference.decode(ids, skip_special_tokens=False)


def characters_json(**parts: object) -> str:
    """A tokenizer of the characters in EMPTY_TEXTS."""
    vocabulary = {"<unk>": 0, "_": 1}
    for character in sorted(set("".join(EMPTY_TEXTS))):
        vocabulary.setdefault(character, len(vocabulary))
    model = {"type": "BPE", "vocab": vocabulary, "merges": [], "unk_token": "<unk>"}
    return json.dumps({"version": "1.0", "added_tokens": [], "model": model, **parts})


EMPTY_TEXTS = ("Hello", "a  b", "xxaxx", " {2, aé", "aé\U0001f469a", "x", "")
BEHAVIORS = ("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")


@pytest.mark.req("LLM-034")
@pytest.mark.parametrize("pattern", [" {2,|", "|", " *", "x*", "a|", "(?=a)", r"\b", "$", "x*|a"])
def test_patterns_that_match_empty_texts(pattern: str, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    regex = {"Regex": pattern}
    replace = {"type": "Replace", "pattern": regex, "content": "_"}
    mark = {"type": "Prepend", "prepend": "_"}
    splits = [
        {"type": "Split", "pattern": regex, "behavior": behavior, "invert": invert}
        for behavior in BEHAVIORS
        for invert in (False, True)
    ]
    metaspace = {
        "type": "Metaspace",
        "replacement": "_",
        "prepend_scheme": "always",
        "split": False,
    }
    cases = [{"normalizer": replace}, {"normalizer": mark, "decoder": replace}]
    cases += [
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, metaspace]}}
        for split in splits
    ]
    for case in cases:
        path.write_text(characters_json(**case))
        tokenizer, reference = ours.CppHFTokenizer(), Tokenizer.from_file(str(path))
        tokenizer.load(str(path))
        for text in EMPTY_TEXTS:
            ids = reference.encode(text).ids
            assert tokenizer.encode(text) == ids, (case, text)
            assert tokenizer.decode_batch(ids) == reference.decode(ids), (case, text)


@many
@pytest.mark.req("LLM-034")
@pytest.mark.parametrize("kind", ["bpe", "unigram"])
@pytest.mark.parametrize("options", references.SENTENCEPIECES)
def test_sentencepiece(kind: str, options: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.model"
    references.train_sentencepiece(path, kind, references.SENTENCEPIECES[options])
    tokenizer = ours.CppSPTokenizer()
    tokenizer.load(str(path))
    reference = sentencepiece.SentencePieceProcessor(model_file=str(path))
    assert (tokenizer.bos_tok(), tokenizer.eos_tok()) == (reference.bos_id(), reference.eos_id())
    compare(count, tokenizer.encode, reference.encode, tokenizer.decode_batch, reference.decode)


def message(number: int, content: bytes) -> bytes:
    """A field of protobuf's, of fewer than 128 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


def piece(text: str, score: float, kind: int = 1) -> bytes:
    number = b"\x15" + struct.pack("<f", score)
    return message(1, message(1, text.encode()) + number + bytes([3 << 3, kind]))


def of_pieces(
    rows: Sequence[bytes], kind: int, folder: Path
) -> tuple[ours.CppSPTokenizer, sentencepiece.SentencePieceProcessor]:
    """A model of pieces, 1: Unigram, 2: BPE, that changes no text ahead of them; loaded by both."""
    path = folder / "tokenizer.model"
    plain = message(3, message(1, b"identity") + bytes([3 << 3, 0, 4 << 3, 0]))
    path.write_bytes(b"".join(rows) + message(2, bytes([3 << 3, kind])) + plain)
    tokenizer = ours.CppSPTokenizer()
    tokenizer.load(str(path))
    return tokenizer, sentencepiece.SentencePieceProcessor(model_file=str(path))


def test_a_users_own_piece_wins_as_in_the_reference(tmp_path: Path) -> None:
    """Whatever the scores are; what ties is cut as there."""

    scores = {"▁": -2.171676, "▁▁": -4.343353, "▁▁▁▁": -8.686706, "a": -3.1, "aX": -0.5}
    for own, score in (("X", 0.0), ("Xa", -9.0), ("X▁", 4.0)):
        rows = [piece("<unk>", 0, 2), *(piece(text, value) for text, value in scores.items())]
        rows.append(piece(own, score, 4))
        tokenizer, reference = of_pieces(rows, 1, tmp_path)
        chance = random.Random(2)
        for _ in range(300):
            text = "".join(chance.choice("aX   ?") for _ in range(chance.randrange(60)))
            assert tokenizer.encode(text) == reference.encode(text), (own, text)


@pytest.mark.parametrize("unused", [(), ("▁ab",), ("ab", "▁ab")])
@pytest.mark.parametrize("across", [(), ("b▁",), ("▁ab▁a", "b▁a"), ("a\u0301▁",)])
def test_merges_within_and_across_words(
    unused: tuple[str, ...], across: tuple[str, ...], tmp_path: Path
) -> None:
    """Words are merged one by one where no piece goes on behind a word, and none is taken apart again."""
    texts = ("▁", "a", "b", "ab", "▁▁", "▁a", "▁ab", "ba", "abab", "▁abab", *across)
    rows = [piece("<unk>", 0, 2)]
    rows += [piece(text, -float(i), 5 if text in unused else 1) for i, text in enumerate(texts)]
    tokenizer, reference = of_pieces(rows, 2, tmp_path)
    chance = random.Random(4)
    for _ in range(300):
        text = "".join(chance.choice("aabb  \u0301c") for _ in range(chance.randrange(90)))
        assert tokenizer.encode(text) == reference.encode(text), text


@many
@pytest.mark.req("LLM-034")
def test_tiktoken(count: int, tmp_path: Path) -> None:
    ranks, path = references.train_ranks(), tmp_path / "tokenizer.tiktoken"
    references.write_ranks(ranks, path)
    special = ["<s>", "</s>", "<META>"]
    tokenizer = ours.CppTiktoken(references.QWEN, special, 0, 1)
    tokenizer.load(str(path))
    reference = references.tiktoken_of(ranks, references.QWEN, special)
    compare(
        count,
        tokenizer.encode,
        lambda text: reference.encode(text, allowed_special="all"),
        lambda ids: b"".join(map(tokenizer.id_to_piece, ids)).decode("utf-8", "replace"),
        reference.decode,
    )
    python = ours.TiktokenTokenizer(str(path), references.QWEN, special)
    ids = python.encode("a<META>b", bos=True, eos=True)
    assert ids == reference.encode("<s>a<META>b</s>", allowed_special="all")
    assert python.decode(ids) == "<s>a<META>b</s>"
    assert python.decode(ids, skip_special_tokens=True) == "ab"
    for broken in ("a\ud800b", "\udc00", "\ud83d\ude00", "x\ud83d"):
        assert tokenizer.encode(broken) == reference.encode(broken)


def test_tekken_is_ranks_behind_special_tokens(tmp_path: Path) -> None:
    ranks, path = references.train_ranks(), tmp_path / "tekken.json"
    vocabulary = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for token, rank in sorted(ranks.items(), key=lambda row: row[1])
    ]
    config = {
        "pattern": references.QWEN,
        "num_vocab_tokens": len(ranks),
        "default_vocab_size": len(ranks) + 20,
        "default_num_special_tokens": 20,
        "version": "v3",
    }
    path.write_text(json.dumps({"config": config, "vocab": vocabulary}))
    tokenizer = ours.load_tokenizer(str(path))
    reference = references.tiktoken_of(ranks, references.QWEN, [])
    special = ("<unk>", "<s>", "</s>", "[INST]", "<pad>")
    for text in references.texts(SAMPLE):
        if not any(name in text for name in special):
            assert tokenizer.encode(text) == [20 + i for i in reference.encode_ordinary(text)]


def test_every_character_as_the_reference_has_it(tmp_path: Path) -> None:
    """Its normal forms, marks and punctuation are of older versions of Unicode than its letters."""
    from tokenizers import models, normalizers, pre_tokenizers

    # Of the higher planes only 14 has characters with properties of their own, beside ideographs.
    codes = [
        *range(1, 0xD800),
        *range(0xE000, 0x20000),
        *range(0x2F800, 0x2FA20),
        *range(0xE0000, 0xE0200),
    ]
    characters = [chr(code) for code in codes]
    # Marks of the lowest and the highest combining class on both sides show whether a character moves.
    texts = [
        "".join(f"a\u0345{c}\u0334" for c in characters[i : i + 4000])
        for i in range(0, len(characters), 4000)
    ]
    chains = [
        [normalizers.NFD()],
        [normalizers.NFKC(), normalizers.Lowercase()],
        [normalizers.NFKD(), normalizers.StripAccents()],
        [normalizers.BertNormalizer()],
    ]
    for number, chain in enumerate(chains):
        made = Tokenizer(models.BPE({c: i for i, c in enumerate(references.byte_characters())}, []))
        made.normalizer = normalizers.Sequence(chain)
        made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        path = str(tmp_path / f"{number}.json")
        made.save(path)
        tokenizer = ours.load_tokenizer(path)
        for text in texts:
            expected = made.encode(text).ids
            got = tokenizer.encode(text)
            if got != expected:
                at = next(i for i, (a, b) in enumerate(zip(got, expected)) if a != b)
                near = bytes(got[at - 6 : at + 6]), bytes(expected[at - 6 : at + 6])
                raise AssertionError(f"{chain}: {near}")


def test_a_stream_gives_whole_characters(tmp_path: Path) -> None:
    path = str(references.SHAPES["gpt2"].train(tmp_path))
    tokenizer = ours.load_tokenizer(path)
    for text in references.texts(100):
        stream = ours.StreamDecoder(tokenizer)
        parts = [stream.push(token) for token in tokenizer.encode(text)]
        assert "".join(parts) == tokenizer.decode_batch(tokenizer.encode(text))
        assert stream.finish() == ""


@pytest.mark.req("PY-012", "LLM-019")
def test_the_documented_classes(tmp_path: Path) -> None:
    path = str(references.SHAPES["llama2"].train(tmp_path))
    tokenizer, reference = ours.get_tokenizer(path), Tokenizer.from_file(path)
    assert isinstance(tokenizer, ours.HuggingFaceTokenizer)
    ids = reference.encode("the code").ids
    assert tokenizer.encode("the code", bos=True, eos=False) == ids
    assert tokenizer.decode(ids) == reference.decode(ids) == "the code"
    assert tokenizer.n_words == reference.get_vocab_size()
    assert tokenizer.bos_id is None
    config = tmp_path / "tokenizer_config.json"
    config.write_text('{"bos_token": "<s>", "eos_token": {"content": "</s>"}}')
    named = ours.get_tokenizer(path, str(config))
    assert (named.bos_id, named.eos_id, named.stop_tokens) == (1, 2, [2])
    assert ours.load_tokenizer(str(tmp_path)).bos_tok() == 1  # a folder
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ours.get_tokenizer("/nowhere.json")
    with pytest.raises(RuntimeError, match="Failed to load HF tokenizer"):
        ours.CppHFTokenizer().load(str(config))
    with pytest.raises(RuntimeError, match="Tokenizer error: Uninitialized"):
        ours.CppHFTokenizer().encode("a")


@pytest.mark.req("LLM-034")
def test_llama2c_files_are_written_and_read(tmp_path: Path) -> None:
    """Where every character is in the vocabulary, the ids are those of the model that the file was made of."""
    model, binary = tmp_path / "tokenizer.model", tmp_path / "tokenizer.bin"
    options = {"byte_fallback": True, "normalization_rule_name": "identity"}
    references.train_sentencepiece(model, "bpe", options)
    command = [sys.executable, "-m", "pytorch_tokenizers.tools.llama2c.convert"]
    subprocess.run([*command, "-t", str(model), "-o", str(binary)], check=True)
    tokenizer = ours.load_tokenizer(str(binary))
    reference = ours.get_tokenizer(str(model))
    assert isinstance(reference, ours.Llama2cTokenizer)
    assert tokenizer.vocab_size() == reference.n_words
    for line in references.lines()[:500]:
        text = " ".join(line.split())
        assert tokenizer.encode(text, 1, 1) == reference.encode(text, bos=True, eos=True), text
    padded = tmp_path / "padded.bin"
    reference.export(str(padded), prepend_padding=True)
    assert ours.load_tokenizer(str(padded)).bos_tok() == reference.bos_id + 1
