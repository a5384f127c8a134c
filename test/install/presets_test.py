# SPDX-License-Identifier: BSD-3-Clause
"""Presets: those that are documented are there, ask for what is documented, and say what they lack."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.examples.models import make_example
from executorch.exir import to_edge
from executorch.test.e2e.build_tree import ROOT
from executorch.test.install.options_test import REFUSED, configure

OURS = "linux debug asan ubsan tsan minsize pybind".split()
WORKFLOWS = "llm-release llm-debug llm-release-cuda llm-debug-cuda llm-debug-vulkan".split()
DOCUMENTED = """android-arm64-v8a android-armeabi-v7a android-x86_64 arm-baremetal ios macos linux llm profiling
    zephyr""".split()

# The documented switches of each preset file, without EXECUTORCH_ and BUILD_; those after a dash are off.
SWITCHES = {
    "llm": """EXECUTOR_RUNNER EXTENSION_ASR_RUNNER EXTENSION_DATA_LOADER EXTENSION_EVALUE_UTIL
        EXTENSION_FLAT_TENSOR EXTENSION_LLM EXTENSION_LLM_RUNNER EXTENSION_MODULE
        EXTENSION_NAMED_DATA_MAP EXTENSION_RUNNER_UTIL EXTENSION_TENSOR KERNELS_OPTIMIZED
        KERNELS_QUANTIZED KERNELS_LLM XNNPACK""",
    "android": """ANDROID_JNI LLAMA_JNI EXTENSION_ASR_RUNNER ENABLE_LOGGING DEVTOOLS XNNPACK XNNPACK_ENABLE_WEIGHT_CACHE
        XNNPACK_SHARED_WORKSPACE EXTENSION_DATA_LOADER EXTENSION_FLAT_TENSOR EXTENSION_LLM
        EXTENSION_LLM_RUNNER EXTENSION_MODULE EXTENSION_NAMED_DATA_MAP EXTENSION_RUNNER_UTIL
        EXTENSION_TENSOR EXTENSION_TRAINING KERNELS_LLM KERNELS_OPTIMIZED KERNELS_QUANTIZED""",
    "profiling": """DEVTOOLS ENABLE_EVENT_TRACER EXECUTOR_RUNNER EXTENSION_EVALUE_UTIL
        EXTENSION_RUNNER_UTIL EXTENSION_DATA_LOADER EXTENSION_FLAT_TENSOR EXTENSION_MODULE
        EXTENSION_NAMED_DATA_MAP EXTENSION_TENSOR KERNELS_LLM KERNELS_OPTIMIZED KERNELS_QUANTIZED
        XNNPACK""",
    "zephyr": """PORTABLE_OPS - EXECUTOR_RUNNER EXTENSION_DATA_LOADER EXTENSION_FLAT_TENSOR
        EXTENSION_MODULE EXTENSION_TENSOR KERNELS_OPTIMIZED KERNELS_QUANTIZED XNNPACK USE_DL
        PTHREADPOOL CPUINFO""",
    "arm_baremetal": """ARM_BAREMETAL CORTEX_M KERNELS_QUANTIZED EXTENSION_RUNNER_UTIL
        ENABLE_LOGGING - EXECUTOR_RUNNER EXTENSION_FLAT_TENSOR EXTENSION_DATA_LOADER USE_DL""",
    "ios": """XNNPACK XNNPACK_ENABLE_WEIGHT_CACHE XNNPACK_SHARED_WORKSPACE COREML MPS
        EXTENSION_APPLE EXTENSION_DATA_LOADER EXTENSION_IMAGE EXTENSION_LLM EXTENSION_LLM_APPLE
        EXTENSION_LLM_RUNNER EXTENSION_MODULE EXTENSION_FLAT_TENSOR EXTENSION_NAMED_DATA_MAP
        EXTENSION_TENSOR KERNELS_LLM KERNELS_OPTIMIZED KERNELS_QUANTIZED KERNELS_TORCHAO""",
    "macos": """EXECUTOR_RUNNER EXTENSION_EVALUE_UTIL EXTENSION_RUNNER_UTIL
        COREML_BUILD_EXECUTOR_RUNNER COREML XNNPACK""",
}
PLAIN = ("ENABLE_", "XNNPACK_", "USE_", "COREML_")  # names without BUILD_


def full_name(short: str) -> str:
    return "EXECUTORCH_" + ("" if short.startswith(PLAIN) else "BUILD_") + short


def run(*words: object, cwd: Path = ROOT, **env: str) -> tuple[int, str]:
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("ANDROID")}, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split())


@pytest.mark.req("BLD-029")
def test_the_documented_presets_are_listed() -> None:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    names = {preset["name"] for preset in presets if not preset.get("hidden")}
    assert {*OURS, *DOCUMENTED, *WORKFLOWS} <= names
    code, text = run("cmake", "--list-presets")
    assert code == 0 and all(f'"{name}"' in text for name in names), text


@pytest.mark.req("BLD-029", "BLD-056")
@pytest.mark.parametrize("name", SWITCHES)
def test_a_preset_file_asks_for_what_is_documented_and_names_what_is_left_out(
    name: str, tmp_path: Path
) -> None:
    """Through EXECUTORCH_BUILD_PRESET_FILE, as in projects of users."""
    preset = ROOT / "tools/cmake/preset" / f"{name}.cmake"
    code, values, text = configure(tmp_path, f"-DEXECUTORCH_BUILD_PRESET_FILE={preset}")
    assert code == 0, text
    missing = {option: reason for option, _, _, reason in REFUSED}
    on, _, off = SWITCHES[name].partition(" - ")
    message = " ".join(text.split())
    for option in map(full_name, on.split()):
        if option in missing:
            assert f"Preset: {option}=ON left out: {missing[option]}" in message
        else:
            assert values[option] == "ON", option
    assert {values[full_name(option)] for option in off.split()} <= {"OFF"}


def test_workflows_configure_and_install_into_the_build_folder(tmp_path: Path) -> None:
    """`cmake --workflow llm-release`, of which each step is a preset of its own."""
    code, text = run("cmake", "--workflow", "--list-presets")
    assert code == 0 and all(f'"{name}"' in text for name in WORKFLOWS), text
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    steps = {each["name"]: each["steps"] for each in presets["workflowPresets"]}
    builds = {each["name"]: each for each in presets["buildPresets"]}
    assert set(steps) == set(WORKFLOWS)
    for name, (configured, built) in steps.items():
        assert configured == {"type": "configure", "name": name}
        assert built == {"type": "build", "name": f"{name}-install"}
        wanted = {"name": built["name"], "configurePreset": name, "targets": ["install"]}
        assert builds[built["name"]] == wanted
    code, text = run("cmake", "--preset", "llm-debug-cuda", "-B", tmp_path)
    assert code == 0, text[-2000:]
    cache = (tmp_path / "CMakeCache.txt").read_text()
    for line in (
        f"CMAKE_INSTALL_PREFIX:PATH={ROOT / 'cmake-out'}",
        "CMAKE_BUILD_TYPE:STRING=Debug",
        "EXECUTORCH_BUILD_CUDA:BOOL=ON",
    ):
        assert line in cache.splitlines(), line
    rules = (tmp_path / "build.ninja").read_text()
    assert "libaoti_cuda_backend.a" in rules and "libextension_llm_runner.a" in rules


def test_the_command_line_wins_over_a_preset(tmp_path: Path) -> None:
    preset = ROOT / "tools/cmake/preset/llm.cmake"
    asked = "-DEXECUTORCH_BUILD_EXTENSION_RUNNER_UTIL=OFF", "-DEXECUTORCH_BUILD_EXECUTOR_RUNNER=OFF"
    _, values, _ = configure(tmp_path, f"-DEXECUTORCH_BUILD_PRESET_FILE={preset}", *asked)
    assert values["EXECUTORCH_BUILD_EXTENSION_RUNNER_UTIL"] == "OFF"
    assert values["EXECUTORCH_BUILD_XNNPACK"] == "ON"


REFUSALS = {
    "android-arm64-v8a": "the presets for Android need the Android NDK: set ANDROID_NDK",
    "android-armeabi-v7a": "the presets for Android need the Android NDK: set ANDROID_NDK",
    "android-x86_64": "the presets for Android need the Android NDK: set ANDROID_NDK",
    "ios-simulator": "the presets ios and macos need macOS with Xcode; this is Linux",
    "ios": "the presets ios and macos need macOS with Xcode; this is Linux",
    "macos": "the presets ios and macos need macOS with Xcode; this is Linux",
}


@pytest.mark.req("BLD-029")
@pytest.mark.skipif(sys.platform != "linux", reason="macOS has them")
@pytest.mark.parametrize("name", REFUSALS)
def test_a_preset_whose_tools_are_missing_says_which(name: str, tmp_path: Path) -> None:
    code, text = run("cmake", "--preset", name, "-B", tmp_path)
    assert code != 0 and REFUSALS[name] in text


@pytest.mark.req("AND-023", "BLD-029")
def test_an_android_preset_takes_the_toolchain_of_the_ndk(tmp_path: Path) -> None:
    toolchain = tmp_path / "ndk/build/cmake/android.toolchain.cmake"
    toolchain.parent.mkdir(parents=True)
    toolchain.write_text(
        'set(ANDROID ON)\nmessage(STATUS "NDK for ${ANDROID_ABI}, ${ANDROID_PLATFORM}")\n'
    )
    without = [f"-DEXECUTORCH_BUILD_{name}=OFF" for name in ("XNNPACK", "KERNELS_TORCHAO")]
    words = "cmake", "--preset", "android-arm64-v8a", "-B", tmp_path / "b", *without
    code, text = run(*words, ANDROID_NDK=str(tmp_path / "ndk"))
    assert code == 0 and "NDK for arm64-v8a, android-28" in text, text


@pytest.mark.req("BLD-020", "BLD-029", "BLD-059", "EMB-022", "ARM-038")
@pytest.mark.parametrize("name", ["llm", "profiling", "zephyr", "arm-baremetal", "debug", "pybind"])
def test_a_preset_configures_with_standard_variables(name: str, tmp_path: Path) -> None:
    """`mkdir cmake-out; cmake -B cmake-out --preset [preset] [options]`"""
    (tmp_path / "cmake-out").mkdir()
    given = {
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_INSTALL_PREFIX": str(tmp_path / "prefix"),
        "PYTHON_EXECUTABLE": sys.executable,
    }
    options = [f"-D{variable}={value}" for variable, value in given.items()]
    code, text = run("cmake", "-B", tmp_path / "cmake-out", "--preset", name, *options)
    assert code == 0, text[-2000:]
    cache = (tmp_path / "cmake-out/CMakeCache.txt").read_text()
    for variable, value in given.items():
        assert re.search(rf"^{variable}:\w+={re.escape(value)}$", cache, re.M), variable
    rules = (tmp_path / "cmake-out/build.ninja").read_text()
    assert "libexecutorch_core.a" in rules and "libportable_kernels.a" in rules
    assert ("-mcpu=cortex-m55 -mthumb" in rules) is (name == "arm-baremetal")
    headers = re.findall(r"^  COMMAND = (.*)\n  DESC = flatc \S+\.fbs$", rules, re.M)
    assert headers and all("/bin/flatc --cpp " in each for each in headers), headers


FRAGMENTS = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DEXECUTORCH_BUILD_EXTENSION_DATA_LOADER=ON",
    "-DEXECUTORCH_ENABLE_LOGGING=ON -DEXECUTORCH_LOG_LEVEL=debug",
    "-DEXECUTORCH_SELECT_OPS_MODEL=mv2_xnnpack_fp32.pte",
    pytest.param("-DEXECUTORCH_BUILD_XNNPACK=ON", marks=pytest.mark.full),
    pytest.param(
        "-DEXECUTORCH_BUILD_XNNPACK=ON -DEXECUTORCH_BUILD_VULKAN=ON", marks=pytest.mark.full
    ),
]


@pytest.mark.parametrize("options", FRAGMENTS)
def test_documented_options_from_a_build_folder(options: str, tmp_path: Path) -> None:
    """`cmake .. <options>`, with a copy's own folder instead of the repository's. The model is another of that name."""
    to_edge(make_example("linear").export()).to_executorch().save(
        str(tmp_path / "mv2_xnnpack_fp32.pte")
    )
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    code, text = run(
        "cmake", os.path.relpath(ROOT, tmp_path), *generator, *options.split(), cwd=tmp_path
    )
    assert code == 0, text[-2000:]
    rules = (tmp_path / "build.ninja").read_text() if generator else ""
    assert not generator or ("ET_MIN_LOG_LEVEL=Debug" in rules) is ("debug" in options)
    for library in re.findall("BUILD_(XNNPACK|VULKAN)=ON", options):
        assert not generator or f"lib{library.lower()}_backend.a" in rules
    assert not generator or ("executorch_selected_kernels" in rules) is ("SELECT" in options)


@pytest.mark.req("BLD-054", "RT-037", "BLD-C05")
@pytest.mark.parametrize("platform", ["posix", "minimal", "android"])
def test_the_platform_layer_is_chosen_by_name(platform: str, tmp_path: Path) -> None:
    level = {"posix": "DEBUG", "minimal": "debug", "android": "Debug"}[platform]
    words = f"-DEXECUTORCH_PAL_DEFAULT={platform}", "-DEXECUTORCH_ENABLE_LOGGING=ON"
    words += (f"-DEXECUTORCH_LOG_LEVEL={level}", "-DEXECUTORCH_DESKTOP_DEFAULTS=OFF")
    code, text = run("cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", *words)
    assert code == 0, text[-2000:]
    rules = (tmp_path / "build.ninja").read_text()
    others = {"posix", "minimal", "android"} - {platform}
    assert f"platform/default/{platform}.cpp" in rules
    assert not [other for other in others if f"platform/default/{other}.cpp" in rules]
    assert "ET_MIN_LOG_LEVEL=Debug" in rules


def test_an_unknown_platform_layer_is_refused(tmp_path: Path) -> None:
    code, text = run("cmake", "-S", ROOT, "-B", tmp_path, "-DEXECUTORCH_PAL_DEFAULT=windows")
    assert code != 0 and "use posix, minimal or android, or set EXECUTORCH_PAL_DEFAULT_FILE" in text
