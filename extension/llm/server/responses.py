# SPDX-License-Identifier: BSD-3-Clause
"""/v1/responses: what its clients ask for, and how answers look, whole and as named server-sent events.

Nothing is kept: a conversation goes on by its whole input, not by previous_response_id.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from executorch.extension.llm.runner.conversation import Answer
from executorch.extension.llm.server.errors import RequestError
from executorch.extension.llm.server.fields import (
    ANYTHING,
    OBJECT,
    SAMPLING,
    Field,
    of_type,
    only,
    positive,
    read,
)
from executorch.extension.llm.server.forms import event
from executorch.extension.llm.server.pool import Piece
from executorch.extension.llm.server.requests import (
    FORMAT,
    TOOLS,
    Generation,
    generation,
    message_of,
    tools_of,
)
from executorch.extension.llm.server.tools import split_calls

_FIELDS: dict[str, Field] = {
    **SAMPLING,
    **TOOLS,
    "input": Field(None, lambda v: isinstance(v, str | list) and len(v) > 0, "a text or items"),
    "instructions": of_type(None, str, "a text"),
    "max_output_tokens": positive(),
    "text": OBJECT,
    "metadata": OBJECT,
    "store": only(False, "false: answers are not kept"),
    "background": only(False, "false: answers are not kept"),
    "previous_response_id": only(None, "nothing: answers are not kept; send the whole input"),
    "conversation": only(None, "nothing: answers are not kept; send the whole input"),
    "include": only([], "nothing: it is not served"),
    "reasoning": only({}, "nothing: it is not served"),
    "truncation": only("disabled", "disabled"),
    "top_logprobs": only(0, "0: they are served by /v1/chat/completions"),
    "service_tier": ANYTHING,
    "safety_identifier": ANYTHING,
    "prompt_cache_key": ANYTHING,
}
# Of the request, as the answer repeats it.
_REPEATED = (
    "instructions", "max_output_tokens", "parallel_tool_calls", "temperature", "tool_choice", "top_p",
    "truncation", "metadata", "user",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A request: what to generate, and what the answer repeats of it."""

    wanted: Generation
    repeated: dict[str, Any]


def read_response(body: bytes, defaults: Mapping[str, Any] | None = None) -> Asked:
    values = read(body, _FIELDS, defaults)
    if values["input"] is None:
        raise RequestError("input: expected a text or items, found none", "input")
    form = _format(values["text"])
    chat = {
        **values,
        "response_format": form,
        "tools": [_tool(tool, i) for i, tool in enumerate(values["tools"])],
        "tool_choice": _choice(values["tool_choice"]),
    }
    tools, call = tools_of(chat)
    wanted = generation(
        chat, values["max_output_tokens"], call=call, messages=_messages(values), tools=tools
    )
    repeated = {name: values[name] for name in _REPEATED}
    tools_given = list(values["tools"])
    return Asked(
        wanted, {**repeated, "tools": tools_given, "text": values["text"] or {"format": form}}
    )


def _format(text: Mapping[str, Any]) -> dict[str, Any]:
    """As chat has it: a schema stands in an object of its own there."""
    for name in text:
        if name != "format":
            raise RequestError(f"text.{name}: this field is not served; known is format", "text")
    form = text.get("format") or FORMAT.default
    if not FORMAT.check(form):
        raise RequestError(f"text.format: expected {FORMAT.expected}, found {form!r}", "text")
    if form["type"] != "json_schema":
        return form
    described = {name: value for name, value in form.items() if name != "type"}
    return {"type": "json_schema", "json_schema": described}


def _tool(tool: Any, place: int) -> Any:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        found = tool.get("type") if isinstance(tool, dict) else tool
        raise RequestError(f"tools[{place}]: expected a function, found {found!r}", "tools")
    return {"type": "function", "function": {k: v for k, v in tool.items() if k != "type"}}


def _choice(choice: Any) -> Any:
    return choice if isinstance(choice, str) else {"function": {"name": choice.get("name")}}


