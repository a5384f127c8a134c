# SPDX-License-Identifier: BSD-3-Clause
"""Chat templates beside transformers', stop strings, answers that reuse what was computed, the terminal chat."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from executorch.extension.llm import chat
from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner
from executorch.extension.llm.runner.chat_template import ChatTemplate, ChatTemplateError
from executorch.extension.llm.runner.conversation import (
    Answer,
    LoopFinder,
    StopFilter,
    answer,
    latest,
)
from executorch.extension.llm.runner.test.tiny_llama import CONTEXT, TinyLlama

TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi, <b>you</b> & 😀"},
    {"role": "assistant", "content": "Hello."},
    {"role": "user", "content": "Why?"},
]
# Constructs of published templates: namespaces, loop controls, slices, tojson, trimmed blocks.
TEMPLATES = {
    "chatml": "{% for m in messages %}{{'<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}",
    "llama3": "{%- set ns = namespace(first=true) %}\n{% for m in messages %}\n"
    "    {%- if ns.first %}{{ bos_token }}{% set ns.first = false %}{% endif %}\n"
    "    {{- '<|start_header_id|>' ~ m.role ~ '<|end_header_id|>\n\n' ~ m.content | trim ~ '<|eot_id|>' }}\n"
    "{%- endfor %}\n{%- if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}",
    "controls": "{% for m in messages[1:] %}{% if m.role == 'assistant' %}{% continue %}{% endif %}\n"
    "  {{ m | tojson }}{% if loop.last %}{% break %}{% endif %}\n{% endfor %}{{ eos_token }}",
}


@pytest.fixture
def runner(llama: TinyLlama) -> TextLLMRunner:
    return TextLLMRunner(llama.program, llama.tokenizer)


def greedy(count: int, **more: Any) -> GenerationConfig:
    return GenerationConfig(
        temperature=0, max_new_tokens=count, ignore_eos=True, silent=True, **more
    )


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_render_as_transformers_do(llama: TinyLlama, name: str) -> None:
    from transformers import PreTrainedTokenizerFast

    reference = PreTrainedTokenizerFast(
        tokenizer_file=str(llama.tokenizer), bos_token="<|endoftext|>", eos_token="<|im_end|>"
    )
    expected = reference.apply_chat_template(
        TALK, chat_template=TEMPLATES[name], add_generation_prompt=True, tokenize=False
    )
    ours = ChatTemplate(
        TEMPLATES[name], {"bos_token": "<|endoftext|>", "eos_token": "<|im_end|>"}
    ).render(TALK)
    assert ours == expected


def test_templates_are_found_beside_the_tokenizer(llama: TinyLlama, tmp_path: Path) -> None:
    expected = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    hello = [{"role": "user", "content": "Hi"}]
    assert ChatTemplate.beside(llama.tokenizer).render(hello) == expected
    assert ChatTemplate.beside(llama.folder).render(hello) == expected
    with pytest.raises(ChatTemplateError, match="found neither"):
        ChatTemplate.beside(tmp_path)
    assert ChatTemplate.beside(tmp_path, or_chatml=True).render(hello) == expected
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"chat_template": [{"name": "default", "template": "{{ bos_token }}!"}],
                    "bos_token": {"content": "<s>"}})
    )  # fmt: skip
    assert ChatTemplate.beside(tmp_path).render(hello) == "<s>!"
    (tmp_path / "chat_template.jinja").write_text("{{ messages[0].content }}")
    assert ChatTemplate.beside(tmp_path).render(hello) == "Hi"


def test_templates_that_refuse() -> None:
    with pytest.raises(ChatTemplateError, match="is not Jinja2"):
        ChatTemplate("{% for %}")
    with pytest.raises(ChatTemplateError, match="refuses these messages: roles must alternate"):
        ChatTemplate("{{ raise_exception('roles must alternate') }}").render(TALK)
    with pytest.raises(ChatTemplateError, match="refuses"):
        ChatTemplate("{{ ''.__class__.__mro__ }}").render(TALK)


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_stop_strings_are_found_across_pieces(size: int) -> None:
    text = "one END two STOP three"
    stop = StopFilter(["STOP", "END!", "?", ""])  # of several lengths
    shown = "".join(stop.add(text[i : i + size]) for i in range(0, len(text), size)) + stop.finish()
    assert shown == "one END two " and stop.is_hit
    assert StopFilter(["d", "bc"]).add("abcd") == "a", "the first in the text"
    none = StopFilter(["nowhere"])
    pieces = [none.add(text[i : i + size]) for i in range(0, len(text), size)]
    assert "".join(pieces) + none.finish() == text and not none.is_hit


def pieces_until_a_loop(finder: LoopFinder, pieces: list[str]) -> int:
    return next((i + 1 for i, piece in enumerate(pieces) if finder.add(piece)), 0)


def test_answers_that_go_round_are_found() -> None:
    """128 pieces at least, and four times the passage: after 3 others a passage of 5 is found when 128 pieces go round,
    one of 50 after its fourth time; three times are not enough. The longest has 256 pieces."""
    before, five, fifty = list("abc"), list("hello"), [str(i) for i in range(50)]
    longest = [str(i) for i in range(256)]
    assert pieces_until_a_loop(LoopFinder(4), before + longest * 4) == 3 + 1024
    assert pieces_until_a_loop(LoopFinder(4), before + [*longest, "256"] * 5) == 0
    assert pieces_until_a_loop(LoopFinder(4), before + five * 40) == 3 + 128
    assert pieces_until_a_loop(LoopFinder(4), before + fifty * 4) == 3 + 200
    assert pieces_until_a_loop(LoopFinder(4), before + fifty * 3 + before) == 0
    assert pieces_until_a_loop(LoopFinder(0), five * 100) == 0
    counted = [word for i in range(200) for word in (str(i), "x")]
    assert pieces_until_a_loop(LoopFinder(4), counted) == 0, "lists are no loops"


def test_the_speed_of_an_answer_is_that_behind_its_first_token() -> None:
    """Four tokens in two seconds; none where no time has passed."""
    assert Answer("x", 3, 0, 5, "stop", answer_seconds=2.0).tokens_per_second == 2.0
    assert Answer("x", 3, 0, 5, "stop").tokens_per_second == 0.0


def test_an_answer_tells_its_tokens_and_seconds() -> None:
    """Of a runner's milliseconds, and of the tokens behind the first."""

    class Reported:
        finish_reason, logprobs = "end_of_text", ()

        def keep_shared_beginning(self, ids: Any, exact: bool) -> int:
            return 1

        def generate(self, ids: Any, config: Any, on_token: Any, on_stats: Any) -> None:
            assert ids == [8, 9] and config.hide_eos and not config.echo
            on_token("hi")
            times = {
                "inference_start_ms": 1000,
                "prompt_eval_end_ms": 3000,
                "inference_end_ms": 3500,
            }
            on_stats(SimpleNamespace(num_generated_tokens=4, **times))

    done = answer(Reported(), [7, 8, 9], greedy(5))  # type: ignore[arg-type]
    assert done == Answer("hi", 3, 1, 5, "stop", (), 2.0, 0.5)


