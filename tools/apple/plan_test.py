# SPDX-License-Identifier: BSD-3-Clause
"""What the plan of the frameworks asks of CMake and what it makes, and settings of Xcode that name what it made."""

from __future__ import annotations

import fnmatch
import re
import subprocess
from pathlib import Path

import pytest

from executorch.test.documents import guide
from executorch.test.install.options_test import configure
from executorch.test.repository.sources import ROOT
from executorch.tools.apple import plan
from executorch.tools.apple.frameworks import AVAILABLE, FRAMEWORKS, PLATFORMS

pytestmark = pytest.mark.skipif(
    not (ROOT / "Package.swift").exists(), reason="scripts are of a checkout"
)
FLAGS = [[], *([row.option] for row in AVAILABLE if row.option)]
LAYERS = ("EXECUTORCH_BUILD_EXTENSION_APPLE", "EXECUTORCH_BUILD_EXTENSION_LLM_APPLE")


@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: "".join(flags) or "all")
def test_cmake_takes_what_each_flag_asks_for(flags: list[str], tmp_path: Path) -> None:
    """With the file of the preset, and as on a Mac."""
    commands = plan.build_commands(flags, ["Release", "Debug"], "out")
    release, debug, *_ = [command for command in commands if "--preset" in command]
    preset = f"-DEXECUTORCH_BUILD_PRESET_FILE={ROOT}/tools/cmake/preset/ios.cmake"
    layers = "".join(f'message(STATUS "value {name}=${{{name}}}")\n' for name in LAYERS)
    logging = {}
    for command in (release, debug):
        words = [word for word in command if word.startswith("-DEXECUTORCH")]
        wanted = dict(word[2:].split("=") for word in words)
        before = "set(APPLE TRUE)"
        code, values, text = configure(tmp_path, preset, *words, before=before, after=layers)
        assert code == 0, text
        assert wanted.pop("EXECUTORCH_BUILD_MPS") == "OFF"
        assert {name: values[name] for name in wanted} == wanted
        assert [values[name] for name in LAYERS] == ["ON", "ON"]
        logging[command[5]] = values["EXECUTORCH_ENABLE_LOGGING"]
    assert logging == {"-DCMAKE_BUILD_TYPE=Release": "OFF", "-DCMAKE_BUILD_TYPE=Debug": "ON"}


def dry_run(name: str = "build_apple_frameworks.sh") -> list[str]:
    words = [ROOT / "scripts" / name, "--dry-run"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_the_script_names_each_framework_with_its_slices() -> None:
    """Documented names but for MPS, which has no half that runs programs."""
    lines = dry_run()
    merged = {m[1] for line in lines if (m := re.search(r"libtool -static -o (\S+)", line))}
    made = [
        re.findall(r"-library (\S+)|-output (\S+)", line) for line in lines if "xcodebuild" in line
    ]
    names = "executorch executorch_llm threadpool backend_coreml backend_xnnpack kernels_llm kernels_optimized".split()
    names += ["kernels_quantized", "kernels_torchao"]
    expected = {}
    for build_type, suffix in (("Release", ""), ("Debug", "_debug")):
        for name in names:
            expected[f"cmake-out/{name}{suffix}.xcframework"] = [
                f"cmake-out/{platform}/{build_type}/lib{name}{suffix}_{platform}.a"
                for platform in ("ios", "simulator", "macos")
            ]
    found = {words[-1][1]: [library for library, _ in words[:-1]] for words in made}
    assert found == expected
    assert merged == {library for libraries in expected.values() for library in libraries}
    assert {row.name for row in FRAMEWORKS} - set(names) == {"backend_mps"}
    # SwiftPM would go on with the package that it knew before.
    assert lines[-1] == "swift package purge-cache"


@pytest.mark.req("APL-C02")
def test_the_older_name_of_the_script_does_the_same() -> None:
    assert dry_run("build_ios_frameworks.sh") == dry_run()


def resolved(text: str, sdk: str) -> str:
    """OTHER_LDFLAGS as Xcode has it for a system: conditional settings, then $(NAME)."""
    settings = {}
    for line in re.sub(r"\\\n", " ", re.sub(r"^//.*$", "", text, flags=re.M)).splitlines():
        match = re.fullmatch(r"(\w+)(?:\[sdk=(\S+)\])? = (.*)", line)
        if match and fnmatch.fnmatch(sdk, match[2] or "*"):
            settings[match[1]] = match[3]
    return re.sub(r"\$\((ET_\w+)\)", lambda name: settings[name[1]], settings["OTHER_LDFLAGS"])


@pytest.mark.req("APL-034")
def test_settings_of_xcode_name_the_libraries_of_each_system() -> None:
    """Ours, and those that the documents print."""
    ours = (ROOT / "extension/apple/ExecuTorch.xcconfig").read_text()
    printed = guide.listings("ios.md", "text")["181.9"]
    made = {Path(word).name for line in dry_run() for word in line.split() if word.endswith(".a")}
    systems = {"iphoneos17.2": "ios", "iphonesimulator17.2": "ios-simulator", "macosx14.0": "macos"}
    for sdk, preset in systems.items():
        folder, _ = PLATFORMS[preset]
        for text in (ours, printed):
            libraries = re.findall(
                r"-force_load \$\(BUILT_PRODUCTS_DIR\)/(\S+)", resolved(text, sdk)
            )
            assert len(libraries) > 5
            assert set(libraries) - made <= {f"libbackend_mps_{folder}.a"}
            assert all(name.endswith(f"_{folder}.a") for name in libraries)
        # Each framework and what it links stands in ours.
        flags = resolved(ours, sdk)
        for row in AVAILABLE:
            assert re.search(rf"/lib{row.name}(_debug)?_{folder}\.a( |$)", flags)
            assert all(f"-framework {name}" in flags for name in row.system_frameworks)
            assert all(f"-l{name}" in flags for name in row.system_libraries)


PROJECT = """
cmake_minimum_required(VERSION 3.24)
project(one CXX)
add_library(one OBJECT "@ROOT@/runtime/platform/default/minimal.cpp")
target_include_directories(one PRIVATE "@ROOT@/src")
target_compile_features(one PRIVATE cxx_std_17)
"""


@pytest.mark.req("APL-035")
def test_debuggers_find_the_sources_of_frameworks(tmp_path: Path) -> None:
    """Under one name, which the documents' command maps to a folder. The tool chain is that of the presets of Apple's
    systems, here with the compiler of this one."""
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.replace("@ROOT@", str(ROOT)))
    toolchain = ROOT / "tools" / "cmake" / "toolchains" / "apple.cmake"
    words = (
        f"-DCMAKE_TOOLCHAIN_FILE={toolchain} -DCMAKE_HOST_APPLE=ON -DCMAKE_BUILD_TYPE=Debug".split()
    )
    words += [
        "-DCMAKE_CXX_COMPILER_WORKS=ON",
        "-DCMAKE_CXX_ABI_COMPILED=ON",
    ]  # trials forget the host
    out = tmp_path / "out"
    subprocess.run(["cmake", "-S", tmp_path, "-B", out, *words], check=True, capture_output=True)
    subprocess.run(["cmake", "--build", out], check=True, capture_output=True)
    (made,) = out.rglob("minimal.cpp.o")
    words = ["readelf", "--debug-dump=info", str(made)]
    found = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    name = re.findall(r"DW_AT_name .*: (\S*minimal\.cpp)$", found, re.M)[0]
    mapped = guide.listings("ios.md", "text")["181.43"].split()[-1]
    assert name == f"{mapped}/runtime/platform/default/minimal.cpp"
    assert str(ROOT) not in found
