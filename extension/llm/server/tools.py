# SPDX-License-Identifier: BSD-3-Clause
"""Functions that a model may call: how an answer names them, and grammars that make it.

The form is that of Hermes, Qwen and SmolLM2: <tool_call>{"name": ..., "arguments": {...}}</tool_call>.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from executorch.extension.llm.runner import json_schema_to_gbnf

BEGIN, END = "<tool_call>", "</tool_call>"


def split_calls(text: str) -> tuple[str, list[dict[str, Any]]]:
    """The text around the calls, and the calls as clients get them. What is no call stays text."""
    rest: list[str] = []
    calls: list[dict[str, Any]] = []
    while True:
        before, begin, behind = text.partition(BEGIN)
        inside, end, after = behind.partition(END)
        found = _read(inside) if begin else None
        if not begin:
            rest.append(text)
            return "".join(rest).strip(), calls
        if found is None:
            rest.append(before + begin)
            text = behind
            continue
        rest.append(before)
        calls += found
        text = after


def _read(text: str) -> list[dict[str, Any]] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    rows = found if isinstance(found, list) else [found]
    if not all(isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows):
        return None
    return [
        {
            "id": f"call_{uuid.uuid4().hex[:24]}",
            "type": "function",
            "function": {
                "name": row["name"],
                "arguments": json.dumps(row.get("arguments", {}), ensure_ascii=False),
            },
        }
        for row in rows
    ]


def one_call_of(tools: Sequence[Mapping[str, Any]]) -> str:
    """GBNF of an answer that calls one of the functions. RuntimeError for parameters that are not served."""
    # Each function's schema is a root of its own: its references are its own.
    parts, names = [], []
    for i, tool in enumerate(tools):
        arguments = dict(tool["function"].get("parameters") or {"type": "object"})
        definitions = {
            key: arguments.pop(key) for key in ("$defs", "definitions") if key in arguments
        }
        call = {
            "type": "object",
            "properties": {"name": {"const": tool["function"]["name"]}, "arguments": arguments},
            "required": ["name", "arguments"],
        }
        parts.append(_renamed(json_schema_to_gbnf(json.dumps({**call, **definitions})), f"f{i}-"))
        names.append(f"f{i}-root")
    choice = " | ".join(names)
    return f'root ::= "{BEGIN}\\n" ({choice}) "\\n{END}"\n' + "".join(parts)


def _renamed(gbnf: str, prefix: str) -> str:
    """The same rules under other names. Quoted texts and sets are left alone."""
    out: list[str] = []
    at = 0
    while at < len(gbnf):
        c = gbnf[at]
        if c in '"[':
            close = '"' if c == '"' else "]"
            end = at + 1
            while gbnf[end] != close:
                end += 2 if gbnf[end] == "\\" else 1
            out.append(gbnf[at : end + 1])
            at = end + 1
        elif c == "{":
            end = gbnf.index("}", at)
            out.append(gbnf[at : end + 1])
            at = end + 1
        elif c.isalnum():
            end = at
            while end < len(gbnf) and (gbnf[end].isalnum() or gbnf[end] in "-_"):
                end += 1
            out.append(prefix + gbnf[at:end])
            at = end
        else:
            out.append(c)
            at += 1
    return "".join(out)