def test_a_loop_ends_an_answer(llama: TinyLlama, runner: TextLLMRunner) -> None:
    class Rounds:
        """A runner that says one token over and over."""

        finish_reason, logprobs, stopped = "stopped", (), False

        def keep_shared_beginning(self, ids: Any, exact: bool) -> int:
            return 0

        def stop(self) -> None:
            self.stopped = True

        def generate(self, ids: Any, config: Any, on_token: Any, on_stats: Any) -> None:
            for _ in range(config.max_new_tokens):
                if not self.stopped:
                    on_token("ha ")
            runner.generate("x", greedy(1), None, on_stats)

    done = answer(Rounds(), [1], greedy(500), repeats=4)  # type: ignore[arg-type]
    assert (done.reason, done.text) == ("repetition", "ha " * LoopFinder.LEAST)


def test_the_oldest_turns_are_left_out() -> None:
    messages = [{"role": role, "content": text} for role, text in (
        ("system", "S"), ("user", "1"), ("assistant", "a"), ("tool", "t"), ("user", "2"), ("user", "3"))]  # fmt: skip

    def kept(most: int, talk: list[dict[str, str]] = messages) -> str:
        return "".join(m["content"] for m in latest(talk, lambda left: len(left) <= most))

    assert [kept(most) for most in (6, 5, 3, 2, 1)] == ["S1at23", "S23", "S23", "S3", "S3"]
    assert [kept(most, messages[1:]) for most in (5, 4, 2, 1, 0)] == ["1at23", "23", "23", "3", "3"]
    assert latest([], lambda left: False) == []
    assert latest(messages[1:2], lambda left: False) == messages[1:2]


