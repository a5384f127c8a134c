# SPDX-License-Identifier: BSD-3-Clause
"""What clients may ask for, checked: every field that is not served is refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from executorch.examples.llm_server.tools import one_call_of
from executorch.extension.llm.runner import GenerationConfig, check_grammar

MAX_BODY = 4 << 20  # bytes
MAX_STOPS = 16
MAX_TEMPERATURE = 2  # the runner's
MAX_LOGPROBS = 20


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
    tools: tuple[Mapping[str, Any], ...] = ()  # what the answer may call


Check = Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _is_logprobs(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_LOGPROBS


@dataclass(frozen=True)
class Field:
    default: Any
    check: Check
    expected: str


# Fields of both kinds of request; null counts as absent.
_FIELDS: dict[str, Field] = {
    "model": Field("", lambda v: isinstance(v, str), "a text"),
    "temperature": Field(
        1.0,
        lambda v: _is_number(v) and 0 <= v <= MAX_TEMPERATURE,
        f"a number from 0 to {MAX_TEMPERATURE}",
    ),
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
    "response_format": Field(
        {"type": "text"},
        lambda v: isinstance(v, dict) and v.get("type") in _FORMATS,
        "an object with a type of text, json_object or json_schema",
    ),
    # As llama.cpp's server has it.
    "grammar": Field("", lambda v: isinstance(v, str), "a grammar in GBNF"),
}
_FORMATS = ("text", "json_object", "json_schema")
_CHAT_ONLY = {
    "messages": Field(None, lambda v: isinstance(v, list) and len(v) > 0, "a list of messages"),
    "tools": Field((), lambda v: isinstance(v, list), "a list of functions"),
    "tool_choice": Field(
        "auto",
        lambda v: v in ("none", "auto", "required") or isinstance(v, dict),
        "none, auto, required or a function",
    ),
    "parallel_tool_calls": Field(True, lambda v: isinstance(v, bool), "true or false"),
    "logprobs": Field(False, lambda v: isinstance(v, bool), "true or false"),
    "top_logprobs": Field(0, lambda v: _is_logprobs(v), f"a whole number up to {MAX_LOGPROBS}"),
}
_COMPLETION_ONLY = {
    "prompt": Field(None, lambda v: isinstance(v, str | list) and len(v) > 0, "a text or ids"),
    "echo": Field(False, lambda v: isinstance(v, bool), "true or false"),
    "logprobs": Field(None, lambda v: _is_logprobs(v), f"a whole number up to {MAX_LOGPROBS}"),
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


def _checked(grammar: str, kind: str, param: str) -> tuple[str, str]:
    try:
        check_grammar(grammar, kind)
    except RuntimeError as error:
        raise RequestError(f"{param}: {error}", param) from error
    return grammar, kind


def _grammar(values: Mapping[str, Any]) -> tuple[str, str]:
    """Of the answer, and its kind; two empty texts for any answer."""
    wanted = values["response_format"]
    if values["grammar"] and wanted["type"] != "text":
        raise RequestError("grammar: expected none beside response_format", "grammar")
    if values["grammar"]:
        return _checked(values["grammar"], "gbnf", "grammar")
    if wanted["type"] == "json_object":
        return '{"type": "object"}', "json_schema"
    if wanted["type"] == "json_schema":
        described = wanted.get("json_schema")
        if not isinstance(described, dict) or "schema" not in described:
            raise RequestError(
                "response_format: expected json_schema to be an object with schema",
                "response_format",
            )
        return _checked(json.dumps(described["schema"]), "json_schema", "response_format")
    return "", ""


def _tools(values: Mapping[str, Any]) -> tuple[tuple[Mapping[str, Any], ...], str]:
    """What the answer may call, and the grammar of one that must."""
    choice = values["tool_choice"]
    for place, tool in enumerate(values["tools"]):
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise RequestError(f"tools[{place}]: expected a function with a name", "tools")
    tools = tuple(values["tools"])
    if choice == "none":
        return (), ""
    called = tools
    if isinstance(choice, dict):
        name = (choice.get("function") or {}).get("name")
        called = tuple(tool for tool in tools if tool["function"]["name"] == name)
    if choice == "auto":
        return tools, ""
    if not called:
        raise RequestError("tool_choice: expected a function of tools, found none", "tool_choice")
    try:
        return tools, one_call_of(called)
    except RuntimeError as error:
        raise RequestError(f"tools: {error}", "tools") from error


def _generation(
    values: Mapping[str, Any], top_logprobs: int, call: str = "", **prompt: Any
) -> Generation:
    grammar, kind = _grammar(values)
    if call and grammar:
        raise RequestError("tool_choice: expected none beside response_format", "tool_choice")
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
            grammar=call or grammar,
            grammar_type="gbnf" if call else kind,
            top_logprobs=top_logprobs,
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
    if content is None and message.get("tool_calls"):
        content = ""
    if isinstance(content, list):
        parts = [p.get("text") for p in content if isinstance(p, dict) and p.get("type") == "text"]
        if len(parts) != len(content) or not all(isinstance(part, str) for part in parts):
            raise RequestError(f"{where}.content: only parts of type text are served", "messages")
        content = "".join(parts)
    if not isinstance(content, str):
        raise RequestError(f"{where}.content: expected a text, found {content!r}", "messages")
    return {**message, "content": content, **_called(message, where)}


def _called(message: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Calls of an earlier answer: templates want their arguments as objects, clients send texts."""
    calls = message.get("tool_calls")
    if not calls:
        return {}
    try:
        return {"tool_calls": [_call(call) for call in calls]}
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise RequestError(
            f"{where}.tool_calls: expected functions with arguments", "messages"
        ) from error


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    arguments = function["arguments"]
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    return {**call, "function": {**function, "arguments": arguments}}


def read_chat(body: bytes) -> Generation:
    values = _read(body, {**_FIELDS, **_CHAT_ONLY})
    if values["messages"] is None:
        raise RequestError("messages: expected a list of messages, found none", "messages")
    messages = tuple(_message(message, i) for i, message in enumerate(values["messages"]))
    if values["top_logprobs"] and not values["logprobs"]:
        raise RequestError("top_logprobs: expected logprobs to be true with it", "top_logprobs")
    tools, call = _tools(values)
    top_logprobs = values["top_logprobs"] if values["logprobs"] else -1
    return _generation(values, top_logprobs, call, messages=messages, tools=tools)


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
    top_logprobs = -1 if values["logprobs"] is None else values["logprobs"]
    return _generation(values, top_logprobs, prompt=prompt)
