# SPDX-License-Identifier: BSD-3-Clause
"""The fields of requests as tables: what each may be, and what it is when it is absent."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from executorch.extension.llm.runner import sampling_settings
from executorch.extension.llm.server.errors import RequestError

MAX_BODY = 4 << 20  # bytes
MAX_STOPS = 16
MAX_LOGPROBS = 20
MAX_CHOICES = 16


@dataclass(frozen=True)
class Field:
    default: Any
    check: Callable[[Any], bool]
    expected: str


def is_number(value: Any, low: float, high: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def is_integer(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def number(default: float, low: float, high: float) -> Field:
    """A whole one where the default is."""
    check, kind = (
        (is_integer, "whole number") if isinstance(default, int) else (is_number, "number")
    )
    return Field(default, lambda v: check(v, low, high), f"a {kind} from {low:.10g} to {high:.10g}")


def positive() -> Field:
    return Field(None, lambda v: is_integer(v, 1, 1 << 62), "a whole number above 0")


def of_type(default: Any, types: type | tuple[type, ...], expected: str) -> Field:
    return Field(default, lambda v: isinstance(v, types), expected)


def only(value: Any, expected: str) -> Field:
    """Known, and served only where it changes nothing."""
    return Field(value, lambda v: v == value, expected)


ANYTHING = Field(None, lambda v: True, "anything")
TEXT = of_type("", str, "a text")
FLAG = of_type(False, bool, "true or false")
OBJECT = of_type({}, dict, "an object")

# What OpenAI's server does where neither the request nor the checkpoint says.
_OPEN: dict[str, float] = {
    "temperature": 1.0,
    "top_k": 0,
    "top_p": 1.0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
}
# Of every answer that is generated; null counts as absent.
SAMPLING: dict[str, Field] = {
    "model": TEXT,
    "user": ANYTHING,
    "stream": FLAG,
    "stream_options": OBJECT,
    **{name: number(_OPEN[name], *bounds) for name, bounds in sampling_settings().items()},
    "seed": Field(None, lambda v: is_integer(v, 0, (1 << 63) - 1), "a whole number"),
    # As llama.cpp's server has it.
    "grammar": of_type("", str, "a grammar in GBNF"),
}


def read(
    body: bytes, fields: Mapping[str, Field], defaults: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The value of every field. RequestError for what is no JSON object, has other fields or other values."""
    found = _object(body)
    values = {name: field.default for name, field in fields.items()} | dict(defaults or {})
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


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
        # Half of a surrogate pair, as "\ud83d", is JSON and no text.
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        message = str(error).encode(errors="replace").decode()
        raise RequestError(f"expected a JSON object, found none: {message}") from error
    if not isinstance(found, dict):
        raise RequestError(f"expected a JSON object, found {type(found).__name__}")
    return found
