# SPDX-License-Identifier: BSD-3-Clause
"""Which file builds and runs each value of the documented options: builds of presets, and those of BUILDS."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHOICES = "test/install/whole_builds_test.py"
SELECTIVE = "test/install/selective_build_test.py"


@dataclass(frozen=True)
class Build:
    """A file that builds with these options (NAME=value without EXECUTORCH_) and runs what it built; where they are
    set, if not in the file itself."""

    by: str
    options: str
    set_in: str = ""


BUILDS = (
    Build(CHOICES, "BUILD_SHARED=ON"),
    Build(
        CHOICES,
        "USE_SANITIZER=ON USE_CPP_CODE_COVERAGE=ON ENABLE_PROGRAM_VERIFICATION=OFF"
        " THREADPOOL_USE_PERFORMANCE_CORES=ON DESKTOP_DEFAULTS=OFF BUILD_PORTABLE_OPS=OFF BUILD_TESTS=ON",
    ),
    Build(
        CHOICES,
        "SELECT_OPS_YAML=given XNNPACK_ENABLE_WEIGHT_CACHE=OFF XNNPACK_SHARED_WORKSPACE=OFF USE_DL=OFF"
        " THREADPOOL_USE_ALL_LOGICAL_CORES=ON BUILD_KERNELS_OPTIMIZED=OFF BUILD_XNNPACK=ON"
        " ENABLE_BUNDLE_IO=ON BUILD_RISCV_ETDUMP=ON",
    ),
    Build(
        "test/boards/pico2_test.py",
        "SELECT_OPS_LIST=given",
        set_in="examples/raspberry_pi/pico2/CMakeLists.txt",
    ),
    Build("backends/arm/test/arm_emulation_test.py", "BUILD_VGF=ON"),
    Build("backends/arm/test/arm_firmware_test.py", "BUILD_ARM_ETDUMP=ON"),
    Build(
        "extension/wasm/wasm_test.py",
        "BUILD_TOKENIZERS_WASM=ON",
        set_in="extension/wasm/conftest.py",
    ),
    Build(SELECTIVE, "SELECT_OPS_MODEL=given ENABLE_DTYPE_SELECTIVE_BUILD=ON"),
)


def documented() -> list[str]:
    """Those that this build has, as the documents order them."""
    listed = (ROOT / "test/install/documented_options.txt").read_text().splitlines()
    refused = (ROOT / "tools/cmake/RefusedOptions.cmake").read_text()
    names = [line.split()[0] for line in listed]
    return [name for name in names if f'"{name}|' not in refused or name in of_backends()]


def of_backends() -> set[str]:
    """Those that the folders of backends define."""
    texts = [path.read_text() for path in sorted(ROOT.glob("backends/**/options.cmake"))]
    return set(re.findall(r"^define_\w+_option\((\w+)", "\n".join(texts), re.MULTILINE))


def given(build: Build) -> dict[str, str]:
    return {
        f"EXECUTORCH_{name}": value for name, value in re.findall(r"(\w+)=(\w+)", build.options)
    }


def file_of_each_value(
    builds: Iterable[tuple[str, dict[str, str]]],
) -> dict[str, dict[str, str]]:
    """Option to value to the first file whose build has it. `builds`: files and the values of all options there."""
    found: dict[str, dict[str, str]] = {name: {} for name in documented()}
    for file, values in builds:
        for name, files in found.items():
            files.setdefault(Path(values.get(name, "")).name or "none", file)
    return found


def rows(found: dict[str, dict[str, str]]) -> list[str]:
    """One for all options whose values have the same files."""
    alike: dict[str, list[str]] = {}
    for name, files in found.items():
        cell = "; ".join(f"{value}: `{file}`" for value, file in files.items())
        alike.setdefault(cell, []).append(f"`{name.removeprefix('EXECUTORCH_')}`")
    return [f"| {', '.join(names)} | {cell} |" for cell, names in alike.items()]
