# SPDX-License-Identifier: BSD-3-Clause
"""What clients may ask for by chat and completion, checked: every field that is not served is refused by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from executorch.extension.llm.runner import GenerationConfig, check_grammar, sampling_settings
from executorch.extension.llm.server.errors import RequestError
from executorch.extension.llm.server.fields import (
    ANYTHING,
    FLAG,
    MAX_CHOICES,
    MAX_LOGPROBS,
    MAX_STOPS,
    SAMPLING,
    Field,
    is_integer,
    of_type,
    only,
    positive,
    read,
)
from executorch.extension.llm.server.tools import one_call_of

# What a message's role may be, and what chat templates call it.
ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}


@dataclass(frozen=True)
class Generation:
    """Answers that a client waits for: `count` of them, to `messages` or `prompt`, a text or ids."""

    config: GenerationConfig
    stops: tuple[str, ...]
    stream: bool
    include_usage: bool
    count: int = 1
    messages: tuple[Mapping[str, Any], ...] | None = None
    prompt: str | tuple[int, ...] | None = None
    tools: tuple[Mapping[str, Any], ...] = ()  # what the answer may call


_FORMATS = ("text", "json_object", "json_schema")
FORMAT = Field(
    {"type": "text"},
    lambda v: isinstance(v, dict) and v.get("type") in _FORMATS,
    "an object with a type of text, json_object or json_schema",
)
# Of answers with tools.
TOOLS: dict[str, Field] = {
    "tools": of_type((), list, "a list of functions"),
    "tool_choice": Field(
        "auto",
        lambda v: v in ("none", "auto", "required") or isinstance(v, dict),
        "none, auto, required or a function",
    ),
    "parallel_tool_calls": of_type(True, bool, "true or false"),
}
_LOGPROBS = f"a whole number up to {MAX_LOGPROBS}"
_BOTH: dict[str, Field] = {
    **SAMPLING,
    "n": Field(
        1, lambda v: is_integer(v, 1, MAX_CHOICES), f"a whole number from 1 to {MAX_CHOICES}"
    ),
    "max_tokens": positive(),
    "max_completion_tokens": positive(),
    "stop": of_type((), (str, list), "a text or a list of texts"),
    "logit_bias": only({}, "nothing: it is not served"),
    "response_format": FORMAT,
}
_CHAT = {
    **_BOTH,
    **TOOLS,
    "messages": Field(None, lambda v: isinstance(v, list) and len(v) > 0, "a list of messages"),
    "logprobs": FLAG,
    "top_logprobs": Field(0, lambda v: is_integer(v, 0, MAX_LOGPROBS), _LOGPROBS),
    # What new clients of OpenAI send, and what changes nothing here.
    "store": only(False, "false: answers are not kept"),
    "metadata": ANYTHING,
    "service_tier": ANYTHING,
}
_COMPLETION = {
    **_BOTH,
    "prompt": Field(None, lambda v: isinstance(v, str | list) and len(v) > 0, "a text or ids"),
    "echo": only(False, "false: it is not served"),
    "logprobs": Field(None, lambda v: is_integer(v, 0, MAX_LOGPROBS), _LOGPROBS),
    "suffix": only(None, "nothing: it is not served"),
    "best_of": only(1, "1"),
}


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


def tools_of(values: Mapping[str, Any]) -> tuple[tuple[Mapping[str, Any], ...], str]:
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
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        called = tuple(tool for tool in tools if tool["function"]["name"] == name)
    if choice == "auto":
        return tools, ""
    if not called:
        raise RequestError("tool_choice: expected a function of tools, found none", "tool_choice")
    try:
        return tools, one_call_of(called)
    except RuntimeError as error:
        raise RequestError(f"tools: {error}", "tools") from error


def generation(
    values: Mapping[str, Any],
    limit: int | None,
    top_logprobs: int = -1,
    call: str = "",
    **prompt: Any,
) -> Generation:
    """Of checked values. `call`: the grammar of a call that must be made; `prompt`: messages, or prompt."""
    grammar, kind = _grammar(values)
    if call and grammar:
        raise RequestError("tool_choice: expected none beside response_format", "tool_choice")
    return Generation(
        config=GenerationConfig(
            echo=False,
            silent=True,
            **{name: values[name] for name in sampling_settings()},
            max_new_tokens=-1 if limit is None else min(limit, 2**31 - 1),
            seed=values["seed"],
            grammar=call or grammar,
            grammar_type="gbnf" if call else kind,
            top_logprobs=top_logprobs,
        ),
        stops=_stops(values.get("stop", ())),
        stream=values["stream"],
        include_usage=bool(values["stream_options"].get("include_usage")),
        count=values.get("n", 1),
        **prompt,
    )


def message_of(message: Any, where: str, param: str) -> dict[str, Any]:
    """A checked message for the template, with text alone; a list of parts of text is joined."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise RequestError(f"{where}: expected an object with role and content", param)
    if message["role"] not in ROLES:
        raise RequestError(
            f"{where}.role: expected one of {', '.join(ROLES)}, found {message['role']!r}", param
        )
    content = message.get("content")
    if content is None and message.get("tool_calls"):
        content = ""
    if isinstance(content, list):
        texts = ("text", "input_text", "output_text")  # the second and third are of /v1/responses
        parts = [p.get("text") for p in content if isinstance(p, dict) and p.get("type") in texts]
        if len(parts) != len(content) or not all(isinstance(part, str) for part in parts):
            raise RequestError(f"{where}.content: only parts of type text are served", param)
        content = "".join(parts)
    if not isinstance(content, str):
        raise RequestError(f"{where}.content: expected a text, found {content!r}", param)
    return {
        **message,
        "role": ROLES[message["role"]],
        "content": content,
        **_called(message, where, param),
    }


