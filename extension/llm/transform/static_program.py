# SPDX-License-Identifier: BSD-3-Clause
"""A decoder as an accelerator compiles it: every size fixed, all that it remembers among its inputs and outputs.

    tokens int32 (1, n), positions int32 (n,), mask (1, n, rows + n), keys, values
      -> logits (1, n, vocabulary), keys and values of n tokens

Keys and values are tensors (1, rows, head), by layer and head. Methods that differ in n alone, for prompts and for
answers, share weights and caches.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from executorch.extension.llm.model.static_attention import (
    transform_attention_mha_to_static_attention,
)
from executorch.extension.llm.model.static_io import StaticAttentionIOManager
from executorch.extension.llm.model.transformer import Transformer
from executorch.extension.llm.transform.sdpa import replace_rms_norm_with_native_rms_norm

# Added to scores of tokens that are not seen: none is left of them after softmax, and a few bits hold it beside scores.
HIDDEN = -255.0
# Methods of a program that reads prompts in parts and writes token by token.
DECODE, PREFILL = "kv_forward", "prefill_forward"
FORWARD = "forward"  # of a program that does both token by token


class StaticProgram(nn.Module):
    """Of `model`, which is copied but for its large weights; `rows`: tokens that a cache holds."""

    def __init__(self, model: Transformer, rows: int, split_mha: bool = True) -> None:
        super().__init__()
        args = dataclasses.replace(model.params, generate_full_logits=True, use_kv_cache=False)
        shared = {id(each): each for each in model.parameters()}
        model = copy.deepcopy(model, dict(shared))
        model.params, model.generate_full_logits = args, True
        transform_attention_mha_to_static_attention(
            model, split_mha, use_hf_rope=args.partial_rotary_factor == 1.0
        )
        self.model, self.rows = replace_rms_norm_with_native_rms_norm(model).eval(), rows
        manager = self.manager(1)
        self.keys = list(manager.k_caches)
        self.register_buffer("cos", manager.freqs_cos)
        self.register_buffer("sin", manager.freqs_sin)

    def manager(self, input_len: int) -> StaticProgramIO:
        """What goes in and comes out of calls of so many tokens. Caches fill from their beginning."""
        return StaticProgramIO(
            self.model, input_len, self.rows, style="smart_mask", mask_val=HIDDEN
        )

    def forward(
        self,
        tokens: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor,
        *caches: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        count = len(self.keys)
        before = tuple(dict(zip(self.keys, each)) for each in (caches[:count], caches[count:]))
        options = {
            "masks": {self.rows: mask},
            "freqs_cos_override": functional.embedding(positions, self.cos),
            "freqs_sin_override": functional.embedding(positions, self.sin),
            "in_cache_state": before,
        }
        logits, updates = self.model(tokens, options)
        keys, values = updates["out_cache_state"]
        return logits, *(part[key] for part in (keys, values) for key in self.keys)

    def example(self, input_len: int) -> tuple[torch.Tensor, ...]:
        """Inputs of a call."""
        manager = self.manager(input_len)
        tokens = torch.zeros(1, input_len, dtype=torch.int32)
        return manager.inputs(tokens, torch.arange(input_len))


class StaticProgramIO(StaticAttentionIOManager):
    """Runs what takes and gives what StaticProgram does."""

    def inputs(self, tokens: torch.Tensor, positions: torch.Tensor) -> tuple[torch.Tensor, ...]:
        (mask,) = self.masks.values()
        caches = (*self.k_caches.values(), *self.v_caches.values())
        return tokens.int(), positions.int(), mask, *caches

    def _call(
        self, model: Callable[..., Any], tokens: torch.Tensor, positions: torch.Tensor, count: int
    ) -> tuple[torch.Tensor, Any]:
        logits, *new = model(*self.inputs(tokens, positions))
        keys = list(self.k_caches)
        return logits, (dict(zip(keys, new)), dict(zip(keys, new[len(keys) :])))


def greedy(
    manager: StaticProgramIO,
    methods: Mapping[str, Callable[..., Any]],
    prompt: list[int],
    count: int,
    stop_tokens: list[int] | None = None,
) -> list[int]:
    """The likeliest `count` tokens after a prompt, which PREFILL reads where there is one; DECODE writes. `manager`:
    for calls of the one that reads."""
    writes = methods[DECODE] if DECODE in methods else methods[FORWARD]
    manager.reset()
    logits = manager.prefill(methods.get(PREFILL, writes), prompt)
    first = int(logits[0, -1].argmax())
    if first in (stop_tokens or ()):
        return [first]
    answering = manager.with_input_len(1)
    return answering.decode(writes, first, count - 1, stop_tokens)


def text_logits(manager: StaticProgramIO, method: Callable[..., Any]) -> Callable[..., Any]:
    """As likelihood.Logits: of texts of their own, one after the other."""

    def logits(tokens: torch.Tensor) -> torch.Tensor:
        manager.reset()
        return manager.prefill(method, tokens)[0]

    return logits
