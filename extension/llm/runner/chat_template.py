# SPDX-License-Identifier: BSD-3-Clause
"""Chat templates: messages become the text that an instruction-tuned model was trained on.

The template is Jinja2, as checkpoints carry it beside tokenizer.json: `chat_template.jinja`, or `chat_template` of
tokenizer_config.json; perhaps several by name.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class ChatTemplateError(ValueError):
    """There is no template, it is not one, or it refuses these messages."""


# Tokens that a template may name, as tokenizer_config.json has them; others stand in extra_special_tokens by name.
SPECIAL = tuple(f"{name}_token" for name in "bos eos unk sep pad cls mask".split())
DEFAULT, WITH_TOOLS = "default", "tool_use"


class ChatTemplate:
    """Threads: any. `source`: a template, or several by name, of which `tool_use` is for conversations with tools;
    `special`: the tokens that a template may name."""

    def __init__(
        self, source: str | Mapping[str, str], special: Mapping[str, Any] | None = None
    ) -> None:
        try:
            import jinja2
        except ImportError as error:
            raise ImportError("chat templates need jinja2: pip install jinja2") from error
        environment = _environment()
        sources = {DEFAULT: source} if isinstance(source, str) else source
        self._special = dict(special or {})
        self._errors = jinja2.TemplateError
        try:
            self._templates = {
                name: environment.from_string(each) for name, each in sources.items()
            }
        except jinja2.TemplateError as error:
            raise ChatTemplateError(f"the chat template is not Jinja2: {error}") from error

    @classmethod
    def beside(cls, tokenizer: Path, or_chatml: bool = False) -> ChatTemplate:
        """That of a tokenizer's file or folder. ChatML where there is none and `or_chatml`."""
        folder = tokenizer if tokenizer.is_dir() else tokenizer.parent
        settings = _json(folder / "tokenizer_config.json")
        sources = _sources(folder, settings)
        if not sources and not or_chatml:
            raise ChatTemplateError(
                f"{folder}: expected chat_template.jinja, or chat_template in tokenizer_config.json, found neither. "
                "Put the checkpoint's there, or take ChatML with --allow-chatml-fallback"
            )
        return cls(sources or CHATML, _special(settings))

    def render(self, messages: Sequence[Mapping[str, Any]], **more: Any) -> str:
        """The prompt that an answer follows. `more` is passed to the template: tools, enable_thinking, ...; what
        templates always ask for is None where it is not there."""
        given = {"tools": None, "documents": None, **self._special, **more}
        wanted = WITH_TOOLS if given["tools"] is not None else DEFAULT
        template = self._templates.get(wanted) or self._templates.get(DEFAULT)
        if template is None:
            raise ChatTemplateError(
                f"expected a chat template named {DEFAULT}, found {', '.join(self._templates)}"
            )
        try:
            return template.render(messages=list(messages), add_generation_prompt=True, **given)
        except (self._errors, TypeError) as error:
            raise ChatTemplateError(f"the chat template refuses these messages: {error}") from error


def _environment() -> Any:
    """Jinja2 as transformers sets it up, whose templates these are."""
    from jinja2 import ext, nodes
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Generation(ext.Extension):
        """{% generation %}: which text is an answer, for training. The text stays as it is."""

        tags = {"generation"}

        def parse(self, parser: Any) -> nodes.Node:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.CallBlock(self.call_method("_text"), [], [], body).set_lineno(line)

        def _text(self, caller: Any) -> str:
            return caller()

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, ext.loopcontrols]
    )
    environment.filters["tojson"] = _to_json
    environment.globals.update(raise_exception=_refuse, strftime_now=_now)
    return environment


def _sources(folder: Path, settings: Mapping[str, Any]) -> dict[str, str]:
    """Templates by name: files win over what the settings hold."""
    held = settings.get("chat_template") or _json(folder / "chat_template.json").get(
        "chat_template"
    )
    rows = held if isinstance(held, list) else [{"name": DEFAULT, "template": held}] if held else []
    found = {row["name"]: row["template"] for row in rows}
    files = {
        DEFAULT: folder / "chat_template.jinja",
        WITH_TOOLS: folder / "additional_chat_templates" / f"{WITH_TOOLS}.jinja",
    }
    return found | {name: path.read_text() for name, path in files.items() if path.is_file()}


def _special(settings: Mapping[str, Any]) -> dict[str, Any]:
    named = settings.get("extra_special_tokens")
    extra = named if isinstance(named, dict) else {}
    found = {name: settings[name] for name in SPECIAL if settings.get(name)} | extra
    return {name: _text(token) for name, token in found.items()}


def _json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.is_file() else {}


def _text(token: Any) -> str:
    return token["content"] if isinstance(token, dict) else str(token)


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Jinja2's own writes HTML's escapes."""
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> None:
    import jinja2

    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return datetime.datetime.now().strftime(form)
