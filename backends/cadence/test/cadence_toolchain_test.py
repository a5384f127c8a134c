# SPDX-License-Identifier: BSD-3-Clause
"""The tool chain file: what it says without the tools, and which flags arrive with them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import ROOT

FILE = ROOT / "backends/cadence/cadence.cmake"
pytestmark = pytest.mark.skipif(not FILE.exists(), reason="needs the sources")
PROJECT = """cmake_minimum_required(VERSION 3.24)
project(flags CXX)
message(STATUS "flags: ${CMAKE_CXX_FLAGS} | ${CMAKE_EXE_LINKER_FLAGS}")
"""


def configure(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "CMakeLists.txt").write_text(PROJECT)
    command = ["cmake", "-S", folder, "-B", folder / "out", f"-DCMAKE_TOOLCHAIN_FILE={FILE}"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("XTENSA")}
    return subprocess.run(command, env={**own, **environment}, capture_output=True, text=True)


@pytest.mark.req("NPU-067", "NPU-C04")
def test_without_the_tools_it_says_what_to_set(tmp_path: Path) -> None:
    done = configure(tmp_path, XTENSA_TOOLCHAIN="/nowhere")
    words = " ".join(done.stderr.split())
    assert done.returncode != 0 and "Nothing found at XTENSA_TOOLCHAIN_PATH: '/nowhere'" in words
    assert "XTENSA_CORE" in words


@pytest.mark.req("NPU-070")
@pytest.mark.parametrize(
    ("option", "needs"),
    [
        ("EXECUTORCH_NNLIB_OPT", "nnlib for HiFi"),
        ("EXECUTORCH_FUSION_G3_OPT", "nnlib for Fusion G3"),
        ("EXECUTORCH_VISION_OPT", "library for Vision DSPs"),
    ],
)
def test_a_family_of_dsps_says_what_it_needs(option: str, needs: str, tmp_path: Path) -> None:
    """Configuring stops before anything is built; without an option the generic kernels are built."""
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(options NONE)\n"
        f'include("{ROOT}/tools/cmake/Options.cmake")\n'
        "if(NOT EXECUTORCH_BUILD_CADENCE)\n  message(FATAL_ERROR off)\nendif()\n"
    )
    command = ["cmake", "-S", tmp_path, "-B", tmp_path / "b", "-DEXECUTORCH_BUILD_CADENCE=ON"]
    plain = subprocess.run(command, capture_output=True, text=True)
    assert plain.returncode == 0, plain.stderr
    done = subprocess.run([*command, f"-D{option}=ON"], capture_output=True, text=True)
    words = " ".join(done.stderr.split())
    assert done.returncode != 0 and f"{option}=ON: Cadence's Xtensa tool chain and {needs}" in words


@pytest.mark.full
def test_flags_arrive(tmp_path: Path) -> None:
    """A compiler that takes any flag stands for Cadence's."""
    tools = tmp_path / "tools" / "V1" / "XtensaTools" / "bin"
    tools.mkdir(parents=True)
    compiler = shutil.which("c++")
    for name in ("xt-clang", "xt-clang++"):
        script = (
            '#!/bin/sh\nfor word; do shift; case "$word" in -stdlib*|-m*|-static) ;; '
            f'*) set -- "$@" "$word";; esac; done\nexec {compiler} "$@"\n'
        )
        (tools / name).write_text(script)
        (tools / name).chmod(0o755)
    done = configure(tmp_path, XTENSA_TOOLCHAIN=str(tmp_path / "tools"), TOOLCHAIN_VER="V1")
    assert done.returncode == 0, done.stderr
    for flag in ("-mlongcalls", "-mtext-section-literals", "-fno-strict-aliasing", "-static"):
        assert flag in done.stdout
