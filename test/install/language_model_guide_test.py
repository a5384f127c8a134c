# SPDX-License-Identifier: BSD-3-Clause
"""The guide's program for language models, as printed, builds against what is installed and writes its answer once."""

from __future__ import annotations

import shutil
from pathlib import Path

from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.documents.run_page import blocks
from executorch.test.e2e.build_tree import ROOT
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.install.commands import command

PAGE = (ROOT / "docs" / "guide" / "language_models.md").read_text()


def test_the_guides_program_writes_its_answer_once(
    prefix: Path, tmp_path: Path, program_store: ProgramStore
) -> None:
    llama = tiny_llama.kept(tmp_path / "llama", program_store)
    shutil.copy(llama.with_few_bits(), tmp_path / "smollm2.pte")
    shutil.copy(llama.tokenizer, tmp_path)
    for name, language in (("main.cpp", "cpp"), ("CMakeLists.txt", "cmake")):
        (tmp_path / name).write_text(blocks(PAGE, language)[-1])
    configure, build = blocks(PAGE, "bash")[-1].splitlines()
    folder = prefix / "lib" / "cmake" / "ExecuTorch"
    words = configure.replace("$(executorch --cmakedir)", str(folder)).split()
    assert str(folder) in words[3] and build == "cmake --build build && build/app"
    command(*words, cwd=tmp_path)
    command("cmake", "--build", "build", cwd=tmp_path)
    said = command("build/app", cwd=tmp_path)
    assert said.startswith("Once upon a time") and said.count("Once upon a time") == 1
    assert len(said) > len("Once upon a time") and "PyTorchObserver" not in said
