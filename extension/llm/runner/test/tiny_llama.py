# SPDX-License-Identifier: BSD-3-Clause
"""A small Llama with random weights: its program, a tokenizer of its own, and transformers' model beside them."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.pipeline import export_llama

PROGRAM, TOKENIZER = "llama.pte", "tokenizer.json"
CONTEXT = 128
VOCABULARY = 320
END = "<|im_end|>"
# What instruction-tuned checkpoints carry, in short.
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "Pack my box with five dozen liquor jugs; how vexingly quick daft zebras jump!",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich. こんにちは 😀",
]
_OPERATORS = {"use_sdpa_with_kv_cache": True}
_FEW_BITS = {"qmode": "8da4w", "group_size": 32, "embedding_quantize": "4,32"}


@dataclass(frozen=True)
class TinyLlama:
    folder: Path
    program: Path
    tokenizer: Path  # tokenizer.json, with tokenizer_config.json beside it
    model: torch.nn.Module  # transformers'

    def encode(self, text: str) -> list[int]:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self.tokenizer)).encode(text).ids

    def decode(self, ids: list[int]) -> str:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(self.tokenizer)).decode(ids, skip_special_tokens=False)

    def with_metadata(self, metadata: dict[str, Any]) -> Path:
        """The same program with other constants."""
        return _export(self.folder, "other", metadata)

    def with_all_logits(self) -> Path:
        """The same program with the logits of all tokens."""
        return _export(self.folder, "all_logits", all_logits=True)

    def with_few_bits(self) -> Path:
        """The same model with weights of 4 bits, a quantized embedding and attention by operators."""
        return _export(self.folder, "few_bits", model=_OPERATORS, quantization=_FEW_BITS)

    def with_calls_of(self, tokens: int) -> Path:
        """The same model, which takes at most so many tokens in a call; its caches hold as many as before."""
        export = {"max_seq_length": tokens + 1}
        return _export(self.folder, "short_calls", model=_OPERATORS, export=export)

    def with_sessions(self, count: int) -> Path:
        """That of few bits, which goes on with several texts in one call."""
        export = {"max_sessions": count}
        return _export(
            self.folder, "sessions", model=_OPERATORS, quantization=_FEW_BITS, export=export
        )

    def with_embeddings(self) -> Path:
        """The same program with a method that turns a text into a vector."""
        return _export(self.folder, "embeddings", export={"embed": True})

    @torch.no_grad()
    def greedy(self, prompt: list[int], count: int) -> list[int]:
        """The best tokens after a prompt, by transformers."""
        ids = list(prompt)
        for _ in range(count):
            ids.append(int(self.model(torch.tensor([ids])).logits[0, -1].argmax()))
        return ids[len(prompt) :]


def make(folder: Path) -> TinyLlama:
    model = _model()
    write(folder, model)
    return TinyLlama(folder, folder / PROGRAM, folder / TOKENIZER, model)


def kept(folder: Path, store: Any) -> TinyLlama:
    """The same in a folder of its own, of files that were made once."""
    made = store.folder("tiny_llama", write)
    shutil.copytree(made, folder, dirs_exist_ok=True)
    return TinyLlama(folder, folder / PROGRAM, folder / TOKENIZER, _model())


def write(folder: Path, model: torch.nn.Module | None = None) -> None:
    """Checkpoint, program and tokenizer."""
    (model or _model()).save_pretrained(folder)
    _export(folder, Path(PROGRAM).stem)
    write_tokenizer(folder)


def _model() -> torch.nn.Module:
    import transformers

    torch.manual_seed(11)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=False,
    )
    model = transformers.LlamaForCausalLM(config).eval().float()
    with torch.no_grad():
        for parameter in model.parameters():  # answers that depend on what came long before
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def _export(
    checkpoint: Path,
    name: str,
    metadata: dict[str, Any] | None = None,
    all_logits: bool = False,
    model: dict[str, Any] | None = None,
    quantization: dict[str, Any] | None = None,
    export: dict[str, Any] | None = None,
) -> Path:
    lengths = {"max_seq_length": CONTEXT, "max_context_length": CONTEXT}
    path = export_llama(
        build(
            {
                "base": {
                    "model_class": "llama3_2",
                    "checkpoint": str(checkpoint),
                    "metadata": json.dumps(metadata or {}),
                },
                "model": {"use_kv_cache": True, **(model or {})},
                "quantization": quantization or {},
                "debug": {"generate_full_logits": all_logits},
                "backend": {"xnnpack": {"enabled": True}},
                "export": {
                    **lengths,
                    "output_name": str(checkpoint / f"{name}.pte"),
                    **(export or {}),
                },
            }
        )
    )
    return Path(path)


def write_tokenizer(folder: Path) -> None:
    """Bytes, some merges, and the special tokens of a chat; exactly as many as the model has logits."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", END]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS * 20, trainer)
    assert tokenizer.get_vocab_size() == VOCABULARY
    tokenizer.save(str(folder / TOKENIZER))
    settings = {"bos_token": special[0], "eos_token": END, "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
