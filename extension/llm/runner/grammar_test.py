# SPDX-License-Identifier: BSD-3-Clause
"""Answers of a JSON schema: every one is JSON that the schema takes, whatever the model would rather write."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from executorch.extension.llm.runner import (
    GenerationConfig,
    TextLLMRunner,
    check_grammar,
    json_schema_to_gbnf,
)
from executorch.extension.llm.runner.test.tiny_llama import TinyLlama

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "married": {"type": "boolean"},
        "email": {"type": ["string", "null"], "maxLength": 10},
        "tags": {"type": "array", "items": {"enum": ["a", "b", "ü\n"]}, "maxItems": 3},
    },
    "required": ["name", "age", "tags"],
}


def is_person(text: str) -> bool:
    found = json.loads(text)
    email = found.get("email")
    return (
        set(found) <= set(PERSON["properties"])
        and set(PERSON["required"]) <= set(found)
        and isinstance(found["name"], str)
        and 1 <= len(found["name"]) <= 12
        and type(found["age"]) is int
        and 0 <= found["age"] <= 130
        and isinstance(found.get("married", True), bool)
        and (email is None or (isinstance(email, str) and len(email) <= 10))
        and len(found["tags"]) <= 3
        and set(found["tags"]) <= {"a", "b", "ü\n"}
    )


def answers(runner: TextLLMRunner, prompt: str, count: int) -> list[str]:
    found: list[str] = []
    for seed in range(1, count + 1):
        config = GenerationConfig(
            echo=False, silent=True, temperature=1, top_p=1, seed=seed, hide_eos=True,
            grammar=json.dumps(PERSON), grammar_type="json_schema",
        )  # fmt: skip
        pieces: list[str] = []
        runner.reset()
        runner.generate(prompt, config, pieces.append)
        assert runner.finish_reason == "end_of_text", (seed, pieces)
        found.append("".join(pieces))
    return found


def free_seconds(runner: TextLLMRunner, prompt: str, tokens: int) -> float:
    """A token's, without a grammar; the prompt's share is in both."""
    config = GenerationConfig(
        echo=False, silent=True, temperature=1, top_p=1, seed=1, max_new_tokens=20, ignore_eos=True
    )
    start = time.monotonic()
    for _ in range(tokens // 20):
        runner.reset()
        runner.generate(prompt, config, lambda piece: None)
    return (time.monotonic() - start) / tokens


def test_a_small_models_answers_are_all_valid(llama: TinyLlama) -> None:
    """Its weights are random: without the grammar none would be."""
    runner = TextLLMRunner(llama.program, llama.tokenizer)
    found = answers(runner, "x", 30)
    assert all(map(is_person, found)), found
    assert len(set(found)) == len(found)


@pytest.mark.full
def test_five_hundred_answers_with_real_weights_are_all_valid(tmp_path: Path) -> None:
    from executorch.examples.demo import smollm2

    gguf = smollm2.fetch(tmp_path)
    path = smollm2.export(gguf, tmp_path, [])
    runner = TextLLMRunner(path, tmp_path / "tokenizer.json")
    start = time.monotonic()
    found = answers(runner, "A person as JSON: ", 500)
    seconds = time.monotonic() - start
    assert all(map(is_person, found))
    tokens = sum(len(runner.encode(text)) for text in found)
    free = free_seconds(runner, "A person as JSON: ", 200)
    print(
        f"{len(found)} answers, {len(set(found))} different, {seconds / tokens * 1e3:.2f} ms/token; "
        f"free text {free * 1e3:.2f}"
    )


def test_grammars_are_checked_without_a_model() -> None:
    check_grammar('root ::= "a"', "gbnf")
    check_grammar(json.dumps(PERSON), "json_schema")
    assert "root ::=" in json_schema_to_gbnf('{"type": "null"}')
    with pytest.raises(RuntimeError, match="line 2: expected ::="):
        check_grammar('root ::= other\nother = "a"', "gbnf")
    with pytest.raises(RuntimeError, match="#/properties/x: pattern is not served"):
        check_grammar('{"properties": {"x": {"pattern": "a"}}}', "json_schema")
    with pytest.raises(RuntimeError, match="expected gbnf or json_schema"):
        check_grammar("a", "regex")
