# SPDX-License-Identifier: BSD-3-Clause
"""Programs over the Swift layers: real weights answer, are cancelled and reset; memory is flat over 1,000 loads."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from executorch.examples.demo import smollm2
from executorch.extension.apple.test.swift import NEEDS_SWIFT, compile_programs, in_root
from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner
from executorch.extension.llm.runner.test import tiny_llama
from executorch.test.e2e.build_tree import build_folder
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.repository.sources import ROOT

TOKENS = 64
QUESTION = "What is the capital of France?"
PROMPTS = smollm2.PROMPTS[:2]
END = "<|im_end|>"  # a piece of Python's runner; the C interface ends before it
pytestmark = [pytest.mark.full, NEEDS_SWIFT]


def question_as_written(tokenizer: Path) -> str:
    """With the checkpoint's own template, by transformers."""
    from transformers import PreTrainedTokenizerFast

    settings = json.loads((tokenizer.parent / "tokenizer_config.json").read_text())
    written = PreTrainedTokenizerFast(tokenizer_file=str(tokenizer)).apply_chat_template(
        [{"role": "user", "content": QUESTION}], chat_template=settings["chat_template"],
        add_generation_prompt=True, tokenize=False,
    )  # fmt: skip
    return str(written)


@pytest.mark.req("APL-053", "APL-054")
def test_smollm2_answers_is_cancelled_and_reset(tmp_path: Path) -> None:
    """As the runner of Python does, which is held against transformers."""
    program = smollm2.export(smollm2.fetch(tmp_path), tmp_path, [smollm2.FLOAT])
    tokenizer = tmp_path / "tokenizer.json"
    runner = TextLLMRunner(program, tokenizer)
    config = GenerationConfig(temperature=0, max_new_tokens=TOKENS, echo=False, silent=True)
    expected: list[list[str]] = []
    for prompt in (*PROMPTS, question_as_written(tokenizer)):
        expected.append([])
        runner.reset()
        runner.generate(prompt, config, expected[-1].append)
    texts = ["".join(pieces).removesuffix(END) for pieces in expected]
    del runner

    compile_programs(tmp_path, "answers")
    asked = " ".join(f"'{text}'" for text in (QUESTION, *PROMPTS))
    printed = in_root(tmp_path, f"./answers {program} {tokenizer} {TOKENS} {asked}")
    found = json.loads(printed[printed.index("{") :])
    print(found)
    assert found["answers"] == texts[:2]
    begun = "".join(expected[1][:5])
    assert found["cancelled"].startswith(begun) and len(found["cancelled"]) < len(texts[1]) / 2
    # The model stops, and not only the loop: reset() waits for it.
    assert found["secondsToStop"] < found["wholeSeconds"] / 2
    assert found["isStopped"]
    assert found["stopped"].startswith("".join(expected[1][:3]))
    assert len(found["stopped"]) < len(texts[1]) / 2
    assert found["again"] == texts[0]
    assert found["talk"] == texts[2] and "Paris" in texts[2]


HEAP = 16 << 10  # bytes: 16 of each of 1,000 loads
RESIDENT = 2000  # KiB, of which the allocator keeps some


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, program_store: ProgramStore) -> Path:
    """A folder with loads, logs and what they load."""
    folder = tmp_path_factory.mktemp("programs")
    llama = tiny_llama.kept(tmp_path_factory.mktemp("tiny_llama"), program_store)
    shutil.copy(llama.program, folder / "llm.pte")
    shutil.copy(llama.tokenizer, folder / "llm.json")
    shutil.copy(ROOT / "extension" / "module" / "test" / "resources" / "add.pte", folder)
    compile_programs(folder, "loads", "logs")
    return folder


@pytest.mark.parametrize("loaded", ["add.pte", "llm.pte llm.json"])
def test_memory_is_flat_over_1000_loads(programs: Path, loaded: str) -> None:
    more, heap, before = map(int, in_root(programs, f"./loads 1000 0 {loaded}").split())
    print(f"{loaded}: {more} KiB of {before} and {heap} bytes of heap more after 1,000 loads")
    assert more < RESIDENT and heap < HEAP
    # Ten objects that stay are seen.
    more, heap, _ = map(int, in_root(programs, f"./loads 1000 10 {loaded}").split())
    assert heap > HEAP


def with_messages(folder: Path) -> Path:
    """The library as builds of Debug have it, as far as the runner's messages go: one file compiled with them."""
    tree, made, library = build_folder(), folder / "messages.o", folder / "libexecutorch_c.so"

    def elsewhere(command: str, file: Path, *more: Path) -> None:
        words = shlex.split(command.removeprefix(": && ").removesuffix(" && :"))
        place = words.index("-o") + 1
        words[place : place + 1] = [str(file), *map(str, more)]
        subprocess.run(words, cwd=tree, check=True)

    rows = json.loads((tree / "compile_commands.json").read_text())
    (row,) = [each for each in rows if each["file"].endswith("/llm_runner_helper.cpp")]
    assert "-DET_MIN_LOG_LEVEL=Error" in row["command"], "the build has messages"
    elsewhere(row["command"].replace("_LEVEL=Error", "_LEVEL=Info"), made)
    commands = ["ninja", "-C", tree, "-t", "commands", library.name]
    done = subprocess.run(commands, capture_output=True, text=True, check=True)
    elsewhere(done.stdout.strip().splitlines()[-1], library, made)
    return library


@pytest.mark.req("APL-051")
def test_sinks_get_the_runtime_s_messages(programs: Path, tmp_path: Path) -> None:
    """Of a library with messages; one of Release says errors alone, and none came."""
    assert in_root(programs, "./logs llm.pte llm.json") == ""
    library = with_messages(programs)
    printed = in_root(programs, f"LD_PRELOAD={library} ./logs llm.pte llm.json")
    lines = [line.split("\t") for line in printed.splitlines()]
    print(printed)
    assert {tuple(line[:2]) for line in lines} == {("info", "llm_runner_helper.cpp")}
    assert any(line[2].startswith("Metadata: ") for line in lines)
