# SPDX-License-Identifier: BSD-3-Clause
"""The guide's programs in C++, as printed, build against what is installed and give Python's numbers."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch

from executorch.extension.llm.runner.test import tiny_llama
from executorch.runtime import Runtime
from executorch.test.documents import run_page
from executorch.test.documents.run_page import blocks
from executorch.test.e2e.build_tree import ROOT
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.install.commands import command

GUIDE = ROOT / "docs" / "guide"


def build(page: str, source: str, prefix: Path, folder: Path) -> None:
    """The page's last C++ and its CMake that finds the package, with its commands but what they run at the end."""
    text = (GUIDE / page).read_text()
    (cmake,) = (code for code in blocks(text, "cmake") if "find_package" in code)
    (folder / "CMakeLists.txt").write_text(cmake)
    (folder / source).write_text(blocks(text, "cpp")[-1])
    (lines,) = (code for code in blocks(text, "bash") if "--cmakedir" in code)
    configure, *_ = lines.splitlines()
    cmakedir = prefix / "lib" / "cmake" / "ExecuTorch"
    words = configure.replace("$(executorch --cmakedir)", str(cmakedir)).split()
    assert str(cmakedir) in words[3]
    command(*words, cwd=folder)
    command("cmake", "--build", "build", cwd=folder)


def python_of(page: str, folder: Path) -> None:
    command(sys.executable, run_page.__file__, GUIDE / page, cwd=folder)


def test_the_first_program_gives_pythons_numbers(prefix: Path, tmp_path: Path) -> None:
    python_of("getting_started.md", tmp_path)
    build("getting_started.md", "main.cpp", prefix, tmp_path)
    found = [float(line) for line in command("build/app", cwd=tmp_path).splitlines()]
    method = Runtime.get().load_program(str(tmp_path / "model.pte")).load_method("forward")
    (expected,) = method.execute([torch.full((1, 3, 64, 64), 0.5)])
    torch.testing.assert_close(torch.tensor(found), expected.flatten(), rtol=1e-4, atol=1e-5)


def test_an_int8_operator_of_ones_own_gives_the_same_bits(package: Path, tmp_path: Path) -> None:
    page = "own_int8_operator.md"
    python_of(page, tmp_path)
    build(page, "lookup.cpp", package, tmp_path)
    (tmp_path / "check.py").write_text(blocks((GUIDE / page).read_text(), "text")[-1])
    output = command(sys.executable, "check.py", cwd=tmp_path)
    assert output.splitlines()[-1] == "the same bits: True"


def test_the_guides_program_writes_its_answer_once(
    prefix: Path, tmp_path: Path, program_store: ProgramStore
) -> None:
    llama = tiny_llama.kept(tmp_path / "llama", program_store)
    shutil.copy(llama.with_few_bits(), tmp_path / "smollm2.pte")
    shutil.copy(llama.tokenizer, tmp_path)
    build("language_models.md", "main.cpp", prefix, tmp_path)
    output = command("build/app", cwd=tmp_path)
    assert output.startswith("Once upon a time") and output.count("Once upon a time") == 1
    assert len(output) > len("Once upon a time") and "PyTorchObserver" not in output
