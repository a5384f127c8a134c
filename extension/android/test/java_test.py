# SPDX-License-Identifier: BSD-3-Clause
"""The classes of Java and Kotlin, by their JUnit tests on a desktop's JVM, with JNI's own checks."""

from __future__ import annotations

import pytest

from executorch.extension.android.test.jvm import Jvm


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
