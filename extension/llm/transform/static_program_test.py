# SPDX-License-Identifier: BSD-3-Clause
"""A decoder whose caches are its inputs and outputs says what the whole model says of the whole text."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch

from executorch.extension.llm.model.args import ModelArgs
from executorch.extension.llm.model.transformer import Transformer, construct_transformer
from executorch.extension.llm.transform.static_program import (
    DECODE,
    FORWARD,
    PREFILL,
    StaticProgram,
    greedy,
    text_logits,
)

ARGS = ModelArgs(dim=32, n_layers=2, n_heads=4, n_kv_heads=2, vocab_size=64, hidden_dim=48, max_seq_len=40,
                 max_context_len=40)  # fmt: skip
PROMPT, COUNT = [3, 5, 7, 9, 11, 13, 2, 4, 6, 8], 12


def decoder(**changes: Any) -> Transformer:
    torch.manual_seed(3)
    model = construct_transformer(dataclasses.replace(ARGS, **changes)).eval()
    for parameter in model.parameters():
        parameter.requires_grad_(False).copy_(torch.randn_like(parameter))
    return model


def by_the_whole_model(model: Transformer) -> list[int]:
    tokens = list(PROMPT)
    for _ in range(COUNT):
        tokens.append(int(model(torch.tensor([tokens]))[0].argmax()))
    return tokens[len(PROMPT) :]


@pytest.mark.parametrize("split_mha", [True, False])
@pytest.mark.parametrize(
    "changes",
    [{}, {"norm_type": "gemma3"}, {"use_qk_norm": True}, {"use_hf_rope": True, "partial_rotary_factor": 0.5}],
    ids=str,
)  # fmt: skip
def test_prompts_in_parts_and_answers_token_by_token(
    changes: dict[str, Any], split_mha: bool
) -> None:
    model = decoder(**changes)
    wanted = by_the_whole_model(model)
    assert len(set(wanted)) > 3  # a text, not one token
    program = StaticProgram(model, 40, split_mha)
    both = {PREFILL: program, DECODE: program}
    for length in (4, 16):  # several parts, or one that is padded
        assert greedy(program.manager(length), both, PROMPT, COUNT) == wanted
    assert greedy(program.manager(1), {FORWARD: program}, PROMPT, COUNT) == wanted


def test_a_token_that_ends_an_answer() -> None:
    program = StaticProgram(decoder(), 40)
    both = {PREFILL: program, DECODE: program}
    whole = greedy(program.manager(4), both, PROMPT, COUNT)
    place = next(i for i, token in enumerate(whole) if token != whole[0])
    assert greedy(program.manager(4), both, PROMPT, COUNT, [whole[place]]) == whole[: place + 1]
    assert greedy(program.manager(4), both, PROMPT, COUNT, [whole[0]]) == whole[:1]


def test_guesses_ahead_give_the_same_tokens() -> None:
    """In calls of (window + guesses) * (n-gram - 1) tokens."""
    model = decoder()
    wanted, program = by_the_whole_model(model), StaticProgram(model, 40)
    manager = program.manager(4)
    first = int(manager.prefill(program, PROMPT)[0, -1].argmax())
    found = manager.with_input_len(8).lookahead_decode(program, first, COUNT - 1, 3, 2, 2)
    assert found == wanted


def test_logits_of_texts_of_their_own() -> None:
    model = decoder(generate_full_logits=True)
    program = StaticProgram(model, 40)
    logits = text_logits(program.manager(8), program)
    for text in (torch.tensor([PROMPT]), torch.tensor([PROMPT[::-1]])):
        torch.testing.assert_close(logits(text), model(text)[0], atol=1e-4, rtol=1e-4)


def test_weights_are_not_copied_and_the_model_stays_as_it_was() -> None:
    model = decoder()
    before = model(torch.tensor([PROMPT]))
    program = StaticProgram(model, 40)
    assert program.model.output.weight is model.output.weight
    assert torch.equal(model(torch.tensor([PROMPT])), before)
    assert model.generate_full_logits is False


def test_a_full_cache_is_said() -> None:
    program = StaticProgram(decoder(), 8)
    with pytest.raises(ValueError, match="expected 8 tokens at most"):
        program.manager(4).prefill(program, PROMPT)