def _messages(values: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The conversation as chat has it; calls that follow each other are of one message."""
    given = values["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    messages: list[dict[str, Any]] = []
    if values["instructions"]:
        messages.append({"role": "system", "content": values["instructions"]})
    for place, item in enumerate(items):
        where = f"input[{place}]"
        made = message_of(_message(item, where), where, "input")
        follows = messages and "tool_calls" in messages[-1]
        if "tool_calls" in made and follows:
            messages[-1]["tool_calls"] += made["tool_calls"]
        else:
            messages.append(made)
    return tuple(messages)


def _message(item: Any, where: str) -> dict[str, Any]:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    if kind == "message":
        return {"role": item.get("role"), "content": item.get("content")}
    if kind == "function_call":
        function = {"name": item.get("name"), "arguments": item.get("arguments")}
        call = {"id": item.get("call_id"), "type": "function", "function": function}
        return {"role": "assistant", "tool_calls": [call]}
    if kind == "function_call_output":
        return {
            "role": "tool",
            "tool_call_id": item.get("call_id"),
            "content": item.get("output"),
        }
    raise RequestError(
        f"{where}: expected a message, function_call or function_call_output, found "
        f"{item if kind is None else kind!r}",
        "input",
    )


def _new_id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex}"


@dataclass
class Response:
    """One answer while it is written. `answer` comes at its end."""

    asked: Asked
    model_id: str
    id: str = field(default_factory=lambda: _new_id("resp"))
    message_id: str = field(default_factory=lambda: _new_id("msg"))
    created: int = field(default_factory=lambda: int(time.time()))
    answer: Answer | None = None

    @property
    def status(self) -> str:
        if self.answer is None:
            return "in_progress"
        return "completed" if self.answer.reason == "stop" else "incomplete"

    def body(self) -> dict[str, Any]:
        cut = self.status == "incomplete"
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": self.status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
            "model": self.model_id,
            "output": [] if self.answer is None else self.items(),
            "previous_response_id": None,
            "reasoning": {"effort": None, "summary": None},
            "store": False,
            "usage": None if self.answer is None else _usage(self.answer),
            **self.asked.repeated,
        }

    def items(self) -> list[dict[str, Any]]:
        """A message, unless the answer is calls alone, then the calls."""
        text, calls = self.answer.text, []
        if self.asked.wanted.tools:
            text, calls = split_calls(text)
        items = [self.message(text)] if text or not calls else []
        for call in calls:
            function = {**call["function"], "call_id": call["id"], "id": _new_id("fc")}
            items.append({"type": "function_call", "status": "completed", **function})
        return items

    def message(self, text: str | None) -> dict[str, Any]:
        """None: it has only begun."""
        return {
            "type": "message",
            "id": self.message_id,
            "status": "in_progress" if text is None else self.status,
            "role": "assistant",
            "content": [] if text is None else [_part(text)],
        }


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(answer: Answer) -> dict[str, Any]:
    return {
        "input_tokens": answer.prompt_tokens,
        "input_tokens_details": {"cached_tokens": answer.reused_tokens},
        "output_tokens": answer.completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.prompt_tokens + answer.completion_tokens,
    }


Event = tuple[str, dict[str, Any]]


class _Message:
    """The events of one message, at its place among the items."""

    def __init__(self, response: Response) -> None:
        self._response = response
        self._item = {"output_index": 0, "item_id": response.message_id, "content_index": 0}

    def begin(self) -> Iterator[Event]:
        yield "output_item.added", {"output_index": 0, "item": self._response.message(None)}
        yield "content_part.added", {**self._item, "part": _part("")}

    def delta(self, text: str) -> Iterator[Event]:
        yield "output_text.delta", {**self._item, "delta": text, "logprobs": []}

    def end(self, item: dict[str, Any]) -> Iterator[Event]:
        (part,) = item["content"]
        yield "output_text.done", {**self._item, "text": part["text"], "logprobs": []}
        yield "content_part.done", {**self._item, "part": part}
        yield "output_item.done", {"output_index": 0, "item": item}


def _call_events(place: int, item: dict[str, Any]) -> Iterator[Event]:
    at = {"output_index": place, "item_id": item["id"]}
    begun = {**item, "status": "in_progress", "arguments": ""}
    yield "output_item.added", {"output_index": place, "item": begun}
    yield "function_call_arguments.delta", {**at, "delta": item["arguments"]}
    yield "function_call_arguments.done", {**at, "arguments": item["arguments"]}
    yield "output_item.done", {"output_index": place, "item": item}


async def _all_events(response: Response, pieces: AsyncIterator[Piece]) -> AsyncIterator[Event]:
    """Of a response, without `response.` before their names."""
    holds_back = bool(response.asked.wanted.tools)  # whether it is a call is known at its end
    message = _Message(response)
    yield "created", {"response": response.body()}
    yield "in_progress", {"response": response.body()}
    begun = False
    async for _, part in pieces:
        if isinstance(part, Answer):
            response.answer = part
        elif not holds_back:
            if not begun:
                for each in message.begin():
                    yield each
            begun = True
            for each in message.delta(part):
                yield each
    body = response.body()
    for place, item in enumerate(body["output"]):
        if item["type"] == "function_call":
            events = [*_call_events(place, item)]
        else:
            text = [] if begun else [*message.begin(), *message.delta(item["content"][0]["text"])]
            events = [*text, *message.end(item)]
        for each in events:
            yield each
    yield response.status, {"response": body}


async def response_chunks(response: Response, pieces: AsyncIterator[Piece]) -> AsyncIterator[bytes]:
    """Server-sent events, numbered; an error that comes later is the last of them."""
    number = 0
    async with contextlib.aclosing(pieces):
        try:
            async for name, content in _all_events(response, pieces):
                kind = f"response.{name}"
                yield event({"type": kind, "sequence_number": number, **content}, kind)
                number += 1
        except (RequestError, RuntimeError) as problem:
            error = RequestError.of(problem).body()["error"]
            event_of_error = {**error, "type": "error", "sequence_number": number}
            yield event(event_of_error, "error")
