# SPDX-License-Identifier: BSD-3-Clause
"""Conversations in the browser: they survive, have names, go into files and back; a full or forbidden store is told."""

from __future__ import annotations

import json
from typing import Any

import pytest

from executorch.extension.llm.server.page.conftest import (
    IS_IDLE,
    TALK,
    Scripted,
    before_scripts,
    css,
    key,
    open_page,
    reload,
    send,
    write,
)
from executorch.test.e2e.chromium import Chromium, needs_chromium

pytestmark = needs_chromium
NAMES = "[...document.querySelectorAll('#list a')].map(link => link.textContent)"
# Files that are saved, as texts, and no dialog.
SAVED = """window.saved = [];
URL.createObjectURL = blob => { blob.text().then(text => saved.push(text)); return 'blob:x' };
HTMLAnchorElement.prototype.click = function () { saved.push(this.download) }"""
FULL = """const { put } = IDBObjectStore.prototype;
window.isFull = true;
IDBObjectStore.prototype.put = function (value) {
  if (isFull) throw new DOMException('no', 'QuotaExceededError');
  return put.call(this, value) }"""
FORBIDDEN = "Object.defineProperty(window, 'indexedDB', {get() { throw new DOMException('no', 'SecurityError') }})"


def names(page: Chromium, *expected: str) -> None:
    page.wait_for(
        f"JSON.stringify({NAMES}) === {json.dumps(json.dumps(expected, separators=(',', ':')))}"
    )


def test_conversations_survive_a_reload(scripted: tuple[Scripted, str], page: Chromium) -> None:
    made, address = scripted
    open_page(page, address)
    send(page, "first *one*")
    page.click("#new")
    page.wait_for("!document.querySelector('#empty').hidden")
    send(page, "second")
    names(page, "second", "first *one*")
    talk = page.value(TALK)
    reload(page)
    assert page.value(TALK) == talk == [["user", "second"], ["assistant", "You said: second"]]
    assert page.value(css(".stats")) == "7 tokens, 12.3 tokens/s"
    page.click("#list li:nth-child(2) a")
    page.wait_for(f"{css('.said')} === 'first *one*'")
    assert page.value(css("#list [aria-current]")) == "first *one*"
    send(page, "more")
    assert [m["content"] for m in made.asked[-1]] == [
        "first *one*",
        "You said: first *one*",
        "more",
    ]
    names(page, "first *one*", "second")
    page.value("history.back()")
    page.wait_for(f"{css('.said')} === 'second'")


