# SPDX-License-Identifier: BSD-3-Clause
"""Writes docs/presets.md: what each preset is configured, built and run by, and each option under each preset.

usage: python -m executorch.tools.results.presets

Options are those that cmake computes of a preset in a project that has nothing else, so that no compiler or SDK is
needed.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from executorch.tools import pages
from executorch.tools.results.option_builds import (
    BUILDS,
    documented,
    file_of_each_value,
    given,
    of_backends,
    rows,
)

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "presets.md"
PROJECT = f"""cmake_minimum_required(VERSION 3.24)
project(options NONE)
include("{ROOT}/tools/cmake/Options.cmake")
foreach(name IN LISTS ET_OPTION_NAMES)
  message(STATUS "value ${{name}}=${{${{name}}}}")
endforeach()
"""
PRESET_FILE = "EXECUTORCH_BUILD_PRESET_FILE"
LEFT_OUT = re.compile(r"-- Preset: (\w+)=\w+ left out")


@dataclass(frozen=True)
class Proof:
    """Which file of the tree configures the preset, builds it, and runs what was built; empty: none does."""

    configured: str
    built: str = ""
    ran: str = ""


SANITIZERS = "tools/results/full_run.py"
CROSS = "test/install/cross_build_test.py"
PRESETS = "test/install/presets_test.py"
BUILT = "test/install/preset_builds_test.py"
PROOFS = {
    "linux": Proof("Makefile", "Makefile", "Makefile"),
    "debug": Proof(PRESETS, BUILT, BUILT),
    "asan": Proof(SANITIZERS, SANITIZERS, SANITIZERS),
    "ubsan": Proof(PRESETS, BUILT, BUILT),
    "tsan": Proof(SANITIZERS, SANITIZERS, SANITIZERS),
    "linux-arm64": Proof(CROSS, CROSS, CROSS),
    "linux-armv7": Proof(CROSS, CROSS, CROSS),
    "linux-riscv64": Proof(CROSS, CROSS, CROSS),
    "minsize": Proof(*["test/size/core_rules_test.py"] * 3),
    "pybind": Proof(PRESETS, BUILT, BUILT),
    "llm": Proof(PRESETS, *["test/install/cmake_package_test.py"] * 2),
    "llm-release": Proof(PRESETS),
    "llm-debug": Proof(PRESETS),
    "llm-release-cuda": Proof(PRESETS),
    "llm-debug-cuda": Proof(PRESETS),
    "llm-debug-vulkan": Proof(PRESETS),
    "profiling": Proof(PRESETS, BUILT, BUILT),
    "android-arm64-v8a": Proof(PRESETS),
    "android-armeabi-v7a": Proof(""),
    "android-x86_64": Proof(""),
    "ios": Proof(""),
    "ios-simulator": Proof(""),
    "macos": Proof(""),
    "arm-baremetal": Proof(PRESETS, *["backends/arm/test/arm_firmware_test.py"] * 2),
    "zephyr": Proof(PRESETS, BUILT, BUILT),
    "wasm": Proof(*["extension/wasm/wasm_test.py"] * 3),
}


def variables_of_presets() -> dict[str, dict[str, str]]:
    """Cache variables of each preset that users see, with those that it inherits."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    by_name = {preset["name"]: preset for preset in presets}

    def variables(preset: dict[str, Any]) -> dict[str, str]:
        parent = preset.get("inherits")
        inherited = variables(by_name[parent]) if parent else {}
        return {**inherited, **preset.get("cacheVariables", {})}

    return {p["name"]: variables(p) for p in presets if not p.get("hidden")}


def options(variables: dict[str, str]) -> dict[str, str]:
    """Option to value; `left out` for what the preset asks for and this build does not have."""
    given = [f"-D{k}={v.replace('${sourceDir}', str(ROOT))}" for k, v in variables.items()]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "CMakeLists.txt").write_text(PROJECT)
        words = ["cmake", "-S", folder, "-B", f"{folder}/b", *given]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    found = dict.fromkeys(LEFT_OUT.findall(done.stdout), "left out")
    lines = (line.removeprefix("-- value ") for line in done.stdout.splitlines())
    found |= dict(line.split("=", 1) for line in lines if line.startswith("EXECUTORCH_"))
    found[PRESET_FILE] = "given" if PRESET_FILE in variables else ""
    return {
        name: value.replace(str(ROOT) + "/tools/cmake/../../", "") for name, value in found.items()
    }


@cache
def values_of_presets() -> dict[str, dict[str, str]]:
    presets = variables_of_presets()
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(presets, pool.map(options, presets.values()), strict=True))


def builds(values: dict[str, dict[str, str]]) -> list[tuple[str, dict[str, str]]]:
    """File and values of each build that is run, presets first."""
    found = [(PROOFS[name].ran, each) for name, each in values.items() if PROOFS[name].ran]
    return [*found, *((build.by, options(given(build))) for build in BUILDS)]


def page() -> str:
    values = values_of_presets()
    lines = [
        "# Presets and options",
        "",
        "Written by `python -m executorch.tools.results.presets`. A file stands where a test or command of it does the",
        "step; presets for phones and Macs are refused by name without their SDKs (`test/install/presets_test.py`).",
        "",
        "| preset | configured | built | ran |",
        "|---|---|---|---|",
    ]
    for name in values:
        proof = PROOFS[name]
        cells = (
            f"`{path}`" if path else "no" for path in (proof.configured, proof.built, proof.ran)
        )
        lines.append(f"| {name} | {' | '.join(cells)} |")
    defaults = options({})
    lines += [
        "",
        "Options whose value some preset changes, but for those of backends that the documents do not name.",
        "`left out`: the preset asks for it, and this build does not have it (`tools/cmake/RefusedOptions.cmake`).",
        "",
    ]
    left_out = of_backends() - set(documented())  # a new backend changes no page
    names = {n for each in values.values() for n in each if each[n] != defaults.get(n)}
    names = sorted(names - left_out)
    lines.append("| option | default | changed by |")
    lines.append("|---|---|---|")
    for option in names:
        changed: dict[str, list[str]] = {}
        for preset, each in values.items():
            if each.get(option, defaults.get(option)) != defaults.get(option):
                changed.setdefault(each[option] or "empty", []).append(preset)
        text = "; ".join(f"{value}: {', '.join(of)}" for value, of in sorted(changed.items()))
        lines.append(f"| `{option}` | {defaults.get(option, 'OFF') or 'empty'} | {text} |")
    lines += [
        "",
        "Values of the documented options, without `EXECUTORCH_`, and what builds and runs them.",
        "`test/install/options_test.py` configures each, and those that are refused, at the default and another value.",
        "",
        "| options | values |",
        "|---|---|",
        *rows(file_of_each_value(builds(values))),
    ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    pages.write(PAGE, page())
