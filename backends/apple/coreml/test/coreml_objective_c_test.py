# SPDX-License-Identifier: BSD-3-Clause
"""The file that calls Core ML, compiled for syntax and types against declarations of our own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from executorch.test.repository.sources import ROOT
from executorch.tools.apple import zig
from executorch.tools.apple.mach_o import symbols

SOURCE = ROOT / "backends/apple/coreml/runtime/core_ml.mm"
CLANG = next(filter(None, map(shutil.which, ("clang++-19", "clang++"))), None)
FLAGS = (
    "-std=c++17 -x objective-c++ -fsyntax-only -fobjc-arc -fblocks -fobjc-exceptions -fobjc-runtime=gnustep-2.2 "
    "-Wall -Wextra -Werror"
).split()

pytestmark = pytest.mark.skipif(CLANG is None, reason="clang is not installed")


def compiled(folder: Path, text: str, *more: str) -> subprocess.CompletedProcess[str]:
    declare_frameworks(folder)
    file = folder / "core_ml.mm"
    file.write_text(text)
    places = [folder, ROOT / "src", ROOT / "runtime/core/portable_type/c10"]
    words = [str(CLANG), *FLAGS, *more, *(f"-I{place}" for place in places), str(file)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


PROJECT = """
cmake_minimum_required(VERSION 3.24)
project(delegate CXX)
include("@ROOT@/tools/cmake/executorch_targets.cmake")
add_library(nlohmann_json INTERFACE)
add_library(executorch_core INTERFACE)
target_include_directories(executorch_core INTERFACE "@HERE@")
target_compile_options(executorch_core INTERFACE -fblocks -fobjc-runtime=gnustep-2.2)
add_library(backend_disk_cache INTERFACE)
set(EXECUTORCH_BUILD_COREML ON)
add_subdirectory("@ROOT@/backends/apple/coreml" coreml)
"""


def declare_frameworks(folder: Path) -> None:
    declarations = ROOT / "backends/apple/coreml/test/apple_declarations.h"
    for framework in ("CoreML", "Foundation"):
        header = folder / framework / f"{framework}.h"
        header.parent.mkdir(exist_ok=True)
        header.write_text(f'#import "{declarations}"\n')


@pytest.mark.parametrize("more", [(), ("-DLAZY_LOAD_IOS_PYTORCH_INITIALIZER",)])
def test_it_compiles(tmp_path: Path, more: tuple[str, ...]) -> None:
    done = compiled(tmp_path, SOURCE.read_text(), *more)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "right, wrong, message",
    [
        ("[model_ newState]", "[model_ oldState]", "oldState"),
        ("MLModel* model_ = nil", "MLState* model_ = nil", "incompatible pointer"),
        ("int latest_specification() const", "int newest() const", "override"),
    ],
)
def test_a_call_that_is_none_is_seen(tmp_path: Path, right: str, wrong: str, message: str) -> None:
    text = SOURCE.read_text()
    assert right in text
    done = compiled(tmp_path, text.replace(right, wrong))
    assert done.returncode != 0 and message in done.stderr


@pytest.mark.full
def test_no_call_is_newer_than_the_oldest_system(tmp_path: Path) -> None:
    """By a compiler for macOS 12: what came later is asked for. The object refers to Core ML's classes."""
    declare_frameworks(tmp_path)
    words, environment = zig.compiler(zig.kept(ROOT))
    places = [tmp_path, ROOT / "src", ROOT / "runtime/core/portable_type/c10"]
    words += "-std=c++17 -x objective-c++ -c -fobjc-arc -fblocks -Wall -Wextra -Werror".split()
    words += [f"-I{place}" for place in places]

    def messages(text: str) -> str:
        file = tmp_path / "core_ml.mm"
        file.write_text(text)
        command = [*words, str(file), "-o", str(tmp_path / "core_ml.o")]
        return subprocess.run(
            command, capture_output=True, text=True, env=environment, check=False
        ).stderr

    text = SOURCE.read_text()
    assert messages(text) == ""
    found = symbols((tmp_path / "core_ml.o").read_bytes())
    assert "_executorch_coremldelegate" in found.defined
    assert {"_OBJC_CLASS_$_MLModel", "_OBJC_CLASS_$_MLMultiArray"} <= found.undefined
    for system, call in (
        ("macOS 13.0, iOS 16.0, tvOS 16.0, *", "compileModelAtURL:completionHandler:"),
        ("macOS 12.3, iOS 15.4, tvOS 15.4, watchOS 8.5, *", "getBytesWithHandler:"),
    ):
        assert f"@available({system})" in text
        wrong = messages(text.replace(f"@available({system})", "true", 1))
        assert f"'{call}' is only available on macOS" in wrong


def test_the_documented_targets_are_there(tmp_path: Path) -> None:
    """As CMake makes them on Apple's systems; the object of the file is compiled, not linked."""
    declare_frameworks(tmp_path)
    text = PROJECT.replace("@ROOT@", str(ROOT)).replace("@HERE@", str(tmp_path))
    (tmp_path / "CMakeLists.txt").write_text(text)
    build, file = tmp_path / "b", "coreml/CMakeFiles/coremldelegate.dir/runtime/core_ml.mm.o"
    for words in (
        ["cmake", "-S", tmp_path, "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={CLANG}"],
        ["cmake", "--build", build, "--target", file],
    ):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    rules = (build / "build.ninja").read_text()
    for target in ("coremldelegate", "coreml_util", "coreml_inmemoryfs"):
        assert f"lib{target}.a:" in rules
    symbols = subprocess.run(["nm", build / file], capture_output=True, text=True, check=True)
    assert "executorch_coremldelegate" in symbols.stdout