def test_a_prompt_reuses_the_beginning_it_shares(llama: TinyLlama, runner: TextLLMRunner) -> None:
    first = llama.encode("The quick brown fox")
    done = answer(runner, first, greedy(6))
    assert (done.prompt_tokens, done.reused_tokens) == (len(first), 0)
    assert (done.completion_tokens, done.reason) == (6, "length")
    assert done.text == llama.decode(llama.greedy(first, 6))
    second = first[:3] + [40, 41]
    done = answer(runner, second, greedy(6))
    assert done.reused_tokens == 3
    assert done.text == llama.decode(llama.greedy(second, 6))
    assert answer(runner, second, greedy(6)).reused_tokens == len(second) - 1
    assert runner.keep_shared_beginning([99]) == 0 and runner.context == []


def test_with_a_seed_an_answer_from_the_cache_is_that_of_a_new_context(
    llama: TinyLlama, tmp_path: Path
) -> None:
    """Bit for bit: probabilities are equal numbers, though the operators sum few rows in another order than many."""
    runner = TextLLMRunner(llama.with_calls_of(40), llama.tokenizer)
    first = llama.encode("Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.")
    drawn = GenerationConfig(
        temperature=1, top_p=1, max_new_tokens=12, ignore_eos=True, silent=True, seed=7, top_logprobs=3
    )  # fmt: skip

    def asked(ids: list[int], new: bool) -> Any:
        if new:
            runner.reset()
        return answer(runner, ids, drawn)

    def numbers(done: Any) -> Any:
        return done.text, done.logprobs

    fresh = asked(first, new=True)
    again = asked(first, new=False)
    assert (fresh.reused_tokens, again.reused_tokens) == (0, len(first) - 16)
    assert numbers(again) == numbers(fresh)
    longer = first + llama.encode(fresh.text) + llama.encode("The quick brown fox jumps, why?")
    assert len(longer) > len(first) + 30
    from_cache = asked(longer, new=False)
    assert from_cache.reused_tokens == len(first), "the answer's tokens were computed one by one"
    assert numbers(from_cache) == numbers(asked(longer, new=True))
    for cut in (1, 17, 41, len(longer) - 20):
        asked(longer[:cut], new=True)
        assert numbers(asked(longer, new=False)) == numbers(from_cache), cut


def test_an_answer_ends_at_a_stop_string(llama: TinyLlama, runner: TextLLMRunner) -> None:
    prompt = llama.encode("The quick brown fox")
    whole = answer(runner, prompt, greedy(30)).text
    stop = whole[10:13]
    shown: list[str] = []
    done = answer(runner, prompt, greedy(30), shown.append, [stop])
    assert done.reason == "stop" and done.text == whole[: whole.index(stop)] == "".join(shown)
    assert done.completion_tokens < 30


