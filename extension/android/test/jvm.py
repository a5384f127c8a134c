# SPDX-License-Identifier: BSD-3-Clause
"""A desktop's JVM with the classes of extension/android, their tests, and the native library that CMake built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from executorch.backends.test.built import build_folder
from executorch.tools.android.classes import (
    PROJECT,
    ROOT,
    SOURCES,
    class_path,
    compile_classes,
    kotlin_library,
)

TESTS = PROJECT / "src" / "test" / "java"
LIBRARY = build_folder() / "extension" / "android" / "libexecutorch.so"
APPS = ROOT / "examples" / "demo-apps" / "android"
BENCHMARK = ROOT / "extension" / "benchmark" / "android" / "benchmark"
PROJECTS = (APPS / "LlamaDemo", APPS / "DeepLabV3Demo", BENCHMARK)
JARS = Path("/usr/share/java")


def what_is_missing() -> str:
    """Why the tests cannot run; empty if they can."""
    missing = [tool for tool in ("kotlinc", "javac", "java") if shutil.which(tool) is None]
    if missing or not (JARS / "junit4.jar").is_file():
        return "needs kotlin, junit4 and a JDK (apt-get install kotlin junit4 default-jdk-headless)"
    if not LIBRARY.is_file():
        return f"needs {LIBRARY} (-DEXECUTORCH_BUILD_ANDROID_JNI=ON)"
    return ""


def junit() -> list[Path]:
    return [JARS / "junit4.jar", JARS / "hamcrest-core.jar"]


def write_classes(folder: Path) -> None:
    """main: the classes; test: their tests, and the apps with theirs."""
    main = compile_classes(folder / "main", [SOURCES])
    stubs = compile_classes(folder / "stubs", [APPS / "stubs" / "java"])
    apps = [app / "app" / "src" for app in PROJECTS]
    compile_classes(folder / "test", [TESTS, *apps], uses=[main, stubs, *junit()])


def sanitizer() -> dict[str, str]:
    """The environment that a library of a build with a sanitizer needs: the JVM itself has none."""
    needed = subprocess.run(
        ["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True
    ).stdout
    preloaded = re.findall(r"\[(lib[at]san\.so)[.\d]*\]", needed)
    if not preloaded:
        return {}
    # With the C++ runtime, whose functions it replaces: the JVM loads that later.
    libraries = [
        subprocess.run(
            [os.environ.get("CXX", "c++"), f"-print-file-name={name}"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()
        for name in (preloaded[0], "libstdc++.so.6")
    ]  # fmt: skip
    # The JVM reads protected pages on purpose and frees nothing at its end.
    options = "handle_segv=0:allow_user_segv_handler=1"
    if preloaded[0] == "libtsan.so":
        suppressed = Path(__file__).with_name("tsan_suppressions.txt")
        own = {"TSAN_OPTIONS": f"{options}:report_signal_unsafe=0:suppressions={suppressed}"}
    else:
        own = {"ASAN_OPTIONS": f"{options}:detect_leaks=0:quarantine_size_mb=1"}
    return {"LD_PRELOAD": ":".join(libraries), **own}


@dataclass(frozen=True)
class Jvm:
    classes: Path  # what write_classes() wrote
    programs: Path

    def run(
        self, *words: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """A program that ends well; JNI's own checks are on, and a warning of them is a failure."""
        path = class_path(
            [self.classes / "main", self.classes / "test", kotlin_library(), *junit()]
        )
        places = {"java.library.path": LIBRARY.parent, "executorch.test.programs": self.programs}
        options = [f"-D{name}={place}" for name, place in places.items()]
        options.append(f"-XX:ErrorFile={tempfile.gettempdir()}/hs_err_%p.log")
        variables = {"LC_ALL": "C.UTF-8"} | sanitizer() | (environment or {})
        done = subprocess.run(
            ["java", *options, "-Xcheck:jni", "-ea", "-Dfile.encoding=UTF-8", "-cp", path, *words],
            capture_output=True, text=True, check=False, env=os.environ | variables,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr[-4000:]
        warnings = [line for line in done.stdout.splitlines() if line.startswith("WARNING")]
        assert not warnings, done.stdout[:4000]
        return done

    def java(self, *words: str) -> str:
        """What it prints."""
        return self.run(*words).stdout

    def junit(self, name: str) -> None:
        out = self.java("org.junit.runner.JUnitCore", f"org.pytorch.executorch.{name}")
        assert "OK (" in out, out
