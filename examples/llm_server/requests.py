# SPDX-License-Identifier: BSD-3-Clause
"""What clients may ask for, checked: every field that is not served is refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from executorch.extension.llm.runner import GenerationConfig

MAX_BODY = 4 << 20  # bytes
MAX_STOPS = 16


class RequestError(Exception):
    """Becomes an answer of this status to this client."""

    def __init__(
        self,
        message: str,
        param: str | None = None,
        status: int = 400,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.param, self.status, self.code = param, status, code

    def body(self) -> dict[str, Any]:
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {
            "error": {
                "message": str(self),
                "type": kind,
                "param": self.param,
                "code": self.code,
            }
        }


@dataclass(frozen=True)
class Generation:
    """One answer that a client waits for. `messages` or `prompt`, a text or ids."""

    config: GenerationConfig
    stops: tuple[str, ...]
    stream: bool
    include_usage: bool
    messages: tuple[Mapping[str, Any], ...] | None = None
    prompt: str | tuple[int, ...] | None = None


Check = Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


@dataclass(frozen=True)
class Field:
    default: Any
    check: Check
    expected: str


# Fields of both kinds of request; null counts as absent.
_FIELDS: dict[str, Field] = {
    "model": Field("", lambda v: isinstance(v, str), "a text"),
    "temperature": Field(1.0, lambda v: _is_number(v) and 0 <= v <= 1, "a number from 0 to 1"),
    "top_p": Field(1.0, lambda v: _is_number(v) and 0 < v <= 1, "a number above 0, up to 1"),
    "top_k": Field(0, lambda v: isinstance(v, int) and 0 <= v < 1 << 31, "a whole number"),
    "min_p": Field(0.0, lambda v: _is_number(v) and 0 <= v <= 1, "a number from 0 to 1"),
    "repetition_penalty": Field(
        1.0, lambda v: _is_number(v) and 0.01 <= v <= 100, "a number from 0.01 to 100"
    ),
    "max_tokens": Field(None, _is_count, "a whole number above 0"),
    "max_completion_tokens": Field(None, _is_count, "a whole number above 0"),
    "seed": Field(0, _is_seed, "a whole number"),
    "stop": Field((), lambda v: isinstance(v, str | list), "a text or a list of texts"),
    "stream": Field(False, lambda v: isinstance(v, bool), "true or false"),
    "stream_options": Field({}, lambda v: isinstance(v, dict), "an object"),
    "n": Field(1, lambda v: v == 1, "1"),
    "user": Field(None, lambda v: True, "anything"),
    # Known, and served only where they change nothing.
    "frequency_penalty": Field(0, lambda v: v == 0, "0 (repetition_penalty is served)"),
    "presence_penalty": Field(0, lambda v: v == 0, "0 (repetition_penalty is served)"),
    "logit_bias": Field({}, lambda v: v == {}, "nothing: it is not served"),
    "logprobs": Field(False, lambda v: v in (False, 0), "false: they are not served"),
    "top_logprobs": Field(0, lambda v: v == 0, "0: they are not served"),
    "response_format": Field(
        {"type": "text"}, lambda v: v == {"type": "text"}, '{"type": "text"}: no other is served'
    ),
}
_CHAT_ONLY = {
    "messages": Field(None, lambda v: isinstance(v, list) and len(v) > 0, "a list of messages"),
    "tools": Field(None, lambda v: v in (None, []), "nothing: tools are not served"),
    "tool_choice": Field(None, lambda v: v in (None, "none"), "none: tools are not served"),
}
_COMPLETION_ONLY = {
    "prompt": Field(None, lambda v: isinstance(v, str | list) and len(v) > 0, "a text or ids"),
    "echo": Field(False, lambda v: isinstance(v, bool), "true or false"),
    "suffix": Field(None, lambda v: v is None, "nothing: it is not served"),
    "best_of": Field(1, lambda v: v == 1, "1"),
}


def _read(body: bytes, fields: Mapping[str, Field]) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(f"expected a JSON object, found none: {error}") from error
    if not isinstance(found, dict):
        raise RequestError(f"expected a JSON object, found {type(found).__name__}")
    values = {name: field.default for name, field in fields.items()}
    for name, value in found.items():
        if name not in fields:
            raise RequestError(
                f"{name}: this field is not served; known are {', '.join(fields)}", name
            )
        if value is None:
            continue
        if not fields[name].check(value):
            raise RequestError(f"{name}: expected {fields[name].expected}, found {value!r}", name)
        values[name] = value
    return values


def _stops(given: str | list[Any] | tuple[()]) -> tuple[str, ...]:
    stops = [given] if isinstance(given, str) else list(given)
    if len(stops) > MAX_STOPS or not all(isinstance(s, str) and s for s in stops):
        raise RequestError(f"stop: expected up to {MAX_STOPS} texts, found {given!r}", "stop")
    return tuple(stops)


def _generation(values: Mapping[str, Any], **prompt: Any) -> Generation:
    limit = values["max_completion_tokens"] or values["max_tokens"]
    return Generation(
        config=GenerationConfig(
            echo=False,
            silent=True,
            temperature=values["temperature"],
            top_p=values["top_p"],
            top_k=values["top_k"],
            min_p=values["min_p"],
            repetition_penalty=values["repetition_penalty"],
            max_new_tokens=-1 if limit is None else min(limit, 2**31 - 1),
            seed=values["seed"],
        ),
        stops=_stops(values["stop"]),
        stream=values["stream"],
        include_usage=bool(values["stream_options"].get("include_usage")),
        **prompt,
    )


def _message(message: Any, place: int) -> dict[str, Any]:
    """One with text alone; a list of parts of text is joined."""
    where = f"messages[{place}]"
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise RequestError(f"{where}: expected an object with role and content", "messages")
    content = message.get("content")
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict) and p.get("type") == "text"]
        if len(parts) != len(content) or not all(isinstance(part, str) for part in parts):
            raise RequestError(f"{where}.content: only parts of type text are served", "messages")
        content = "".join(parts)
    if not isinstance(content, str):
        raise RequestError(f"{where}.content: expected a text, found {content!r}", "messages")
    return {**message, "content": content}


def read_chat(body: bytes) -> Generation:
    values = _read(body, {**_FIELDS, **_CHAT_ONLY})
    if values["messages"] is None:
        raise RequestError("messages: expected a list of messages, found none", "messages")
    messages = tuple(_message(message, i) for i, message in enumerate(values["messages"]))
    return _generation(values, messages=messages)


def read_completion(body: bytes, vocabulary: int) -> Generation:
    values = _read(body, {**_FIELDS, **_COMPLETION_ONLY})
    prompt = values["prompt"]
    if isinstance(prompt, list):
        if not all(isinstance(i, int) and 0 <= i < vocabulary for i in prompt):
            raise RequestError(
                f"prompt: expected a text, or ids from 0 to {vocabulary - 1}", "prompt"
            )
        prompt = tuple(prompt)
    if prompt is None:
        raise RequestError("prompt: expected a text or ids, found none", "prompt")
    if values["echo"]:
        raise RequestError("echo: it is not served", "echo")
    return _generation(values, prompt=prompt)
