# SPDX-License-Identifier: BSD-3-Clause
"""Text from any function of tokens to logits, token by token in Python: to try a model before it is exported."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

import torch


def sample_top_p(probs: torch.Tensor, p: float) -> torch.Tensor:
    """One index of the last dimension, drawn from the likeliest ones, whose sum reaches `p`."""
    sorted_probs, indices = torch.sort(probs, dim=-1, descending=True)
    before = torch.cumsum(sorted_probs, -1) - sorted_probs
    kept = torch.where(before > p, 0.0, sorted_probs)
    drawn = torch.multinomial(kept / kept.sum(-1, keepdim=True), num_samples=1)
    return torch.gather(indices, -1, drawn)


def next_token(logits: torch.Tensor, temperature: float, top_p: float) -> int:
    """Of logits (.., vocabulary) the last ones count; the likeliest token for a temperature of 0."""
    last = logits.reshape(-1, logits.shape[-1])[-1]
    if temperature <= 0:
        return int(last.argmax())
    return int(sample_top_p(torch.softmax(last / temperature, -1), top_p))


class LlamaRunner(ABC):
    """Completes texts by `forward`, which subclasses have: tokens (1, n) to logits of the last one, or of all.

    With `use_kv_cache` tokens come once, `input_pos` (1,) is the position of the first; else all tokens come each time.
    """

    def __init__(
        self,
        *,
        tokenizer_path: str,
        tokenizer_config_path: str | None = None,
        max_seq_len: int,
        max_batch_size: int,
        use_kv_cache: bool,
        vocab_size: int,
        device: str = "cpu",
    ) -> None:
        from pytorch_tokenizers import get_tokenizer

        self.tokenizer = get_tokenizer(tokenizer_path, tokenizer_config_path)
        self.max_seq_len, self.max_batch_size = max_seq_len, max_batch_size
        self.use_kv_cache, self.vocab_size, self.device = use_kv_cache, vocab_size, device

    @abstractmethod
    def forward(self, tokens: torch.Tensor, input_pos: torch.Tensor | None = None) -> torch.Tensor:
        """Logits."""

    def generate(
        self,
        prompt_tokens: list[int],
        max_seq_len: int,
        temperature: float = 0.8,
        top_p: float = 0.9,
        echo: bool = False,
        pos_base: int = 0,
    ) -> list[int]:
        """New tokens, behind the prompt if `echo`, printed as they come: up to `max_seq_len` with the prompt, or to a
        stop token, which is the last then. `pos_base` tokens are in the cache already."""
        started = time.monotonic()
        tokens = list(prompt_tokens)
        tokens.append(self._next(tokens, pos_base, temperature, top_p))
        first = time.monotonic()
        stops = self._stop_tokens()
        while tokens[-1] not in stops:
            print(self.tokenizer.decode_token(tokens[-1]), end="", flush=True)
            if len(tokens) >= max_seq_len:
                break
            new = tokens[-1:] if self.use_kv_cache else tokens
            at = pos_base + len(tokens) - 1
            tokens.append(self._next(new, at, temperature, top_p))
        count, seconds = len(tokens) - len(prompt_tokens) - 1, time.monotonic() - first
        rate = f", then {count / seconds:.1f} tokens/s" if count and seconds else ""
        print(f"\n\nfirst token after {first - started:.2f} s{rate}")
        return tokens if echo else tokens[len(prompt_tokens) :]

    def _next(self, tokens: list[int], at: int, temperature: float, top_p: float) -> int:
        shown = torch.tensor([tokens], dtype=torch.long, device=self.device)
        pos = torch.tensor([at], device=self.device) if self.use_kv_cache else None
        return next_token(self.forward(tokens=shown, input_pos=pos), temperature, top_p)

    def _stop_tokens(self) -> set[int]:
        return {self.tokenizer.eos_id, *getattr(self.tokenizer, "stop_tokens", ())}

    def text_completion(
        self, prompt: str, temperature: float = 0.6, top_p: float = 0.9, echo: bool = False
    ) -> list[int]:
        """New tokens of a text that goes on."""
        tokens = self.tokenizer.encode(prompt, bos=True, eos=False)
        return self.generate(tokens, self.max_seq_len, temperature, top_p, echo)

    def chat_completion(
        self,
        max_seq_len: int,
        temperature: float = 0.6,
        top_p: float = 0.9,
        show_progress: bool = False,
    ) -> list[int]:
        """Asks on the terminal until `exit`; `max_seq_len` for each question with its answer. Gives all tokens."""
        all_tokens: list[int] = []
        while (prompt := input("Me: ")) != "exit":
            print("LLM: ", end="", flush=True)
            tokens = self.tokenizer.encode(self._format_prompt(prompt), bos=True, eos=False)
            if self.use_kv_cache:  # the answer's last token has not been in a call yet
                known, before, room = all_tokens[-1:], max(len(all_tokens) - 1, 0), max_seq_len
            else:
                known, before, room = all_tokens, 0, len(all_tokens) + max_seq_len
            answer = self.generate(known + tokens, room, temperature, top_p, False, before)
            all_tokens += tokens + answer
            if show_progress:
                print(f"{len(all_tokens)} tokens so far")
        return all_tokens

    def _format_prompt(self, prompt: str) -> str:
        """A question in Llama 3's form; subclasses have others."""
        return (
            "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nYou are a helpful assistant<|eot_id|>"
            f"<|start_header_id|>user<|end_header_id|>\n\n{prompt}<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>"
        )
