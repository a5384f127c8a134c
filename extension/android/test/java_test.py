# SPDX-License-Identifier: BSD-3-Clause
"""The classes of Java and Kotlin, by their JUnit tests on a desktop's JVM, with JNI's own checks."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from executorch.examples.demo import smollm2
from executorch.extension.android.test.jvm import LIBRARY, Jvm, sanitizer
from executorch.extension.llm.runner import GenerationConfig, TextLLMRunner
from executorch.tools.android.__main__ import main
from executorch.tools.android.classes import ROOT


@pytest.mark.req("AND-002")
def test_tensors(java: Jvm) -> None:
    java.junit("TensorTest")


@pytest.mark.req("AND-003")
def test_values(java: Jvm) -> None:
    java.junit("EValueTest")


@pytest.mark.req("AND-001", "AND-009")
def test_modules(java: Jvm) -> None:
    java.junit("ModuleTest")


@pytest.mark.req("AND-001")
def test_callers_in_kotlin(java: Jvm) -> None:
    java.junit("KotlinCallersTest")


@pytest.mark.req("AND-004")
def test_language_models(java: Jvm) -> None:
    java.junit("extension.llm.LlmModuleTest")


@pytest.mark.req("AND-004")
def test_images_and_sound(java: Jvm) -> None:
    java.junit("extension.llm.MultimodalTest")


@pytest.mark.full
@pytest.mark.req("AND-004")
def test_real_weights(java: Jvm, tmp_path: Path) -> None:
    """SmolLM2 answers as the runner of Python does, which is held against transformers; stops, and is reset."""
    program = smollm2.export(smollm2.fetch(tmp_path), tmp_path, [smollm2.FLOAT])
    tokenizer, tokens, prompts = tmp_path / "tokenizer.json", 48, smollm2.PROMPTS[:4]
    runner = TextLLMRunner(program, tokenizer)
    config = GenerationConfig(temperature=0, max_new_tokens=tokens, echo=False, silent=True)
    expected = []
    for prompt in prompts:
        pieces: list[str] = []
        runner.reset()
        runner.generate(prompt, config, pieces.append)
        expected.append(pieces)
    name = "org.pytorch.executorch.extension.llm.Conversation"
    out = java.java(name, str(program), str(tokenizer), str(tokens), *prompts)
    texts = [*expected, expected[-1][:5], expected[0]]
    lines = ["".join(text).replace("\\", "\\\\").replace("\n", "\\n") for text in texts]
    assert out.splitlines() == lines


def test_speech(java: Jvm) -> None:
    java.junit("extension.asr.AsrModuleTest")


def test_training(java: Jvm) -> None:
    java.junit("extension.training.TrainingModuleTest")


def test_the_guide_from_an_empty_folder(java: Jvm, tmp_path: Path) -> None:
    """One jar, one file of Java, one command: no class path of Kotlin's, no path of libraries."""
    jar = tmp_path / "executorch-jvm.jar"
    words = ["--classes", str(java.classes / "main"), "--library", f"linux-x86_64={LIBRARY}"]
    assert main(["jvm", "--standalone", *words, "--out", str(jar)]) == 0
    page = (ROOT / "docs" / "guide" / "java.md").read_text()
    (code,) = re.findall(r"```java\n(.*?)```", page, re.S)
    (tmp_path / "Add.java").write_text(code)
    (command, expected) = re.findall(r"^(java -cp \S+ Add\.java) \S+ +# (\S+)$", page, re.M)[0]
    program = java.programs / "add.pte"
    done = subprocess.run(
        [*command.split(), program], cwd=tmp_path, capture_output=True, text=True, check=False,
        env=os.environ | sanitizer(),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected
