# SPDX-License-Identifier: BSD-3-Clause
"""How /v1/chat/completions and /v1/completions write answers, whole and as server-sent events."""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

from executorch.extension.llm.runner.conversation import Answer
from executorch.extension.llm.server.errors import RequestError
from executorch.extension.llm.server.pool import Piece
from executorch.extension.llm.server.requests import Generation
from executorch.extension.llm.server.tools import split_calls


@dataclass(frozen=True)
class Form:
    """One route's."""

    prefix: str
    kind: str
    chunk_kind: str
    is_chat: bool

    def head(self, model_id: str, is_chunk: bool) -> dict[str, Any]:
        return {
            "id": f"{self.prefix}-{uuid.uuid4().hex}",
            "object": self.chunk_kind if is_chunk else self.kind,
            "created": int(time.time()),
            "model": model_id,
        }

    def whole(self, model_id: str, answers: Sequence[Answer], wanted: Generation) -> dict[str, Any]:
        choices = [self.last_choice(i, each, wanted, False) for i, each in enumerate(answers)]
        return {**self.head(model_id, False), "choices": choices, **usage(answers)}

    def choice(self, index: int, text: str, reason: str | None, is_chunk: bool) -> dict[str, Any]:
        if not self.is_chat:
            content: dict[str, Any] = {"text": text}
        elif is_chunk:
            content = {"delta": {"content": text} if text or reason is None else {}}
        else:
            content = {"message": {"role": "assistant", "content": text}}
        return {"index": index, **content, "logprobs": None, "finish_reason": reason}

    def last_choice(
        self, index: int, answer: Answer, wanted: Generation, is_chunk: bool
    ) -> dict[str, Any]:
        """Of a whole answer; of a chunk, what has not been sent as it came."""
        sent = is_chunk and not wanted.tools
        choice = self.choice(index, "" if sent else answer.text, answer.reason, is_chunk)
        if wanted.config.top_logprobs >= 0:
            choice["logprobs"] = self.logprobs(answer)
        if wanted.tools:
            content, calls = split_calls(answer.text)
            message = choice["delta" if is_chunk else "message"]
            if calls:
                choice["finish_reason"] = "tool_calls"
                message["content"] = content or None
                message["tool_calls"] = (
                    [{"index": i, **call} for i, call in enumerate(calls)] if is_chunk else calls
                )
            elif is_chunk:
                message["content"] = answer.text
        return choice

    def logprobs(self, answer: Answer) -> dict[str, Any]:
        if self.is_chat:
            return {
                "content": [
                    {
                        **_token(row.text, row.logprob),
                        "top_logprobs": [_token(*b) for b in row.best],
                    }
                    for row in answer.logprobs
                ]
            }
        texts = [_text(row.text) for row in answer.logprobs]
        return {
            "tokens": texts,
            "token_logprobs": [row.logprob for row in answer.logprobs],
            "top_logprobs": [{_text(t): p for t, p in row.best} for row in answer.logprobs],
            "text_offset": [sum(map(len, texts[:i])) for i in range(len(texts))],
        }


CHAT = Form("chatcmpl", "chat.completion", "chat.completion.chunk", True)
COMPLETION = Form("cmpl", "text_completion", "text_completion", False)


def _text(token: bytes) -> str:
    return token.decode(errors="replace")


def _token(text: bytes, logprob: float) -> dict[str, Any]:
    return {"token": _text(text), "logprob": logprob, "bytes": list(text)}


def usage(answers: Sequence[Answer]) -> dict[str, Any]:
    """OpenAI's counts, and times as llama.cpp's server gives them. Choices share one prompt."""
    prompt, made = answers[0].prompt_tokens, sum(each.completion_tokens for each in answers)
    seconds = sum(each.answer_seconds for each in answers)
    later = made - len(answers)  # the first token of each comes of the prompt
    return {
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": made,
            "total_tokens": prompt + made,
            "prompt_tokens_details": {"cached_tokens": answers[0].reused_tokens},
        },
        "timings": {
            "prompt_n": prompt - answers[0].reused_tokens,
            "prompt_ms": 1e3 * sum(each.prompt_seconds for each in answers),
            "predicted_n": made,
            "predicted_ms": 1e3 * seconds,
            "predicted_per_second": later / seconds if seconds else 0.0,
        },
    }


def event(content: dict[str, Any], name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(content, ensure_ascii=False)}\n\n".encode()


async def chunks(
    form: Form, model_id: str, wanted: Generation, pieces: AsyncIterator[Piece]
) -> AsyncIterator[bytes]:
    """Server-sent events; an error that comes later is one of them."""
    head = form.head(model_id, is_chunk=True)
    answers: list[Answer] = []
    if form.is_chat:
        delta = {"delta": {"role": "assistant", "content": ""}, "finish_reason": None}
        for index in range(wanted.count):
            yield event({**head, "choices": [{"index": index, **delta}]})
    async with contextlib.aclosing(pieces):
        try:
            async for index, part in pieces:
                if isinstance(part, Answer):
                    answers.append(part)
                    choice = form.last_choice(index, part, wanted, True)
                elif wanted.tools:
                    continue  # whether it is a call is known at its end
                else:
                    choice = form.choice(index, part, None, True)
                yield event({**head, "choices": [choice]})
            if wanted.include_usage:
                yield event({**head, "choices": [], **usage(answers)})
        except (RequestError, RuntimeError) as problem:
            yield event(RequestError.of(problem).body())
    yield b"data: [DONE]\n\n"
