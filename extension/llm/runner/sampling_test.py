# SPDX-License-Identifier: BSD-3-Clause
"""Tokens of a runner beside a sampler of NumPy, which has the program's own logits, setting by setting."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import torch

from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner
from executorch.extension.llm.runner.test.tiny_llama import TinyLlama
from executorch.runtime import Runtime

TOKENS = 24
WITHOUT = {"top_p": 1.0}  # 0.9 where nobody says
# Settings, each with a temperature of 1 unless it says another.
ROWS: list[dict[str, float]] = [
    WITHOUT,
    {},
    {**WITHOUT, "temperature": 0.0},
    {**WITHOUT, "temperature": 2.0},
    {**WITHOUT, "temperature": 0.3},
    {"top_p": 0.5},
    {"top_p": 0.05},
    {"top_k": 1},
    {"top_k": 5},
    {"top_k": 100},
    {"top_k": 100, "top_p": 0.4},
    {**WITHOUT, "min_p": 0.9},
    {**WITHOUT, "min_p": 0.5},
    {"min_p": 0.5, "top_k": 20, "top_p": 0.8},
    {**WITHOUT, "repetition_penalty": 1.5},
    {**WITHOUT, "repetition_penalty": 0.7, "temperature": 0.2},
    {**WITHOUT, "frequency_penalty": 2.0, "temperature": 0.1},
    {**WITHOUT, "frequency_penalty": -0.3, "temperature": 0.1},
    {**WITHOUT, "presence_penalty": 2.0, "temperature": 0.1},
    {**WITHOUT, "presence_penalty": 0.5, "frequency_penalty": 0.2, "temperature": 0.0},
]


class Random:
    """xorshift64*: Vigna (2016); a number of [0, 1) is the highest 24 bits."""

    def __init__(self, seed: int) -> None:
        self.state = seed or 0x9E3779B97F4A7C15

    def __call__(self) -> float:
        mask = (1 << 64) - 1
        self.state ^= self.state >> 12
        self.state = (self.state ^ (self.state << 25)) & mask
        self.state ^= self.state >> 27
        return (((self.state * 0x2545F4914F6CDD1D) & mask) >> 40) / (1 << 24)


def sampled(
    logits: np.ndarray,
    before: set[int],
    answer: Counter[int],
    random: Random,
    given: dict[str, float],
) -> int:
    """By the definitions: Keskar 2019 (repetition), OpenAI's reference (presence, frequency), Nguyen 2024 (min-p),
    Holtzman 2020 (top-p: the fewest of the best whose sum passes p)."""
    row = logits.astype(np.float64)
    penalty = given.get("repetition_penalty", 1.0)
    for token in before:
        row[token] = row[token] / penalty if row[token] > 0 else row[token] * penalty
    for token, count in answer.items():
        row[token] -= count * given.get("frequency_penalty", 0.0) + given.get(
            "presence_penalty", 0.0
        )
    temperature = given.get("temperature", 1.0)
    if temperature == 0:
        return int(row.argmax())
    chances = np.exp((row - row.max()) / temperature)
    chances /= chances.sum()
    chances[chances < given.get("min_p", 0.0) * chances.max()] = 0
    chances /= chances.sum()
    number, top_k = random(), int(given.get("top_k", 0))
    top_p = given.get("top_p", 1.0 if top_k else 0.9)
    ranks = np.argsort(-chances, kind="stable")[: top_k or None]
    if top_p < 1:
        sums = np.cumsum(chances[ranks]) / chances[ranks].sum()
        whole = sums if top_k else np.cumsum(chances[ranks])
        ranks = ranks[: int(np.searchsorted(whole, top_p, side="right")) + 1]
    elif not top_k:
        ranks = np.arange(len(chances))  # in the vocabulary's order
    sums = np.cumsum(chances[ranks])
    return int(ranks[np.searchsorted(sums, number * sums[-1], side="right")])


def answer_of(program: Any, ids: list[int], seed: int, given: dict[str, float]) -> list[int]:
    method, random = program.load_method("forward"), Random(seed)
    fed, position, made = list(ids), 0, []
    for _ in range(TOKENS):
        (logits,) = method.execute([torch.tensor([fed]), torch.tensor([position])])
        position += len(fed)
        token = sampled(logits.flatten().numpy(), {*ids, *made}, Counter(made), random, given)
        made.append(token)
        fed = [token]
    return made


def test_tokens_are_those_of_the_definitions(llama: TinyLlama) -> None:
    ids = llama.encode("The quick brown fox jumps")
    program = Runtime.get().load_program(llama.program)
    runner = TextLLMRunner(llama.program, llama.tokenizer)
    different = set()
    for number, given in enumerate(ROWS):
        config = GenerationConfig(
            **{"temperature": 1.0, **given}, seed=number, max_new_tokens=TOKENS, ignore_eos=True,
            silent=True, echo=False, top_logprobs=0,
        )  # fmt: skip
        runner.reset()
        runner.generate(ids, config, None, None)
        found = [token for (token, _), _ in runner.logprobs]
        assert found == answer_of(program, ids, number, given), given
        different.add(tuple(found))
    assert len(different) == len(ROWS) - 1, "of one token possible the best is taken, too"


def test_log_probabilities_are_those_of_the_model(llama: TinyLlama) -> None:
    """Of the logits as they come: no setting changes them."""
    ids = llama.encode("The quick")
    (logits,) = (
        Runtime.get()
        .load_program(llama.program)
        .load_method("forward")
        .execute([torch.tensor([ids]), torch.tensor([0])])
    )
    expected = torch.log_softmax(logits.flatten().double(), -1)
    runner = TextLLMRunner(llama.program, llama.tokenizer)
    config = GenerationConfig(
        temperature=2, top_k=3, repetition_penalty=3, presence_penalty=2, frequency_penalty=1,
        max_new_tokens=1, ignore_eos=True, silent=True, echo=False, top_logprobs=4, seed=1,
    )  # fmt: skip
    runner.generate(ids, config, None, None)
    (((token, logprob), best),) = runner.logprobs
    assert logprob == pytest.approx(float(expected[token]), abs=1e-5)
    assert [t for t, _ in best] == expected.topk(4).indices.tolist()
    assert [p for _, p in best] == pytest.approx(expected.topk(4).values.tolist(), abs=1e-5)
