# SPDX-License-Identifier: BSD-3-Clause
"""The core and the portable kernels are C++17 for every compiler of these that the machine has."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import binary

COMPILERS = [f"g++-{n}" for n in (11, 12, 13, 14)] + [f"clang++-{n}" for n in range(14, 20)]
FOUND = [name for name in COMPILERS if shutil.which(name)]
TARGETS = ("executorch_core", "executorch", "portable_kernels")
SAMPLE = ("method.cpp", "reduce.cpp")


def compile_commands() -> list[tuple[Path, list[str], Path]]:
    """Source, words after the compiler, and folder of each file of TARGETS."""
    found = []
    for entry in json.loads(binary("compile_commands.json").read_text()):
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", entry["command"])
        if target is None or target[1] not in TARGETS:
            continue
        words = shlex.split(entry["command"])
        first = next(i for i, word in enumerate(words) if word.startswith("-"))
        found.append((Path(entry["file"]), words[first:], Path(entry["directory"])))
    return found


def kept(words: list[str], compiler: str) -> list[str]:
    """Without the output, and without what another compiler does not take or complains of."""
    words = [word for word in words if word not in ("-c", "-Werror")]
    words = [w for i, w in enumerate(words) if w != "-o" and (i == 0 or words[i - 1] != "-o")]
    if compiler.startswith("clang"):
        words = [word for word in words if not word.startswith("-fvect-cost-model")]
    return [compiler, "-fsyntax-only", *words]


def complaints(compiler: str, names: tuple[str, ...] = ()) -> tuple[int, list[str]]:
    """Files compiled, and the first error of each that is refused."""

    def compiled(job: tuple[Path, list[str], Path]) -> str | None:
        source, words, folder = job
        done = subprocess.run(
            kept(words, compiler), cwd=folder, capture_output=True, text=True, check=False
        )
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        return None if done.returncode == 0 else f"{source}: {(errors or [done.stderr])[0]}"

    jobs = [job for job in compile_commands() if not names or job[0].name in names]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return len(jobs), [message for message in pool.map(compiled, jobs) if message]


def test_a_compiler_is_found() -> None:
    assert FOUND, f"none of {', '.join(COMPILERS)} is on PATH"


@pytest.mark.parametrize("compiler", FOUND)
def test_two_files_compile(compiler: str) -> None:
    count, message = complaints(compiler, SAMPLE)
    assert count == len(SAMPLE) and not message, message


@pytest.mark.full
@pytest.mark.parametrize("compiler", FOUND)
def test_all_files_compile(compiler: str) -> None:
    count, output = complaints(compiler)
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    print(f"| {version.stdout.splitlines()[0]} | {count} files | {len(output)} refused |")
    assert count > 50 and not output, output


def test_what_is_no_c_plus_plus_is_refused(tmp_path: Path) -> None:
    """The look above can fail."""
    (tmp_path / "x.cpp").write_text("int main() { return undeclared; }\n")
    words = kept(["-c", str(tmp_path / "x.cpp"), "-o", "x.o"], FOUND[0])
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "-o" not in words and "x.o" not in words