def _called(message: Mapping[str, Any], where: str, param: str) -> dict[str, Any]:
    """Calls of an earlier answer: templates want their arguments as objects, clients send texts."""
    calls = message.get("tool_calls")
    if not calls:
        return {}
    try:
        return {"tool_calls": [_call(call) for call in calls]}
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise RequestError(
            f"{where}.tool_calls: expected functions with arguments", param
        ) from error


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    arguments = function["arguments"]
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    return {**call, "function": {**function, "arguments": arguments}}


def _limit(values: Mapping[str, Any]) -> int | None:
    return values["max_completion_tokens"] or values["max_tokens"]


def read_chat(body: bytes, defaults: Mapping[str, Any] | None = None) -> Generation:
    values = read(body, _CHAT, defaults)
    if values["messages"] is None:
        raise RequestError("messages: expected a list of messages, found none", "messages")
    messages = tuple(
        message_of(message, f"messages[{i}]", "messages")
        for i, message in enumerate(values["messages"])
    )
    if values["top_logprobs"] and not values["logprobs"]:
        raise RequestError("top_logprobs: expected logprobs to be true with it", "top_logprobs")
    tools, call = tools_of(values)
    top_logprobs = values["top_logprobs"] if values["logprobs"] else -1
    return generation(values, _limit(values), top_logprobs, call, messages=messages, tools=tools)


def read_completion(
    body: bytes, vocabulary: int, defaults: Mapping[str, Any] | None = None
) -> Generation:
    values = read(body, _COMPLETION, defaults)
    prompt = values["prompt"]
    if prompt is None:
        raise RequestError("prompt: expected a text or ids, found none", "prompt")
    if isinstance(prompt, list):
        prompt = ids_of(prompt, vocabulary, "prompt")
    top_logprobs = -1 if values["logprobs"] is None else values["logprobs"]
    return generation(values, _limit(values), top_logprobs, prompt=prompt)


def ids_of(given: list[Any], vocabulary: int, param: str) -> tuple[int, ...]:
    if not all(is_integer(i, 0, vocabulary - 1) for i in given):
        raise RequestError(f"{param}: expected a text, or ids from 0 to {vocabulary - 1}", param)
    return tuple(given)
