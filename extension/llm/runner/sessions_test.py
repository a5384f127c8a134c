# SPDX-License-Identifier: BSD-3-Clause
"""Several texts in one step: each session writes what it writes alone."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from executorch.extension.llm.export.config.reading import build
from executorch.extension.llm.export.config.rules import check
from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner
from executorch.extension.llm.runner.test.tiny_llama import CONTEXT, TEXTS, VOCABULARY, TinyLlama
from executorch.runtime import Runtime

SESSIONS = 4
# Of different lengths, one longer than a call takes of a session's prompt at a time.
PROMPTS = ["The quick brown fox", "x", *TEXTS, " ".join(TEXTS)[:100]]


def config(count: int, **more: object) -> GenerationConfig:
    return GenerationConfig(
        echo=False, silent=True, ignore_eos=True, max_new_tokens=count, **{"temperature": 0, **more}
    )


def written(runner: TextLLMRunner, prompt: str, wanted: GenerationConfig) -> list[int]:
    runner.reset()
    runner.generate(prompt, wanted)
    return runner.context


@pytest.fixture(scope="module")
def program(llama: TinyLlama) -> Path:
    return llama.with_sessions(SESSIONS)


@pytest.fixture(scope="module")
def alone(llama: TinyLlama) -> TextLLMRunner:
    return TextLLMRunner(llama.with_few_bits(), llama.tokenizer)


@pytest.mark.parametrize("count", [1, 2, SESSIONS, SESSIONS + 2])
def test_each_session_writes_what_it_writes_alone(
    llama: TinyLlama, program: Path, alone: TextLLMRunner, count: int
) -> None:
    runners = TextLLMRunner.several(program, llama.tokenizer, count)
    assert runners[0].metadata["get_max_sessions"] == SESSIONS
    wanted = [config(20 + i, seed=i + 1, temperature=i % 2) for i in range(count)]
    prompts = PROMPTS[:count]
    with ThreadPoolExecutor(count) as threads:
        for _ in range(3):
            found = list(threads.map(written, runners, prompts, wanted))
            assert found == [written(alone, p, w) for p, w in zip(prompts, wanted, strict=True)]


def test_prompts_and_tokens_share_a_call(llama: TinyLlama, program: Path) -> None:
    ordinary = Runtime.get().load_program(llama.with_few_bits()).load_method("forward")
    shared = Runtime.get().load_program(program).load_method("forward")
    texts = [llama.encode(text)[:12] for text in TEXTS]

    def logits(ids: list[int]) -> torch.Tensor:
        return ordinary.execute((torch.tensor([ids]), torch.tensor([0])))[0].flatten().clone()

    def call(parts: list[tuple[int, int, list[int]]]) -> torch.Tensor:
        """(session, position, ids) each; the logits of the last ids."""
        ids = [each for _, _, part in parts for each in part]
        places = [s * CONTEXT + at + i for s, at, part in parts for i in range(len(part))]
        ends = torch.tensor([len(part) for _, _, part in parts]).cumsum(0) - 1
        inputs = (torch.tensor([ids]), torch.tensor(places), ends)
        return shared.execute(inputs)[0][0].clone()

    assert torch.equal(call([(3, 0, texts[0][:-1])])[0], logits(texts[0][:-1]))
    found = call([(0, 0, texts[1]), (3, len(texts[0]) - 1, texts[0][-1:]), (2, 0, texts[2])])
    assert found.shape == (3, VOCABULARY)
    for row, text in zip(found, (texts[1], texts[0], texts[2]), strict=True):
        torch.testing.assert_close(row, logits(text), rtol=1e-4, atol=1e-4)


def test_an_error_is_that_of_its_session(llama: TinyLlama, program: Path) -> None:
    runners = TextLLMRunner.several(program, llama.tokenizer, 2)
    expected = written(runners[0], PROMPTS[0], config(60))
    stop = threading.Event()

    def disturb() -> None:
        while not stop.is_set():
            runners[1].reset()
            with pytest.raises(RuntimeError):
                runners[1].generate([VOCABULARY + 7], config(5))

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        for _ in range(5):
            assert written(runners[0], PROMPTS[0], config(60)) == expected
    finally:
        stop.set()
        thread.join()


def test_a_full_session_does_not_write_to_the_next(llama: TinyLlama, program: Path) -> None:
    first, second = TextLLMRunner.several(program, llama.tokenizer, 2)
    other = written(second, PROMPTS[0], config(10))
    first.generate("x", config(CONTEXT * 2))
    assert first.finish_reason == "context_full"
    second.generate("", config(10))
    assert second.context == written(second, PROMPTS[0], config(20))
    assert second.context[: len(other)] == other


def test_contexts_go_back_but_not_to_files(llama: TinyLlama, program: Path, tmp_path: Path) -> None:
    (runner,) = TextLLMRunner.several(program, llama.tokenizer, 1)
    whole = written(runner, PROMPTS[0], config(12))
    assert runner.keep_shared_beginning(whole[:6] + [9]) == 6
    runner.generate(whole[6:8], config(len(whole) - 7))
    assert runner.context == whole
    for call in (runner.save_state, runner.restore_state):
        with pytest.raises(RuntimeError, match="those of several sessions"):
            call(tmp_path / "state")
    assert not (tmp_path / "state").exists()
    with pytest.raises(RuntimeError, match="prompt_lookup needs"):
        runner.generate("x", config(3, prompt_lookup=2))


def test_ordinary_programs_have_runners_of_their_own(
    llama: TinyLlama, alone: TextLLMRunner
) -> None:
    runners = TextLLMRunner.several(llama.with_few_bits(), llama.tokenizer, 2)
    assert runners[0].metadata["get_max_sessions"] == 1
    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(written, runners, PROMPTS, [config(8)] * 2))
    assert found == [written(alone, prompt, config(8)) for prompt in PROMPTS[:2]]
    with pytest.raises(RuntimeError, match="Failed to create text llm runners"):
        TextLLMRunner.several(llama.folder / "missing.pte", llama.tokenizer, 2)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"export": {"max_sessions": 0}}, "export.max_sessions: expected 1 or more, found 0"),
        ({"export": {"max_sessions": 2}, "model": {"use_kv_cache": True}}, "needs model.use_sdpa"),
        (
            {
                "export": {"max_sessions": 2},
                "model": {"use_kv_cache": True, "use_sdpa_with_kv_cache": True, "quantize_kv_cache": True},
            },
            "leave out model.quantize_kv_cache",
        ),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check(build(options))
