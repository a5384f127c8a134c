# SPDX-License-Identifier: BSD-3-Clause
"""libexecutorch.so as the system sees it, and the two sides of its natives."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from executorch.extension.android.test import jvm
from executorch.tools.android.classes import ROOT, SOURCES, class_path, kotlin_library

JNI = ROOT / "extension" / "android" / "jni"
NATIVES = SOURCES / "org/pytorch/executorch/internal/Natives.java"
PRIMITIVES = {"void": "V", "boolean": "Z", "int": "I", "long": "J", "float": "F", "double": "D"}
CLASSES = {
    "String": "java/lang/String",
    "Object": "java/lang/Object",
    "ByteBuffer": "java/nio/ByteBuffer",
    "TextSink": "org/pytorch/executorch/internal/TextSink",
}


def needs_library() -> None:
    if not jvm.LIBRARY.is_file():
        pytest.skip(f"needs {jvm.LIBRARY} (-DEXECUTORCH_BUILD_ANDROID_JNI=ON)")


def printed(*command: object) -> str:
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def test_only_what_java_calls_is_exported() -> None:
    """Two libraries of an app with C++ runtimes of their own do not get each other's symbols."""
    needs_library()
    symbols = [
        line.split()[-1] for line in printed("nm", "-D", "--defined-only", jvm.LIBRARY).splitlines()
    ]
    others = [name for name in symbols if name != "JNI_OnLoad" and not name.startswith("Java_")]
    assert "JNI_OnLoad" in symbols and not others, others[:10]


def test_its_name_is_that_of_its_file_and_its_segments_fit_pages_of_16_kilobytes() -> None:
    needs_library()
    assert "Library soname: [libexecutorch.so]" in printed("readelf", "-dW", jvm.LIBRARY)
    segments = [
        line.split()
        for line in printed("readelf", "-lW", jvm.LIBRARY).splitlines()
        if " LOAD " in line
    ]
    assert segments and all(int(words[-1], 16) >= 1 << 14 for words in segments), segments


def signature(types: str) -> str:
    """JNI's spelling of Java's types."""
    out = ""
    for name in types.split():
        array = "[" if name.endswith("[]") else ""
        name = name.removesuffix("[]")
        out += array + (PRIMITIVES.get(name) or f"L{CLASSES[name]};")
    return out


def test_every_native_of_java_has_its_row() -> None:
    """A missing row would be an UnsatisfiedLinkError at the first call, a wrong one of loading the library."""
    declared = {}
    for result, name, words in re.findall(
        r"static native (\S+) (\w+)\(([^)]*)\)", NATIVES.read_text()
    ):
        types = " ".join(word.split()[0] for word in words.split(",") if word.strip())
        declared[name] = f"({signature(types)}){signature(result)}"
    rows = {}
    for source in JNI.glob("*.cpp"):
        text = re.sub(r'"\s*\n\s*"', "", source.read_text())
        rows |= dict(re.findall(r'ET_NATIVE\(\s*(\w+),\s*"([^"]*)"\)', text))
        rows |= dict(
            re.findall(r'\{const_cast<char\*>\("(\w+)"\), const_cast<char\*>\("([^"]*)"\)', text)
        )
    assert rows == declared


@pytest.mark.req("AND-005")
def test_sources_are_where_documents_say_and_no_other_class_has_natives() -> None:
    files = {
        file.name: file.read_text()
        for file in SOURCES.rglob("*")
        if file.suffix in (".kt", ".java")
    }
    documented = "Module.kt Tensor.kt EValue.kt DType.kt MethodMetadata.kt ExecuTorchRuntime.kt LlmModule.kt SGD.kt"
    assert set(documented.split()) <= files.keys()
    others = [
        name for name, text in files.items() if re.search(r"\b(native|external) ?(fun)? ", text)
    ]
    assert set(re.findall(r"^package (\S+?);?$", "\n".join(files.values()), re.M)) == {
        f"org.pytorch.executorch{end}"
        for end in (
            "",
            ".annotations",
            ".internal",
            ".extension.llm",
            ".extension.asr",
            ".extension.training",
        )
    }
    assert [
        name for name in others if re.search(r"\bexternal fun\b|\bstatic native\b", files[name])
    ] == ["Natives.java"]


@pytest.mark.req("AND-008")
def test_messages_go_to_logcat_under_the_documented_tag() -> None:
    text = (ROOT / "runtime/platform/default/android.cpp").read_text()
    assert re.search(r'__android_log_print\(.*"ExecuTorch"', text)


def test_what_may_change_says_so() -> None:
    """In Java's own terms: the annotation, and the words in the comment of each class that has it."""
    for file in SOURCES.rglob("*"):
        if file.suffix in (".kt", ".java") and "\n@Experimental\n" in (text := file.read_text()):
            assert "Warning: this API is experimental" in text, file
    assert (
        "@Deprecated" in (SOURCES / "org/pytorch/executorch/extension/llm/LlmModule.kt").read_text()
    )


def test_a_caller_in_java_is_told_what_is_deprecated(java: jvm.Jvm, tmp_path: Path) -> None:
    caller = tmp_path / "Caller.java"
    caller.write_text(
        "class Caller { void call(org.pytorch.executorch.extension.llm.LlmModule module)"
        " { module.close(); module.resetNative(); } }"
    )
    path = class_path([java.classes / "main", kotlin_library()])
    words = ["javac", "-Xlint:deprecation", "-d", tmp_path, "-cp", path, caller]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    (line,) = [line for line in done.stderr.splitlines() if "[deprecation]" in line]
    assert "resetNative() in LlmModule has been deprecated" in line


def test_the_comments_of_java_make_pages(java: jvm.Jvm, tmp_path: Path) -> None:
    """By javadoc, of what callers see; it cannot read Kotlin, whose pages are Dokka's, by Gradle."""
    shown = [file for file in SOURCES.rglob("*.java") if file.parent.name != "internal"]
    path = class_path([java.classes / "main", kotlin_library()])
    words = ["javadoc", "-quiet", "-Xdoclint:all,-missing", "-Werror", "-cp", path, "-d", tmp_path]
    done = subprocess.run([*words, *shown], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = tmp_path / "org/pytorch/executorch/extension/llm/LlmCallback.html"
    assert "onStats" in page.read_text() and "may change without notice" in page.read_text()
    build = (jvm.PROJECT / "build.gradle").read_text()
    assert re.search(r'singleVariant\("release"\) \{[^}]*withJavadocJar\(\)', build)


def test_a_library_that_is_missing_is_said_with_the_places(java: jvm.Jvm, tmp_path: Path) -> None:
    caller = tmp_path / "Caller.java"
    caller.write_text(
        "public class Caller { public static void main(String[] a) {"
        " org.pytorch.executorch.ExecuTorchRuntime.getRuntime(); } }"
    )
    path = class_path([java.classes / "main", kotlin_library()])
    words = ["java", f"-Djava.library.path={tmp_path}", "-cp", path, str(caller)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    for words_of_it in (
        "Cannot load libexecutorch.so",
        str(tmp_path),
        "/native/linux-",
        "executorch.library.path",
    ):
        assert words_of_it in done.stderr, done.stderr
