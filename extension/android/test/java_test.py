# SPDX-License-Identifier: BSD-3-Clause
"""The classes of Java and Kotlin, by their JUnit tests on a desktop's JVM, with JNI's own checks."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from executorch.extension.android.test.jvm import LIBRARY, Jvm
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
        [*command.split(), program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected
