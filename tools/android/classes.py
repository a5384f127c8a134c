# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the Kotlin and Java sources of extension/android, without Gradle: Kotlin first, which reads Java's, too."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "extension" / "android" / "executorch_android"
SOURCES = PROJECT / "src" / "main" / "java"
JAVA_RELEASE = "8"  # what Android's oldest supported tools read


class MissingTool(RuntimeError):
    """A program that is not here, and what brings it."""


def require_tools(*names: str) -> None:
    packages = {"kotlinc": "kotlin", "javac": "default-jdk-headless", "jar": "default-jdk-headless"}
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        wanted = " ".join(sorted({packages.get(name, name) for name in missing}))
        raise MissingTool(f"{', '.join(missing)} not found: apt-get install {wanted}")


def kotlin_library() -> Path:
    """The jar of Kotlin's standard library that belongs to the compiler."""
    home = Path(shutil.which("kotlinc") or "/").resolve().parents[1]
    for place in (home / "lib", Path("/usr/share/java")):
        if (jar := place / "kotlin-stdlib.jar").is_file():
            return jar
    raise MissingTool("kotlin-stdlib.jar not found beside kotlinc or in /usr/share/java")


def class_path(entries: Iterable[Path]) -> str:
    return os.pathsep.join(str(entry) for entry in entries)


def compile_classes(
    out: Path, sources: Sequence[Path] = (SOURCES,), uses: Sequence[Path] = ()
) -> Path:
    """Classes of all .kt and .java files below `sources`; `uses`: jars and folders of classes."""
    require_tools("kotlinc", "javac")
    uses = [*uses, kotlin_library()]
    out.mkdir(parents=True, exist_ok=True)
    if any(any(source.rglob("*.kt")) for source in sources):
        # Its compiler speaks to the JDK of its own time; warnings about that are no news.
        run(
            "kotlinc", "-nowarn", "-jvm-target", "1.8", "-cp", class_path(uses), "-d", out, *sources
        )
    java = sorted(str(file) for source in sources for file in source.rglob("*.java"))
    if java:
        options = ["-Xlint:all,-options,-classfile", "-Werror", "--release", JAVA_RELEASE]
        run("javac", *options, "-cp", class_path([out, *uses]), "-d", out, *java)
    return out


def digest(*folders: Path) -> str:
    """Of all sources below: classes of the same sources need not be made again."""
    total = hashlib.sha256()
    for folder in folders:
        for file in sorted(p for p in folder.rglob("*") if p.suffix in (".kt", ".java")):
            total.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return total.hexdigest()[:16]


def run(*command: object) -> None:
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(
            f"`{words[0]}` ended with code {done.returncode}:\n{done.stdout}{done.stderr}"
        )
