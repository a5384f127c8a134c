# SPDX-License-Identifier: BSD-3-Clause
"""The JVM and the programs that tests of this folder share, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.extension.android.test import jvm, programs
from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.e2e.program_store import ProgramStore
from executorch.tools.android import classes

PROMPTS = ("The quick", "Zwölf Boxkämpfer 😀", "Pack my box with five dozen")
ANSWER = 16  # tokens


def write_programs(folder: Path, add: Path) -> None:
    (folder / "add.pte").write_bytes(add.read_bytes())
    programs.write(folder)
    (folder / "llama").mkdir()
    llama = tiny_llama.make(folder / "llama")
    programs.write_answers(folder, llama, PROMPTS, ANSWER)
    programs.write_speech(folder, llama.tokenizer)
    (folder / "multimodal").mkdir()
    programs.write_multimodal(folder / "multimodal", llama, "The quick", " fox?", ANSWER)


@pytest.fixture(scope="session")
def java(program_store: ProgramStore) -> jvm.Jvm:
    if reason := jvm.what_is_missing():
        pytest.skip(reason)
    made_of = classes.digest(classes.SOURCES, jvm.TESTS, jvm.APPS, jvm.BENCHMARK)
    compiled = program_store.folder(
        "jvm classes", jvm.write_classes, ("tools/android",), made_of=made_of
    )
    add = classes.ROOT / "extension" / "module" / "test" / "resources" / "add.pte"
    parts = (
        "exir",
        "extension/android/test",
        "extension/llm",
        "extension/training",
        "backends/xnnpack",
    )
    written = program_store.folder(
        "jvm programs", lambda folder: write_programs(folder, add), parts
    )
    return jvm.Jvm(compiled, written)
