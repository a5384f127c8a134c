# SPDX-License-Identifier: BSD-3-Clause
"""Tokenizers of language models: texts to ids and back, from any file that checkpoints come with.

`load_tokenizer(path)` and the `Cpp...` classes are the C++ library. The other classes have one interface over
it: `n_words`, `bos_id`, `eos_id`, `encode(text, bos=..., eos=...)`, `decode(ids)`, `decode_token(id)`.
"""

from pytorch_tokenizers.pytorch_tokenizers_cpp import (
    Error,
    StreamDecoder,
    TokenIndex,
    Tokenizer,
    load_tokenizer,
)
from pytorch_tokenizers.pytorch_tokenizers_cpp import HFTokenizer as CppHFTokenizer
from pytorch_tokenizers.pytorch_tokenizers_cpp import Llama2cTokenizer as CppLlama2cTokenizer
from pytorch_tokenizers.pytorch_tokenizers_cpp import SPTokenizer as CppSPTokenizer
from pytorch_tokenizers.pytorch_tokenizers_cpp import Tekken as CppTekken
from pytorch_tokenizers.pytorch_tokenizers_cpp import Tiktoken as CppTiktoken

from pytorch_tokenizers.tokenizers import (
    HuggingFaceTokenizer,
    Llama2cTokenizer,
    TiktokenTokenizer,
    get_tokenizer,
)

__all__ = [
    "CppHFTokenizer",
    "CppLlama2cTokenizer",
    "CppSPTokenizer",
    "CppTekken",
    "CppTiktoken",
    "Error",
    "HuggingFaceTokenizer",
    "Llama2cTokenizer",
    "StreamDecoder",
    "TiktokenTokenizer",
    "TokenIndex",
    "Tokenizer",
    "get_tokenizer",
    "load_tokenizer",
]
