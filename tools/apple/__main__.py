# SPDX-License-Identifier: BSD-3-Clause
"""The frameworks and the Swift package of Apple's systems.

python -m executorch.tools.apple package [--check]
python -m executorch.tools.apple build [--dry-run] [--Debug] [--Release] [--coreml] [--llm] [--mps] [--optimized] ...
python -m executorch.tools.apple create --directory=D ... --framework=target:lib1,lib2:headers:module ... [--output=DIR]
python -m executorch.tools.apple headers INCLUDE OUT
python -m executorch.tools.apple release --version X.Y.Z --archives DIR --out Package.swift
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from executorch.tools.apple import package, plan
from executorch.tools.apple.frameworks import AVAILABLE, BUILD_TYPES, FRAMEWORKS
from executorch.tools.apple.headers import write_headers

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = sorted(each.option for each in FRAMEWORKS if each.option)


def _fail(message: str) -> int:
    print(f"\033[31m[error] {message}\033[0m", file=sys.stderr)
    return 1


def _run(commands: Iterable[plan.Command], is_dry: bool) -> int:
    for command in commands:
        print(shlex.join(command), flush=True)
        if not is_dry:
            subprocess.run(command, cwd=ROOT, check=True)
    return 0


def build(words: list[str]) -> int:
    flags, types, is_dry = [], [], False
    for word in words:
        name = word.removeprefix("--")
        if name in BUILD_TYPES:
            types.append(name)
        elif name in OPTIONS:
            flags.append(name)
        elif name == "dry-run":
            is_dry = True
        else:
            return _fail(f"unknown option: {word}")
    for framework in plan.chosen(flags):
        if framework.missing:
            return _fail(f"{framework.name}: {framework.missing}")
    if not is_dry and sys.platform != "darwin":
        return _fail(
            f"frameworks need macOS with Xcode; this is {sys.platform}. --dry-run prints the plan"
        )
    version = (ROOT / "version.txt").read_text().strip()
    return _run(plan.all_commands(flags, types or BUILD_TYPES, version), is_dry)


def create(words: list[str]) -> int:
    directories, frameworks, output, is_dry = [], [], "cmake-out", False
    for word in words:
        name, _, value = word.partition("=")
        if name == "--directory":
            directories.append(value)
        elif name == "--framework":
            frameworks.append(value)
        elif name == "--output":
            output = value
        elif name == "--dry-run":
            is_dry = True
        else:
            return _fail(f"Invalid argument: {word}")
    if not directories or not frameworks:
        return _fail("Both --directory and --framework options are required")
    for directory in [] if is_dry else directories:
        if not Path(directory).is_dir():
            return _fail(f"Directory {directory} does not exist")
        for framework in frameworks:
            for library in framework.split(":")[1].split(","):
                if not (Path(directory) / "lib" / library).is_file():
                    return _fail(f"File {directory}/lib/{library} does not exist")
    commands = [c for each in frameworks for c in plan.merge_commands(directories, each, output)]
    return _run(commands, is_dry)


def write_package(check: bool) -> int:
    old = []
    for name, text in package.files().items():
        path = ROOT / name
        if not path.exists() or path.read_text() != text:
            old.append(name)
            if not check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
    print("\n".join(old))
    return 1 if check and old else 0


def release(version: str, archives: Path, out: Path) -> int:
    sums = {}
    for framework, suffix in package.variants(AVAILABLE):
        archive = archives / f"{framework.name}{suffix}-{version}.zip"
        if not archive.exists():
            return _fail(f"File {archive} does not exist")
        sums[framework.name + suffix] = plan.checksum(archive)
    out.write_text(package.filled(version, sums))
    return 0


def main(words: list[str]) -> int:
    if words[:1] in (["build"], ["create"]):
        return (build if words[0] == "build" else create)(words[1:])
    parser = argparse.ArgumentParser(
        prog="executorch.tools.apple", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("package").add_argument("--check", action="store_true")
    copied = commands.add_parser("headers")
    copied.add_argument("include", type=Path)
    copied.add_argument("out", type=Path)
    made = commands.add_parser("release")
    made.add_argument("--version", required=True)
    made.add_argument("--archives", type=Path, required=True)
    made.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(words)
    if given.command == "package":
        return write_package(given.check)
    if given.command == "headers":
        write_headers(given.include, given.out)
        return 0
    return release(given.version, given.archives, given.out)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