def test_an_answer_that_is_cut_by_a_reload_is_kept(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    _, address = scripted
    before_scripts(
        page, "const now = Date.now; let later = 0; Date.now = () => now() + (later += 200)"
    )
    open_page(page, address)
    write(page, "forever")
    key(page, "Enter", "\r")
    page.wait_for(f"({css('.assistant .text')} ?? '').includes('word 30')")
    reload(page)
    (_, asked), (kind, text), note = page.value(TALK)
    assert (asked, kind) == ("forever", "assistant") and text.startswith("word 0 word 1 word 2")
    assert note == ["note", "Cut off: the page was closed."]


def test_renaming_deleting_and_undoing(scripted: tuple[Scripted, str], page: Chromium) -> None:
    _, address = scripted
    open_page(page, address)
    send(page, "first")
    for typed, name, expected in (("Renamed", "Enter", "Renamed"), ("Other", "Escape", "Renamed")):
        page.click(".rename")
        page.write(typed)
        key(page, name, "\r" if name == "Enter" else "")
        names(page, expected)
    reload(page)
    names(page, "Renamed")
    page.click(".remove")
    names(page)
    assert page.value(TALK) == []
    page.wait_for(f"{css('#notice')} === 'Deleted: Renamed. Undo'")
    page.click("#notice button")
    names(page, "Renamed")
    page.wait_for(f"{css('.said')} === 'first'")
    page.click(".remove")
    names(page)
    reload(page)
    names(page)


def test_what_is_deleted_while_it_is_answered_stays_away(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    open_page(page, address)
    write(page, "forever")
    key(page, "Enter", "\r")
    page.wait_for(f"({css('.assistant .text')} ?? '').includes('word 3')")
    page.click(".remove")
    names(page)
    send(page, "next")
    names(page, "next")
    assert made.left == 1
    reload(page)
    names(page, "next")


def give(page: Chromium, text: str, name: str = "talk.json") -> None:
    """As a file that is chosen to import."""
    page.value(
        f"(() => {{ const data = new DataTransfer(), field = document.querySelector('#imported');"
        f"data.items.add(new File([{json.dumps(text)}], '{name}'));"
        "field.files = data.files; field.dispatchEvent(new Event('change')) })()"
    )


def test_leaving_and_coming_back_at_once_loses_nothing(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    _, address = scripted
    open_page(page, address)
    write(page, "forever")
    key(page, "Enter", "\r")
    page.wait_for(f"({css('.assistant .text')} ?? '').includes('word 3') && !!{css('#list .open')}")
    page.value(
        "window.here = location.hash; document.querySelector('#new').click(); location.hash = here"
    )
    page.wait_for(f"({css('.assistant .text')} ?? '').includes('word 3')")
    reload(page)
    assert page.value(TALK)[2] == ["note", "Stopped."]


def test_a_conversation_goes_into_a_file_and_back(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    _, address = scripted
    before_scripts(page, SAVED)
    open_page(page, address)
    page.value("document.querySelector('#system').value = 'Be brief.'")
    send(page, "call")
    page.click(".save")
    page.wait_for("saved.length === 2")
    name, text = page.value("saved")
    assert name == "call.json"
    page.click(".remove")
    names(page)
    page.value("document.querySelector('#system').value = ''")
    give(page, text)
    names(page, "call")
    page.wait_for("!!document.querySelector('.call')")
    assert page.value(css("#system", "value")) == "Be brief."
    written: dict[str, Any] = json.loads(text)
    picture = {"kind": "image", "name": "a", "type": "b", "url": "https://x.org/a"}
    bad = (
        {"role": "admin", "content": ""},
        {"role": "user", "content": "x", "files": [picture]},
        {"role": "user"},
    )
    for wrong in ("{", "[]", "{}", *(json.dumps({**written, "messages": [each]}) for each in bad)):
        page.value("document.querySelector('#notice').textContent = ''")
        give(page, wrong, "wrong.json")
        page.wait_for(f"!!{css('#notice')}")
        assert page.value(css("#notice")) == (
            "wrong.json: Expected a conversation that this page exported, found another file."
        )
    names(page, "call")


@pytest.mark.parametrize("how, sentence", [
    (FULL, "This browser's storage is full."),
    (FORBIDDEN, "This browser keeps no conversations for this page (SecurityError)."),
])  # fmt: skip
def test_a_store_that_takes_nothing_is_told_and_nothing_is_lost(
    how: str, sentence: str, scripted: tuple[Scripted, str], page: Chromium
) -> None:
    made, address = scripted
    before_scripts(page, how)
    before_scripts(page, SAVED)
    open_page(page, address)
    assert page.value(css("#kept")) == ""
    send(page, "first")
    assert page.value(css("#kept")).startswith(sentence)
    page.click("#new")
    page.wait_for("!document.querySelector('#empty').hidden")
    send(page, "second")
    names(page, "second", "first")
    page.click("#list li:nth-child(2) a")
    page.wait_for(f"{css('.said')} === 'first'")
    assert page.value(TALK) == [["user", "first"], ["assistant", "You said: first"]]
    page.click(".save")
    page.wait_for("saved.length === 2")
    assert json.loads(page.value("saved[1]"))["messages"][0]["content"] == "first"
    send(page, "goes on")
    assert [m["content"] for m in made.asked[-1]] == ["first", "You said: first", "goes on"]


def test_when_there_is_room_again_all_is_kept(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    _, address = scripted
    before_scripts(page, FULL.replace("true", "false"))
    open_page(page, address)
    send(page, "old")
    page.click("#new")
    page.wait_for("!document.querySelector('#empty').hidden")
    page.value("window.isFull = true")
    send(page, "new")
    page.wait_for(f"!!{css('#kept')}")
    page.click("#list li:nth-child(2) a")
    page.wait_for(f"{css('.said')} === 'old'")
    page.value("window.isFull = false")
    page.click(".remove")
    names(page, "new")
    page.wait_for(f"{css('#kept')} === ''")
    reload(page)
    names(page, "new")


def test_an_address_of_no_conversation_is_told(
    scripted: tuple[Scripted, str], page: Chromium
) -> None:
    _, address = scripted
    open_page(page, f"{address}/#0123")
    assert page.value(css("#notice")) == "This browser has no such conversation."
    send(page, "hello")
    assert page.value(f"!!({IS_IDLE})")
