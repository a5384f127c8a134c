# SPDX-License-Identifier: BSD-3-Clause
"""Three kinds of file behind one interface, and which of them a path is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pytorch_tokenizers import pytorch_tokenizers_cpp as native
from pytorch_tokenizers.constants import CL100K_PAT_STR, LLAMA_SPECIAL_TOKENS


def _existing(path: str) -> str:
    if not Path(path).exists():
        raise FileNotFoundError(f"expected a tokenizer file, found nothing at {path}")
    return str(path)


class _Base:
    """What the three share. `model` is the native tokenizer."""

    model: native.Tokenizer
    n_words: int
    bos_id: int | None
    eos_id: int | None

    def decode_token(self, token: int) -> str:
        """Text of one id inside a sequence; U+FFFD where it is a part of a character."""
        return self.model.decode(token)


class HuggingFaceTokenizer(_Base):
    """tokenizer.json. `config_path`: tokenizer_config.json, which names the tokens that begin and end a
    text; without it they are <|begin_of_text|> and <|endoftext|>, None where there is no such token."""

    def __init__(self, model_path: str, config_path: str | None = None) -> None:
        self.model = native.HFTokenizer()
        self.model.load(_existing(model_path))
        self.n_words = self.model.vocab_size()
        bos, eos = "<|begin_of_text|>", "<|endoftext|>"
        if config_path is not None:
            config = json.loads(Path(_existing(config_path)).read_text())
            bos, eos = self._name(config["bos_token"]), self._name(config["eos_token"])
        self.bos_id, self.eos_id = self._id(bos), self._id(eos)
        self.stop_tokens = [self.eos_id]

    @staticmethod
    def _name(token: str | dict[str, str] | None) -> str | None:
        return token["content"] if isinstance(token, dict) else token

    def _id(self, piece: str | None) -> int | None:
        try:
            return None if piece is None else self.model.piece_to_id(piece)
        except RuntimeError:
            return None

    def encode(self, s: str, *, bos: bool = False, eos: bool = False) -> list[int]:
        """Ids with what the file's post-processor adds; `bos` and `eos` are ignored."""
        return self.model.encode(s, bos=1)

    def decode(self, tokens: Sequence[int]) -> str:
        return self.model.decode_batch(list(tokens), skip_special_tokens=True)


class Llama2cTokenizer(_Base):
    """A SentencePiece .model, which `export` writes as Llama2.c's tokenizer.bin."""

    def __init__(self, model_path: str) -> None:
        self.model_path = _existing(model_path)
        self.model = self.sp_model = native.SPTokenizer()
        self.model.load(self.model_path)
        self.n_words = self.model.vocab_size()
        self.bos_id, self.eos_id = self.model.bos_tok(), self.model.eos_tok()

    def encode(self, s: str, bos: bool, eos: bool) -> list[int]:
        return self.model.encode(s, bos=int(bos), eos=int(eos))

    def decode(self, tokens: Sequence[int]) -> str:
        return self.model.decode_batch(list(tokens))

    def export(self, output_path: str, *, prepend_padding: bool = False) -> None:
        """Writes tokenizer.bin; `prepend_padding` puts a <pad> before all others and moves their ids by one."""
        from pytorch_tokenizers.tools.llama2c.convert import write

        write(self.model, output_path, prepend_padding=prepend_padding)


class TiktokenTokenizer(_Base):
    """A tiktoken file with its pattern and special tokens, by default cl100k's and Llama 3's."""

    def __init__(
        self,
        model_path: str,
        pat_str: str = CL100K_PAT_STR,
        special_tokens: Sequence[str] = tuple(LLAMA_SPECIAL_TOKENS),
    ) -> None:
        names = list(special_tokens)
        self.model = native.Tiktoken(pat_str, names, 0, min(1, len(names) - 1))
        self.model.load(_existing(model_path))
        self.n_words = self.model.vocab_size()
        first = self.n_words - len(names)
        self.special_tokens = {name: first + i for i, name in enumerate(names)}
        self.bos_id, self.eos_id = self.model.bos_tok(), self.model.eos_tok()

    def encode(self, s: str, *, bos: bool, eos: bool) -> list[int]:
        """Ids; special tokens in the text become theirs."""
        return self.model.encode(s, bos=int(bos), eos=int(eos))

    def decode(self, t: Sequence[int], skip_special_tokens: bool = False) -> str:
        left_out = {*self.special_tokens.values()} if skip_special_tokens else set()
        pieces = (self.model.id_to_piece(token) for token in t if token not in left_out)
        return b"".join(pieces).decode("utf-8", "replace")


def get_tokenizer(
    tokenizer_path: str, tokenizer_config_path: str | None = None
) -> HuggingFaceTokenizer | Llama2cTokenizer | TiktokenTokenizer:
    """The tokenizer of a path: tokenizer.json by its ending, else SentencePiece, else tiktoken."""
    if str(tokenizer_path).endswith(".json"):
        return HuggingFaceTokenizer(str(tokenizer_path), tokenizer_config_path)
    try:
        return Llama2cTokenizer(str(tokenizer_path))
    except RuntimeError:
        print("Using Tiktokenizer")
        return TiktokenTokenizer(str(tokenizer_path))
