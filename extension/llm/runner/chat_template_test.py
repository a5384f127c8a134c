# SPDX-License-Identifier: BSD-3-Clause
"""Chat templates as transformers reads and renders them, from the same folder."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from transformers import PreTrainedTokenizerFast

from executorch.extension.llm.runner.chat_template import ChatTemplate, ChatTemplateError

TALK = [
    {"role": "user", "content": "hi <b>"},
    {"role": "assistant", "content": "yo"},
    {"role": "user", "content": "é?"},
]
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"b": 1, "a": "é"}}}]
TOKENS = {
    "bos_token": "<s>",
    "eos_token": {"content": "</s>", "__type": "AddedToken", "special": True},
    "unk_token": "<unk>",
    "pad_token": "<pad>",
    "extra_special_tokens": {"image_token": "<img>"},
}
NAMED = [
    {"name": "default", "template": "plain {{ tools }}"},
    {"name": "tool_use", "template": "tools {{ tools | length }}"},
]
# a template, and what it is rendered with
ROWS: list[tuple[Any, dict[str, Any]]] = [
    ("{% if tools is not none %}tools{% else %}plain{% endif %}", {}),
    ("{% if tools is not none %}tools{% else %}plain{% endif %}", {"tools": TOOLS}),
    ("{% if documents is not none %}some{% endif %}none {{ tools | tojson }}", {}),
    ("{{ bos_token }}{{ eos_token }}{{ unk_token }}{{ pad_token }}{{ sep_token }}.", {}),
    ("{{ image_token }}{{ cls_token is defined }}", {}),
    ("{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}<{{ m.content }}>{% endgeneration %}\n"
     "{% else %}[{{ m.content }}]{% endif %}{% endfor %}", {}),
    ("{%- generation -%} a {%- endgeneration -%} b", {}),
    ("{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}", {}),
    ("{{ messages | tojson }}", {}),
    ("{{ messages | tojson(ensure_ascii=True) }}{{ messages[0] | tojson(ensure_ascii=False) }}", {}),
    ("{{ messages[0] | tojson(separators=(',', ':')) }}{{ messages | tojson(indent=2) }}", {}),
    ("{{ messages[0] | tojson(sort_keys=true) }}{{ tools | tojson(indent=1, sort_keys=True) }}", {"tools": TOOLS}),
    ("{{ messages[0] | tojson(true, 1, (';', '='), true) }}", {}),
    ("{% for m in messages %}{% if loop.index > 1 %}{% break %}{% endif %}{{ m.content }}{% endfor %}", {}),
    ("{{ thinking }}{{ add_generation_prompt }}", {"thinking": False}),
    (NAMED, {}),
    (NAMED, {"tools": TOOLS}),
    (NAMED[:1], {"tools": TOOLS}),
]  # fmt: skip


def folder_with(folder: Path, template: Any) -> Path:
    tokenizers.Tokenizer(tokenizers.models.BPE()).save(str(folder / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", **TOKENS, "chat_template": template}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    return folder


def test_templates_are_rendered_as_transformers_does(tmp_path: Path) -> None:
    for template, more in ROWS:
        folder = folder_with(tmp_path, template)
        theirs = PreTrainedTokenizerFast.from_pretrained(folder)
        expected = theirs.apply_chat_template(
            TALK, tokenize=False, add_generation_prompt=True, **more
        )
        found = ChatTemplate.beside(folder / "tokenizer.json").render(TALK, **more)
        assert found == expected, template


def test_files_of_templates_win_over_the_settings(tmp_path: Path) -> None:
    """As transformers reads a folder; the file of processors is the last to be asked."""
    folder = folder_with(tmp_path, None)
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": "of a processor"}))
    assert ChatTemplate.beside(folder).render(TALK) == "of a processor"
    folder_with(tmp_path, "settings")
    assert ChatTemplate.beside(folder).render(TALK) == "settings"
    (folder / "chat_template.jinja").write_text("file")
    more = folder / "additional_chat_templates"
    more.mkdir()
    (more / "tool_use.jinja").write_text("file for tools")
    theirs = PreTrainedTokenizerFast.from_pretrained(folder)
    for given, words in (({}, "file"), ({"tools": TOOLS}, "file for tools")):
        assert ChatTemplate.beside(folder).render(TALK, **given) == words
        assert theirs.apply_chat_template(TALK, tokenize=False, **given) == words


def test_templates_may_ask_for_the_date() -> None:
    found = ChatTemplate("{{ strftime_now('%Y-%m %%') }}").render(TALK)
    assert found == f"{datetime.datetime.now():%Y-%m} %"


def test_several_templates_without_a_default_are_refused_by_name(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, NAMED[1:])
    assert ChatTemplate.beside(folder).render(TALK, tools=TOOLS) == "tools 1"
    with pytest.raises(ChatTemplateError, match="default, found tool_use"):
        ChatTemplate.beside(folder).render(TALK)
