# SPDX-License-Identifier: BSD-3-Clause
"""Answers to whole prompts by a runner that keeps what it has computed: a prompt that begins as the last one did costs
only the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
    reason: str  # stop, repetition, cancelled, or length where the tokens or the context ended
    logprobs: tuple[TokenLogprobs, ...] = ()  # of the text's tokens, where the configuration asks
    prompt_seconds: float = 0.0  # until the first token
    answer_seconds: float = 0.0  # of the tokens after it

    @property
    def tokens_per_second(self) -> float:
        """Of the answer, without its first token, which comes of the prompt; 0 where no time has passed."""
        return (self.completion_tokens - 1) / self.answer_seconds if self.answer_seconds else 0.0


class LoopFinder:
    """Finds an answer that goes round: its end is one passage, `times` times over, of `least` pieces or more in all.
    Greedy answers never leave such a loop. 0 times: none is found."""

    LEAST, LONGEST = 128, 256  # pieces in all, and of the passage

    def __init__(self, times: int) -> None:
        self._times = times
        self._pieces: list[str] = []
        self.is_hit = False

    def add(self, piece: str) -> bool:
        """Whether the answer goes round with this piece."""
        self._pieces.append(piece)
        last = self._pieces[-self._times * self.LONGEST :]
        for length in range(1, self.LONGEST + 1) if self._times > 1 else ():
            count = max(self._times * length, self.LEAST)
            if count > len(last):
                break
            if last[-1 - length] == piece and last[-count:-length] == last[length - count :]:
                self.is_hit = True
                break
        return self.is_hit


def latest(
    messages: Sequence[Mapping[str, Any]], fits: Callable[[Sequence[Mapping[str, Any]]], bool]
) -> list[Mapping[str, Any]]:
    """The conversation without as many of its oldest turns as it takes to fit. What the system said and the last
    question always stay."""
    kept = list(messages)
    first = 1 if kept and kept[0]["role"] == "system" else 0
    while len(kept) > first + 1 and not fits(kept):
        del kept[first]
        while len(kept) > first + 1 and kept[first]["role"] != "user":
            del kept[first]
    return kept


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


def _reason(runner: TextLLMRunner, stop: StopFilter, loop: LoopFinder) -> str:
    if stop.is_hit or runner.finish_reason == "end_of_text":
        return "stop"
    if loop.is_hit:
        return "repetition"
    return "cancelled" if runner.finish_reason == "stopped" else "length"


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
    repeats: int = 0,
) -> Answer:
    """Generates after exactly these ids, whatever the runner's context was. `on_text` gets the text as it comes,
    without the token that ends the answer and without what begins with one of `stops`. `repeats`: a loop that ends
    it, see LoopFinder. With a seed the answer is that of a new context, whatever was computed before. RuntimeError if
    the ids do not fit into the context."""
    if not ids:
        raise ValueError("expected a token at least in the prompt, found none")
    config.echo, config.hide_eos = False, True
    reused = runner.keep_shared_beginning(ids, exact=config.seed is not None)
    stop, loop = StopFilter(stops), LoopFinder(repeats)
    shown: list[str] = []
    stats: list[Stats] = []

    def show(text: str) -> None:
        if text:
            shown.append(text)
            on_text(text)

    def on_token(piece: str) -> None:
        show(stop.add(piece))
        if stop.is_hit or loop.add(piece):
            runner.stop()

    runner.generate(list(ids[reused:]), config, on_token, stats.append)
    show(stop.finish())
    (found,) = stats
    return Answer(
        text="".join(shown),
        prompt_tokens=len(ids),
        reused_tokens=reused,
        completion_tokens=found.num_generated_tokens + 1,
        reason=_reason(runner, stop, loop),
        logprobs=_logprobs(runner, "".join(shown)),
        prompt_seconds=(found.prompt_eval_end_ms - found.inference_start_ms) / 1e3,
        answer_seconds=(found.inference_end_ms - found.prompt_eval_end_ms) / 1e3,
    )
