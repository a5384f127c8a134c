# SPDX-License-Identifier: BSD-3-Clause
"""Chat templates: messages become the text that an instruction-tuned model was trained on.

The template is Jinja2, as checkpoints carry it: `chat_template.jinja`, or `chat_template` of tokenizer_config.json,
beside tokenizer.json.
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


class ChatTemplate:
    """Threads: any. `special` are the tokens that a template may name: bos_token, eos_token."""

    def __init__(self, source: str, special: Mapping[str, str] | None = None) -> None:
        try:
            import jinja2
            from jinja2.ext import loopcontrols
            from jinja2.sandbox import ImmutableSandboxedEnvironment
        except ImportError as error:
            raise ImportError(
                "chat templates need jinja2: pip install 'executorch[llm-server]'"
            ) from error
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
        )
        environment.filters["tojson"] = _to_json
        environment.globals.update(raise_exception=_refuse, strftime_now=_now)
        self._special = dict(special or {})
        self._errors = jinja2.TemplateError
        try:
            self._template = environment.from_string(source)
        except jinja2.TemplateError as error:
            raise ChatTemplateError(f"the chat template is not Jinja2: {error}") from error

    @classmethod
    def beside(cls, tokenizer: Path, or_chatml: bool = False) -> ChatTemplate:
        """That of a tokenizer's file or folder. ChatML where there is none and `or_chatml`."""
        folder = tokenizer if tokenizer.is_dir() else tokenizer.parent
        config = folder / "tokenizer_config.json"
        settings = json.loads(config.read_text()) if config.is_file() else {}
        special = {
            name: _text(settings[name]) for name in ("bos_token", "eos_token") if settings.get(name)
        }
        alone = folder / "chat_template.jinja"
        source = alone.read_text() if alone.is_file() else _chosen(settings.get("chat_template"))
        if source is None and not or_chatml:
            raise ChatTemplateError(
                f"{folder}: expected chat_template.jinja, or chat_template in tokenizer_config.json, found neither. "
                "Put the checkpoint's there, or take ChatML with --allow-chatml-fallback"
            )
        return cls(source or CHATML, special)

    def render(self, messages: Sequence[Mapping[str, Any]], **more: Any) -> str:
        """The prompt that an answer follows. `more` is passed to the template: tools, enable_thinking, ..."""
        try:
            return self._template.render(
                messages=list(messages), add_generation_prompt=True, **self._special, **more
            )
        except (self._errors, TypeError) as error:
            raise ChatTemplateError(f"the chat template refuses these messages: {error}") from error


def _text(token: Any) -> str:
    return token["content"] if isinstance(token, dict) else str(token)


def _chosen(template: Any) -> str | None:
    """Some checkpoints have several by name."""
    if isinstance(template, list):
        return next((row["template"] for row in template if row["name"] == "default"), None)
    return template


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _refuse(message: str) -> None:
    import jinja2

    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return datetime.datetime.now().strftime(form)
