# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/build_apple_frameworks.sh does: commands in their order, which --dry-run prints and a Mac runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from executorch.tools.apple.frameworks import FRAMEWORKS, PLATFORMS, Framework, named

Command = tuple[str, ...]
_OPTIONS = {"coreml": "COREML", "mps": "MPS", "xnnpack": "XNNPACK"}


def option(framework: Framework) -> str:
    """The CMake option that a flag turns on or off."""
    name = framework.option
    return f"EXECUTORCH_BUILD_{_OPTIONS.get(name, 'KERNELS_' + name.upper())}"


def chosen(flags: Iterable[str]) -> list[Framework]:
    """All that can be built, or those of the flags with what they need and what has none."""
    asked = set(flags)
    for framework in [each for each in FRAMEWORKS if each.option in asked]:
        asked |= {named(name).option for name in framework.needs}
    return [
        each
        for each in FRAMEWORKS
        if (each.option in asked if asked and each.option else not each.missing)
    ]


def build_commands(flags: Sequence[str], build_types: Sequence[str], out: str) -> Iterator[Command]:
    built = {each.name for each in chosen(flags)}
    options = [
        f"-D{option(f)}={'ON' if f.name in built else 'OFF'}" for f in FRAMEWORKS if f.option
    ]
    for preset, (folder, _) in PLATFORMS.items():
        for build_type in build_types:
            tree = f"{out}/{folder}/{build_type}"
            libraries = f"-DCMAKE_ARCHIVE_OUTPUT_DIRECTORY={tree}/lib"
            kind = f"-DCMAKE_BUILD_TYPE={build_type}"
            # Release says errors alone.
            log = f"-DEXECUTORCH_ENABLE_LOGGING={'ON' if build_type == 'Debug' else 'OFF'}"
            yield ("cmake", "--preset", preset, "-B", tree, kind, libraries, log, *sorted(options))
            yield ("cmake", "--build", tree, "--config", build_type)


def framework_argument(framework: Framework, suffix: str, headers: str) -> str:
    """target:library,library:headers:module, as create_frameworks.sh takes it."""
    libraries = ",".join(f"lib{name}.a" for name in framework.libraries)
    words = [framework.name + suffix, libraries]
    if framework.headers:
        words += [f"{headers}/{framework.headers}", framework.swift_module]
    return ":".join(words)


def merge_commands(directories: Sequence[str], argument: str, output: str) -> Iterator[Command]:
    """One static library of each platform's, then the framework of all. directories: TREE/PLATFORM/TYPE."""
    name, libraries, *rest = argument.split(":")
    headers = rest[0] if rest else ""
    words: list[str] = []
    for directory in directories:
        platform = Path(directory).parent.name
        merged = f"{directory}/lib{name}_{platform}.a"
        sources = [f"{directory}/lib/{library}" for library in libraries.split(",")]
        yield ("libtool", "-static", "-o", merged, *sources)
        words += ["-library", merged, *(("-headers", headers) if headers else ())]
    made = f"{output}/{name}.xcframework"
    yield ("rm", "-rf", made)
    yield ("xcodebuild", "-create-xcframework", *words, "-output", made)
    if len(rest) > 1:
        slices = [name for folder, name in PLATFORMS.values()]
        for directory, piece in zip(directories, slices):
            module = f"{directory}/{rest[1]}.swiftmodule"
            yield ("cp", "-R", module, f"{made}/{piece}/")


def zip_commands(name: str, version: str, output: str) -> Iterator[Command]:
    yield ("ditto", "-c", "-k", "--sequesterRsrc", "--keepParent", f"{output}/{name}.xcframework",
           f"{output}/{name}-{version}.zip")  # fmt: skip
    yield ("shasum", "-a", "256", f"{output}/{name}-{version}.zip")


def checksum(archive: Path) -> str:
    return hashlib.sha256(archive.read_bytes()).hexdigest()


def all_commands(
    flags: Sequence[str], build_types: Sequence[str], version: str, out: str = "cmake-out"
) -> Iterator[Command]:
    yield from build_commands(flags, build_types, out)
    yield ("cmake", "--install", f"{out}/macos/{build_types[0]}", "--prefix", f"{out}/installed")
    command = ("python3", "-m", "executorch.tools.apple", "headers")
    yield (*command, f"{out}/installed/include", f"{out}/headers")
    for build_type in build_types:
        suffix = "" if build_type == "Release" else "_debug"
        directories = [f"{out}/{folder}/{build_type}" for folder, _ in PLATFORMS.values()]
        for framework in chosen(flags):
            argument = framework_argument(framework, suffix, f"{out}/headers")
            yield from merge_commands(directories, argument, out)
            yield from zip_commands(framework.name + suffix, version, out)
    for folder, _ in PLATFORMS.values():
        yield ("rm", "-rf", f"{out}/{folder}")
    yield ("rm", "-rf", f"{out}/installed", f"{out}/headers")
    # SwiftPM keeps what Package.swift said, which looks for frameworks in `out`.
    yield ("swift", "package", "purge-cache")
