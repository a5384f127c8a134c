# SPDX-License-Identifier: BSD-3-Clause
"""Systems that a runner can be built for, how to tell them, and where their runner is."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

from executorch.devtools.devices.job import DeviceError

RUNNER = "executor_runner"


@dataclass(frozen=True)
class System:
    """`machines`: what `uname -m` says. `elf`: machine in the header of a program. `presets`: of CMakePresets.json, for
    Linux and Android, "" for none. `emulator`, `root`: QEMU's program and where the C library for it is."""

    name: str
    machines: tuple[str, ...]
    elf: int
    presets: tuple[str, str]
    emulator: str = ""
    root: str = ""
    package: str = ""


SYSTEMS = (
    System(
        "aarch64",
        ("aarch64", "arm64", "armv8"),
        183,
        ("linux-arm64", "android-arm64-v8a"),
        "qemu-aarch64",
        "/usr/aarch64-linux-gnu",
        "g++-aarch64-linux-gnu",
    ),
    System(
        "armv7",
        ("armv7", "armv7l", "armv8l", "arm"),
        40,
        ("linux-armv7", "android-armeabi-v7a"),
        "qemu-arm",
        "/usr/arm-linux-gnueabihf",
        "g++-arm-linux-gnueabihf",
    ),
    System(
        "riscv64",
        ("riscv64",),
        243,
        ("linux-riscv64", ""),
        "qemu-riscv64",
        "/usr/riscv64-linux-gnu",
        "g++-riscv64-linux-gnu",
    ),
    System("x86_64", ("x86_64", "amd64"), 62, ("linux", "android-x86_64")),
)


def system_of(machine: str) -> System | None:
    """By what `uname -m` says there."""
    return next((each for each in SYSTEMS if machine.lower() in each.machines), None)


def built_for(program: Path) -> System | None:
    """Of a program file; None for one of another kind."""
    with program.open("rb") as file:
        head = file.read(20)
    number = int.from_bytes(head[18:20], "little") if head[:4] == b"\x7fELF" else -1
    return next((each for each in SYSTEMS if each.elf == number), None)


def runner_for(system: System, is_android: bool, given: Path | None) -> Path:
    """The program to push: `given`, else what the preset has built, else this package's own where it is of that
    system. DeviceError, with the commands that build one, where there is none, or it is of another system."""
    if given is not None:
        if not given.is_file():
            raise DeviceError(
                f"--runner {given}: there is no such file; {how_to_build(system, is_android)}"
            )
        found = built_for(given)
        if found is not system:
            kind = f"a program for {found.name}" if found else "no program for Linux"
            raise DeviceError(
                f"--runner {given}: expected a program for {system.name}, found {kind}; "
                f"{how_to_build(system, is_android)}"
            )
        return given
    for path in _places(system, is_android):
        if path.is_file() and built_for(path) is system:
            return path
    raise DeviceError(
        f"there is no {RUNNER} for {system.name} here; {how_to_build(system, is_android)}, or name one with --runner"
    )


def how_to_build(system: System, is_android: bool) -> str:
    preset = system.presets[is_android]
    if not preset:
        return f"build {RUNNER} with a compiler for {system.name}"
    options = " -DEXECUTORCH_BUILD_EXECUTOR_RUNNER=ON" if is_android else ""
    folder = _folder(preset)
    return (
        f"build one in the source tree: `cmake --preset {preset}{options} -DEXECUTORCH_ENABLE_EVENT_TRACER=ON && "
        f"cmake --build {folder} --target {RUNNER}`"
    )


def _folder(preset: str) -> str:
    return (
        f"cmake-out{preset.removeprefix('linux')}" if "linux" in preset else f"cmake-out-{preset}"
    )


def _places(system: System, is_android: bool) -> list[Path]:
    """The folders of the presets, from here or in the source tree; last the package's own program."""
    package = Path(__file__).resolve().parents[2]
    preset = system.presets[is_android]
    found = [root / _folder(preset) / RUNNER for root in (Path.cwd(), package) if preset]
    if system is system_of(platform.machine()) and not is_android:
        found.append(package / "data" / "bin" / RUNNER)
    return found
