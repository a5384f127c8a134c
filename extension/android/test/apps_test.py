# SPDX-License-Identifier: BSD-3-Clause
"""The demo apps: their logic runs on a desktop, their screens compile, their projects are as documented."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from executorch.extension.android.test.jvm import PROJECTS, Jvm

NAME = "{http://schemas.android.com/apk/res/android}name"


def test_the_chat(java: Jvm) -> None:
    java.junit("llamademo.ChatTest")


@pytest.mark.req("AND-028")
def test_the_segmentation(java: Jvm) -> None:
    java.junit("deeplabv3demo.SegmentationTest")


def test_the_benchmark(java: Jvm) -> None:
    out = java.java("org.junit.runner.JUnitCore", "org.pytorch.minibench.BenchmarkTest")
    assert "OK (" in out, out


def test_the_screens_compile(java: Jvm) -> None:
    for name in (
        "executorch/llamademo/Main",
        "executorch/deeplabv3demo/Main",
        "minibench/Benchmark",
    ):
        assert (java.classes / "test/org/pytorch" / f"{name}Activity.class").exists()


@pytest.mark.req("AND-015", "AND-027", "AND-C03")
@pytest.mark.parametrize("project", PROJECTS, ids=lambda project: project.name)
def test_the_projects_take_the_documented_archives(project: Path) -> None:
    build = (project / "app" / "build.gradle.kts").read_text()
    wanted = [
        'implementation(files("libs/executorch.aar"))',
        'implementation("org.pytorch:executorch-android:$executorchVersion")',
        'implementation("com.facebook.soloader:soloader:0.10.5")',
        'implementation("com.facebook.fbjni:fbjni:0.7.0")',
        'findProperty("useLocalAar")',
    ]
    if project.name == "LlamaDemo":
        wanted.append('implementation("com.qualcomm.qti:qnn-runtime:2.37.0")')
    for line in wanted:
        assert line in build, line
    assert build.count("{") == build.count("}")
    manifest = ElementTree.parse(project / "app/src/main/AndroidManifest.xml").getroot()
    (activity,) = manifest.iter("activity")
    (package,) = re.findall(r'namespace = "(.*)"', build)
    sources = project / "app/src/main/java" / package.replace(".", "/")
    assert (sources / f"{activity.get(NAME, '').lstrip('.')}.kt").exists()
    assert (project / "build.gradle.kts").exists()
    assert (project / "settings.gradle.kts").exists()
