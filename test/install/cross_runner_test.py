# SPDX-License-Identifier: BSD-3-Clause
"""llama_main for 64-bit Arm, run by qemu-user: the tokens that this machine's writes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from executorch.extension.llm.runner.test.tiny_llama import TinyLlama, make
from executorch.test.e2e.build_tree import ROOT, binary
from executorch.test.install.commands import command
from executorch.test.install.cross_build_test import MACHINES, emulator
from executorch.tools.drawn.processors import Processor

pytestmark = pytest.mark.full

ARM = MACHINES[0]
PROMPT = "The quick brown fox"


@cache
def cross_built() -> Path:
    """Compiled again only where something changed."""
    folder = ROOT / "cmake-out-arm64-runner"
    settings = [
        f"-DEXECUTORCH_BUILD_PRESET_FILE={ROOT / 'tools/cmake/preset/llm.cmake'}",
        "-DEXECUTORCH_BUILD_TESTS=OFF",
    ]
    command("cmake", "--preset", f"linux-{ARM.name}", "-B", folder, *settings)
    command("cmake", "--build", folder, "--target", "llama_main")
    program = folder / "examples/models/llama/llama_main"
    assert int.from_bytes(program.read_bytes()[18:20], "little") == ARM.elf
    return program


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> TinyLlama:
    return make(tmp_path_factory.mktemp("tiny"))


def written(words: list[object], llama: TinyLlama, program: Path) -> str:
    """What llama_main writes behind the prompt, without its report."""
    text = command(
        *words,
        f"--model_path={program}",
        f"--tokenizer_path={llama.tokenizer}",
        f"--prompt={PROMPT}",
        "--temperature=0",
        "--max_new_tokens=40",
        "--ignore_eos",
        "--cpu_threads=2",
    )
    assert text.startswith(PROMPT) and '"generated_tokens":39' in text, text
    return text[len(PROMPT) : text.index("\nPyTorchObserver ")]


@pytest.mark.req("LLM-043")
@pytest.mark.parametrize("processor", ARM.processors, ids=lambda each: each.name)
@pytest.mark.parametrize("few_bits", [False, True], ids=["float", "4 bits"])
def test_llama_main_writes_the_same_on_arm(
    llama: TinyLlama, processor: Processor, few_bits: bool
) -> None:
    program = llama.with_few_bits() if few_bits else llama.program
    here = written([binary("examples/models/llama/llama_main")], llama, program)
    assert len(here) > 20
    built = cross_built()
    words = [*emulator(built.parents[3], processor), built]
    assert written(words, llama, program) == here
