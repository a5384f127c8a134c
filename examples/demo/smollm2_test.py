# SPDX-License-Identifier: BSD-3-Clause
"""Real weights: SmolLM2-135M from its GGUF file writes what transformers writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.examples.demo import smollm2


@pytest.mark.full
@pytest.mark.req("LLM-004", "LLM-006")
def test_greedy_tokens_are_those_of_transformers(tmp_path: Path) -> None:
    from tokenizers import Tokenizer
    from transformers import AutoTokenizer

    gguf = smollm2.fetch(tmp_path)
    path = smollm2.export(gguf, tmp_path, [smollm2.FLOAT])
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    reference = AutoTokenizer.from_pretrained(str(tmp_path), gguf_file=gguf.name)
    ours, theirs = smollm2.program_logits(path), smollm2.transformers_logits(gguf)
    for text in smollm2.PROMPTS:
        prompt = tokenizer.encode(text).ids
        assert prompt == reference(text).input_ids, text
        found, leads = smollm2.greedy(ours, prompt, smollm2.ANSWER, stop=2)
        expected, _ = smollm2.greedy(theirs, prompt, smollm2.ANSWER, stop=2)
        assert smollm2.same(found, expected, leads), (text, found, expected)


@pytest.mark.full
@pytest.mark.req("LLM-036", "LLM-038")
def test_the_runner_writes_what_transformers_writes(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner

    gguf = smollm2.fetch(tmp_path)
    path = smollm2.export(gguf, tmp_path, [smollm2.FLOAT])
    tokenizer = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    runner = TextLLMRunner(path, tmp_path / "tokenizer.json")
    theirs = smollm2.transformers_logits(gguf)
    for text in smollm2.PROMPTS:
        prompt = tokenizer.encode(text).ids
        expected, leads = smollm2.greedy(theirs, prompt, smollm2.ANSWER, stop=2)
        pieces: list[str] = []
        config = GenerationConfig(
            temperature=0, max_new_tokens=smollm2.ANSWER, echo=False, silent=True
        )
        runner.reset()
        runner.generate(text, config, pieces.append)
        assert runner.context[: len(prompt)] == prompt, text
        found = runner.context[len(prompt) :]  # but the last one
        assert smollm2.same(expected[:-1], found, leads), (text, expected, found)
        shown = tokenizer.decode(found, skip_special_tokens=False)
        assert "".join(pieces).startswith(shown), text
        if found == expected[:-1]:
            assert (runner.finish_reason == "end_of_text") == (expected[-1] == 2), text


def test_texts_may_part_at_a_tie_only() -> None:
    assert smollm2.same([1, 2], [1, 2], [1.0, 1.0])
    assert not smollm2.same([1, 2], [1, 3], [1.0, 0.5])
    assert smollm2.same([1, 2, 4], [1, 3, 5], [1.0, 1e-4, 1.0])
    assert not smollm2.same([1], [1, 3], [1.0])
