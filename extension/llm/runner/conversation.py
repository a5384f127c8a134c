# SPDX-License-Identifier: BSD-3-Clause
"""Answers to whole prompts by a runner that keeps what it has computed: a prompt that begins as the last one did costs
only the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from executorch.extension.llm.runner._llm_runner import GenerationConfig, Stats, TextLLMRunner


@dataclass(frozen=True)
class TokenLogprobs:
    text: bytes
    logprob: float
    best: tuple[tuple[bytes, float], ...]  # the most probable tokens instead of it, itself too


@dataclass(frozen=True)
class Answer:
    text: str
    prompt_tokens: int
    reused_tokens: int  # of the prompt, not computed again
    completion_tokens: int
    reason: str  # stop, or length where the tokens or the context ended
    logprobs: tuple[TokenLogprobs, ...] = ()  # of the text's tokens, where the configuration asks
    prompt_seconds: float = 0.0  # until the first token
    answer_seconds: float = 0.0  # of the tokens after it

    @property
    def tokens_per_second(self) -> float:
        """Of the answer, without its first token, which comes of the prompt; 0 where no time has passed."""
        return (self.completion_tokens - 1) / self.answer_seconds if self.answer_seconds else 0.0


class StopFilter:
    """Text in pieces up to the first of some stop strings, which is left out."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._hold = max((len(stop) for stop in self._stops), default=1) - 1
        self._held = ""
        self.is_hit = False

    def add(self, piece: str) -> str:
        """What can be shown now: the rest may yet be the beginning of a stop string."""
        if self.is_hit:
            return ""
        self._held += piece
        found = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if found:
            self.is_hit = True
            shown, self._held = self._held[: min(found)], ""
            return shown
        end = max(len(self._held) - self._hold, 0)
        shown, self._held = self._held[:end], self._held[end:]
        return shown

    def finish(self) -> str:
        shown, self._held = self._held, ""
        return shown


def _logprobs(runner: TextLLMRunner, shown: str) -> tuple[TokenLogprobs, ...]:
    """Of the tokens that make up the text: what ended it or was cut off has none."""
    rows: list[TokenLogprobs] = []
    left = len(shown.encode())
    for (token, logprob), best in runner.logprobs:
        text = runner.token_text(token)
        if left <= 0:
            break
        left -= len(text)
        rows.append(TokenLogprobs(text, logprob, tuple((runner.token_text(i), p) for i, p in best)))
    return tuple(rows)


def answer(
    runner: TextLLMRunner,
    ids: Sequence[int],
    config: GenerationConfig,
    on_text: Callable[[str], None] = lambda text: None,
    stops: Sequence[str] = (),
) -> Answer:
    """Generates after exactly these ids, whatever the runner's context was. `on_text` gets the text as it comes,
    without the token that ends the answer and without what begins with one of `stops`. RuntimeError if the ids do not
    fit into the context."""
    if not ids:
        raise ValueError("expected a token at least in the prompt, found none")
    config.echo, config.hide_eos = False, True
    reused = runner.keep_shared_beginning(ids)
    stop = StopFilter(stops)
    shown: list[str] = []
    stats: list[Stats] = []

    def show(text: str) -> None:
        if text:
            shown.append(text)
            on_text(text)

    def on_token(piece: str) -> None:
        show(stop.add(piece))
        if stop.is_hit:
            runner.stop()

    runner.generate(list(ids[reused:]), config, on_token, stats.append)
    show(stop.finish())
    (found,) = stats
    ended = stop.is_hit or runner.finish_reason == "end_of_text"
    return Answer(
        text="".join(shown),
        prompt_tokens=len(ids),
        reused_tokens=reused,
        completion_tokens=found.num_generated_tokens + 1,
        reason="stop" if ended else "cancelled" if runner.finish_reason == "stopped" else "length",
        logprobs=_logprobs(runner, "".join(shown)),
        prompt_seconds=(found.prompt_eval_end_ms - found.inference_start_ms) / 1e3,
        answer_seconds=(found.inference_end_ms - found.prompt_eval_end_ms) / 1e3,
    )
