# SPDX-License-Identifier: BSD-3-Clause
"""Objective-C on this system: clang, the runtime of GCC, GNUstep's Foundation. That runtime has no ARC, so tests run
code written for ARC without it: what it would release stays."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from executorch.test.e2e.build_tree import loadable
from executorch.test.repository.sources import ROOT

APPLE = ROOT / "extension" / "apple"
LLM = ROOT / "extension" / "llm" / "apple" / "ExecuTorchLLM" / "Exported"
CLANG = shutil.which("clang-19") or shutil.which("clang") or ""
_HEADERS = sorted(Path("/usr/lib/gcc").glob("*/*/include/objc/objc.h"))
MISSING = [
    name
    for name, found in {
        "clang": CLANG,
        "gobjc": _HEADERS,
        "libgnustep-base-dev": Path("/usr/include/GNUstep/Foundation/Foundation.h").exists(),
        "libblocksruntime-dev": Path("/usr/include/Block.h").exists(),
    }.items()
    if not found
]


def sources() -> list[Path]:
    exported = APPLE / "ExecuTorch"
    return [*sorted(exported.glob("*/*.m")), *sorted(LLM.glob("*.m"))]


def flags() -> list[str]:
    names = "GNUSTEP GNUSTEP_BASE_LIBRARY=1 GNU_RUNTIME=1 _NATIVE_OBJC_EXCEPTIONS".split()
    folders = [
        "/usr/include/GNUstep", _HEADERS[-1].parents[1], _HEADERS[-1].parent, APPLE / "test" / "objc",
        APPLE / "ExecuTorch" / "Exported", LLM,
    ]  # fmt: skip
    return [
        "-std=gnu11", "-fblocks", "-fexceptions", "-fobjc-exceptions", "-include", "Foundation/Foundation.h",
        "-include", str(APPLE / "test" / "objc" / "apple_names.h"), "-Wall", "-Wno-nullability-completeness",
        "-Wno-objc-missing-super-calls", *(f"-D{name}" for name in names), *(f"-I{folder}" for folder in folders),
    ]  # fmt: skip


def run(words: Sequence[object]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


def own_messages(text: str) -> list[str]:
    """Of the compiler about our files; the system's headers are not ours."""
    marks = (": error:", ": warning:")
    found = [line for line in text.splitlines() if any(mark in line for mark in marks)]
    return [line for line in found if line.startswith(str(ROOT))]


def build(program: Path, test: str) -> Path:
    """A program of a test and the layers, over libexecutorch_c."""
    objects = []
    for source in [*sources(), APPLE / "test" / "objc" / test]:
        objects.append(program.with_name(f"{source.stem}.o"))
        words = ["-fobjc-runtime=gcc", "-fconstant-string-class=NSConstantString", "-c", source]
        done = run([CLANG, *flags(), *words, "-o", objects[-1]])
        assert done.returncode == 0 and not own_messages(done.stderr), done.stderr
    library = loadable("executorch_c").parent
    libraries = [
        "-lgnustep-base",
        "-lobjc",
        "-lBlocksRuntime",
        "-lm",
        f"-L{library}",
        "-lexecutorch_c",
    ]
    paths = [f"-L{_HEADERS[-1].parents[2]}", f"-Wl,-rpath,{library}"]
    done = run([CLANG, *objects, *libraries, *paths, "-o", program])
    assert done.returncode == 0, done.stderr
    return program