def test_the_token_that_ends_an_answer_is_not_shown(llama: TinyLlama) -> None:
    """The program says that the third token of this answer ends it."""
    prompt = llama.encode("x")
    expected = llama.greedy(prompt, 6)
    end = next(i for i in range(2, 6) if expected[i] not in expected[:i])
    program = llama.with_metadata({"get_eos_ids": [expected[end]]})
    runner = TextLLMRunner(program, llama.tokenizer)
    config = GenerationConfig(temperature=0, silent=True)
    done = answer(runner, prompt, config)
    assert done.reason == "stop" and done.completion_tokens == end + 1
    assert done.text == llama.decode(expected[:end])


def test_a_prompt_that_does_not_fit_is_refused(runner: TextLLMRunner) -> None:
    with pytest.raises(RuntimeError, match="The context is full"):
        answer(runner, [5] * CONTEXT, greedy(1))
    with pytest.raises(ValueError, match="expected a token at least"):
        answer(runner, [], greedy(1))


def options(llama: TinyLlama, *more: str) -> Any:
    return chat.parser().parse_args(
        [str(llama.program), "--tokenizer", str(llama.tokenizer), "--temperature", "0", *more]
    )


def test_the_chat_keeps_its_messages(llama: TinyLlama) -> None:
    out = io.StringIO()
    lines = ["Hi\n", "\n", "Go on\n", "/reset\n", "Hi\n", "/quit\n", "never\n"]
    chat.chat(options(llama, "--max-new-tokens", "5"), lines, out)
    template = ChatTemplate.beside(llama.tokenizer)
    runner = TextLLMRunner(llama.program, llama.tokenizer)

    def expected(messages: list[dict[str, str]]) -> str:
        config = GenerationConfig(temperature=0, max_new_tokens=5, silent=True)
        return answer(runner, llama.encode(template.render(messages)), config).text

    talk = [{"role": "user", "content": "Hi"}]
    first = expected(talk)
    talk += [{"role": "assistant", "content": first}, {"role": "user", "content": "Go on"}]
    assert out.getvalue() == f"{first}\n{expected(talk)}\n{first}\n"


def test_the_chat_tells_when_the_context_is_full(llama: TinyLlama) -> None:
    out = io.StringIO()
    chat.chat(options(llama), ["word " * 60, "again " * 60], out)
    assert "[Generation failed" in out.getvalue() and "The context is full" in out.getvalue()


def test_the_chat_goes_on_when_the_context_is_full(llama: TinyLlama) -> None:
    """Three turns of 40 tokens and more do not fit into 128 with a quarter left for the answer."""
    out = io.StringIO()
    chat.chat(
        options(llama, "--max-new-tokens", "3"), ["word " * 8, "again " * 8, "last " * 8], out
    )
    assert "[the context is full: the oldest turns are left out]" in out.getvalue()
    assert "Generation failed" not in out.getvalue()


def test_the_command(llama: TinyLlama, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "executorch.extension.llm.chat"]
    done = subprocess.run(
        [*command, str(llama.program), "--temperature=0", "--max-new-tokens=3"],
        input="Hi\n/quit\n", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout and done.stderr == "" and "PyTorchObserver" not in done.stdout
    done = subprocess.run(
        [*command, str(llama.program), "--temperature=0", "--max-new-tokens=3", "-p", "Hi"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout
    output = r"\[3 tokens, ([\d.]+ tokens/s, )?after (\d+) of \2 of the prompt in [\d.]+ s\]"
    assert re.fullmatch(output, done.stderr.strip()), done.stderr
    done = subprocess.run(
        [*command, "/nowhere/model.pte"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "there is no program /nowhere/model.pte" in done.stderr
    alone = tmp_path / "model.pte"
    alone.write_bytes(llama.program.read_bytes())
    done = subprocess.run([*command, str(alone)], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "name it with --tokenizer" in done.stderr
