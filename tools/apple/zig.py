# SPDX-License-Identifier: BSD-3-Clause
"""Libraries of the frameworks for Macs, built on any system by the cross compiler of PyPI's ziglang: what a linker
there would find in them, and what it would miss."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from executorch.tools.apple.frameworks import FRAMEWORKS, Framework, named
from executorch.tools.apple.mach_o import Symbols, members, symbols

FOLDER = Path(__file__).resolve().parent
# Small and quick: nothing runs. Without -O, zig would add checks of undefined behaviour.
TARGET = "aarch64-macos.12.0"
FLAGS = "-O0 -g0 -fno-sanitize=undefined"
# zig has names of processors where clang has those of architectures: armv8.2-a+fp16 is generic+v8_2a+fullfp16.
SCRIPT = """#!/bin/sh
for word; do
  shift
  case $word in
    -march=armv8.2-a*) word=-mcpu=generic+v8_2a$(echo "${{word#-march=armv8.2-a}}" | sed s/fp16/fullfp16/) ;;
  esac
  set -- "$@" "$word"
done
exec {zig} {tool} "$@"
"""
# Of Apple's libc++ and libc++abi, and what the linker makes; libSystem's names are in a list that zig has.
_CXX = re.compile(
    r"__Z(N[KS]*|T[VTIS]N?K?|TH|d[al]|n[aw])(S|St|10__cxxabiv1)|__Z(nw|na|dl|da)[mP]|___(cxa|gxx)_|___dso_handle$|__ZS"
)


def kept(root: Path) -> Path:
    """A folder for this tree that lasts between runs: half a gigabyte of compiler, and objects that need eight minutes
    of a processor."""
    tree = hashlib.sha256(str(root).encode()).hexdigest()[:8]
    return Path(tempfile.gettempdir()) / f"executorch-macos-{tree}"


def compiler(folder: Path) -> tuple[list[str], dict[str, str]]:
    """The words of a compiler of C++ for the oldest macOS, and its environment."""
    cache = {f"ZIG_{name}_CACHE_DIR": str(folder / "cache") for name in ("GLOBAL", "LOCAL")}
    return [str(install(folder) / "zig"), "c++", "-target", TARGET, *FLAGS.split()], {
        **os.environ, **cache,
    }  # fmt: skip


def install(folder: Path) -> Path:
    """The folder of zig, in an environment of its own that is made once."""
    requirements = FOLDER / "zig-requirements.txt"
    environment = folder / "environment"
    stamp = environment / requirements.name
    if not stamp.exists() or stamp.read_text() != requirements.read_text():
        subprocess.run([sys.executable, "-m", "venv", "--clear", environment], check=True)
        python = environment / "bin" / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", requirements], check=True)
        stamp.write_text(requirements.read_text())
    (found,) = environment.glob("lib/python*/site-packages/ziglang")
    return found


def write_tools(zig: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for tool in ("cc", "c++", "ar", "ranlib"):
        script, text = folder / tool, SCRIPT.format(zig=zig / "zig", tool=tool)
        if not script.exists() or script.read_text() != text:
            script.write_text(text)
            script.chmod(0o755)


def build(root: Path, folder: Path, *more: str) -> Path:
    """Configures as the preset macos does and builds plain C++ of the frameworks: the folder of the build."""
    write_tools(install(folder), folder / "tools")
    out = folder / "out"
    _, environment = compiler(folder)
    words = [
        "cmake", "-G", "Ninja", "-S", root, "-B", out, f"-DCMAKE_TOOLCHAIN_FILE={FOLDER / 'zig.cmake'}",
        f"-DET_ZIG={folder / 'tools'}", f"-DEXECUTORCH_BUILD_PRESET_FILE={root}/tools/cmake/preset/macos.cmake",
        "-DCMAKE_BUILD_TYPE=Debug", "-DET_CCACHE=OFF", f"-DPYTHON_EXECUTABLE={sys.executable}", *more,
    ]  # fmt: skip
    words += [f"-DCMAKE_{language}_FLAGS_DEBUG={FLAGS}" for language in ("C", "CXX", "ASM")]
    subprocess.run(words, check=True, env=environment, stdout=subprocess.DEVNULL)
    names = [f"lib{name}.a" for row in FRAMEWORKS for name in plain(row, out)]
    subprocess.run(["ninja", "-C", out, *names], check=True, env=environment, stdout=sys.stderr)
    return out


def sources(out: Path) -> dict[str, set[str]]:
    """Target -> ends of the names of what it compiles."""
    found: dict[str, set[str]] = {}
    for row in json.loads((out / "compile_commands.json").read_text()):
        target = re.search(r"CMakeFiles/([^/]+)\.dir/", row["output"])
        if target:
            found.setdefault(target[1], set()).add(Path(row["file"]).suffix)
    return found


def plain(framework: Framework, out: Path) -> list[str]:
    """Libraries of a framework without Objective-C, of those that this tree has."""
    compiled = sources(out)
    return [
        name
        for name in framework.libraries
        if not framework.missing and not compiled.get(name, set()) & {".m", ".mm"}
    ]


def contents(framework: Framework, out: Path) -> list[Symbols]:
    """Of each object of the framework's plain libraries."""
    return [
        symbols(data)
        for name in plain(framework, out)
        for archive in sorted(out.rglob(f"lib{name}.a"))
        for data in members(archive)
    ]


def with_needs(framework: Framework) -> set[str]:
    """The framework, and those that the package links with it; executorch is in every app."""
    found: set[str] = set()
    left = [framework.name, "executorch"]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += named(name).needs
    return found


def system_symbols(zig: Path) -> frozenset[str]:
    return frozenset(
        re.findall(r"[\w$.]+", (zig / "lib" / "libc" / "darwin" / "libSystem.tbd").read_text())
    )


def missing(
    objects: Mapping[str, list[Symbols]], system: frozenset[str], without: str = ""
) -> dict[str, set[str]]:
    """Framework -> symbols that neither it, nor what it is linked with, nor the system has. `without`: as if that
    symbol were not there."""
    found = {}
    for row in FRAMEWORKS:
        linked = with_needs(row)
        defined = {s for name in linked for each in objects[name] for s in each.defined} - {without}
        wanted = {s for each in objects[row.name] for s in each.undefined}
        left = {s for s in wanted - defined - system if not _CXX.match(s)}
        if left:
            found[row.name] = left
    return found
