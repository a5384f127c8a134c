# SPDX-License-Identifier: BSD-3-Clause
"""CMake options: defaults, precedence, what switches what on, and what cannot go together."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tomllib

from executorch.test.e2e.build_tree import ROOT, binary

PROJECT = """
cmake_minimum_required(VERSION 3.24)
project(options NONE)
@BEFORE@
include("@ROOT@/tools/cmake/Options.cmake")
foreach(name IN LISTS ET_OPTION_NAMES)
  message(STATUS "value ${name}=${${name}}")
endforeach()
@AFTER@
"""


def configure(
    folder: Path, *arguments: str, before: str = "", after: str = "", root: Path = ROOT
) -> tuple[int, dict[str, str], str]:
    """Exit code, option values and all text of configuring a project that has only our options."""
    text = (
        PROJECT.replace("@BEFORE@", before).replace("@AFTER@", after).replace("@ROOT@", str(root))
    )
    (folder / "CMakeLists.txt").write_text(text)
    command = ["cmake", "-S", str(folder), "-B", str(folder / "b"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.removeprefix("-- value ") for line in done.stdout.splitlines()]
    values = dict(line.split("=", 1) for line in lines if line.startswith("EXECUTORCH_"))
    return done.returncode, values, done.stdout + done.stderr


@pytest.mark.req("EXT-C01", "BLD-C02")
def test_desktop_defaults(tmp_path: Path) -> None:
    code, values, _ = configure(tmp_path)
    assert code == 0
    on = {
        "EXTENSION_MODULE",
        "EXTENSION_TENSOR",
        "KERNELS_OPTIMIZED",
        "PTHREADPOOL",
        "EXECUTOR_RUNNER",
    }
    assert {values[f"EXECUTORCH_BUILD_{name}"] for name in on} == {"ON"}
    assert values["EXECUTORCH_ENABLE_PROGRAM_VERIFICATION"] == "ON"
    assert values["EXECUTORCH_BUILD_PYBIND"] == "OFF"


@pytest.mark.req("EXT-C01", "BLD-C02")
def test_bare_metal_has_them_off(tmp_path: Path) -> None:
    _, values, _ = configure(tmp_path, "-DEXECUTORCH_DESKTOP_DEFAULTS=OFF")
    assert values["EXECUTORCH_BUILD_KERNELS_OPTIMIZED"] == "OFF"
    assert values["EXECUTORCH_BUILD_PTHREADPOOL"] == "OFF"
    assert values["EXECUTORCH_BUILD_EXECUTOR_RUNNER"] == "OFF"


def test_an_option_that_needs_another_switches_it_on_and_says_so(tmp_path: Path) -> None:
    code, values, text = configure(
        tmp_path,
        "-DEXECUTORCH_DESKTOP_DEFAULTS=OFF",
        "-DEXECUTORCH_BUILD_EXTENSION_MODULE=ON",
        "-DEXECUTORCH_BUILD_EXTENSION_FLAT_TENSOR=OFF",
    )
    assert code == 0
    assert values["EXECUTORCH_BUILD_EXTENSION_FLAT_TENSOR"] == "ON"
    assert "EXECUTORCH_BUILD_EXTENSION_MODULE needs EXECUTORCH_BUILD_EXTENSION_FLAT_TENSOR" in text


@pytest.mark.req("BLD-039")
def test_the_runner_of_language_models_brings_what_it_needs(tmp_path: Path) -> None:
    needed = ("EXTENSION_LLM", "EXTENSION_MODULE", "EXTENSION_TENSOR")
    off = [f"-DEXECUTORCH_BUILD_{name}=OFF" for name in needed]
    code, values, message = configure(tmp_path, "-DEXECUTORCH_BUILD_EXTENSION_LLM_RUNNER=ON", *off)
    assert code == 0
    for name in needed:
        assert values[f"EXECUTORCH_BUILD_{name}"] == "ON"
        assert f"needs EXECUTORCH_BUILD_{name}: switched on" in message
    code, _, message = configure(tmp_path, "-DEXECUTORCH_BUILD_EXTENSION_LLM_APPLE=ON")
    assert code != 0 and "EXECUTORCH_BUILD_EXTENSION_LLM_APPLE" in message


def test_true_conflicts_are_errors(tmp_path: Path) -> None:
    code, _, text = configure(
        tmp_path,
        "-DEXECUTORCH_THREADPOOL_USE_PERFORMANCE_CORES=ON",
        "-DEXECUTORCH_THREADPOOL_USE_ALL_LOGICAL_CORES=ON",
    )
    assert code != 0 and "cannot both be set" in " ".join(text.split())


@pytest.mark.req("BLD-027", "BLD-056")
def test_command_line_over_preset_file_over_default(tmp_path: Path) -> None:
    preset = tmp_path / "preset.cmake"
    preset.write_text(
        "set_overridable_option(EXECUTORCH_LOG_LEVEL Debug)\n"
        "set_overridable_option(EXECUTORCH_BUILD_EXTENSION_TENSOR OFF)\n"
    )
    _, values, _ = configure(
        tmp_path, f"-DEXECUTORCH_BUILD_PRESET_FILE={preset}", "-DEXECUTORCH_LOG_LEVEL=Error"
    )
    assert values["EXECUTORCH_LOG_LEVEL"] == "Error"
    assert values["EXECUTORCH_BUILD_EXTENSION_TENSOR"] == "OFF"


@pytest.mark.req("BLD-027")
def test_a_value_set_by_the_including_project_counts(tmp_path: Path) -> None:
    _, values, _ = configure(tmp_path, before="set(EXECUTORCH_BUILD_EXECUTOR_RUNNER OFF)")
    assert values["EXECUTORCH_BUILD_EXECUTOR_RUNNER"] == "OFF"


@pytest.mark.parametrize(
    "definition, words",
    [
        ('define_overridable_option(ET_X "s" BOOL ON)', "must start with EXECUTORCH_"),
        ('define_overridable_option(EXECUTORCH_X "s" PATH ON)', "neither BOOL nor STRING"),
    ],
)
def test_a_badly_named_option_is_refused(definition: str, words: str, tmp_path: Path) -> None:
    code, _, text = configure(tmp_path, after=definition)
    assert code != 0 and words in " ".join(text.split())


OPTIONS = ROOT / "tools" / "cmake" / "Options.cmake"
# Ours, and those that the folders of backends have.
DECLARING = [OPTIONS.read_text(), *(p.read_text() for p in ROOT.glob("backends/**/options.cmake"))]
DECLARED = re.findall(
    r"^define_(?:overridable|backend)_option\((EXECUTORCH_\w+)", "\n".join(DECLARING), re.MULTILINE
)
REFUSED = [
    row
    for row in re.findall(
        r'^  "(\w+)\|(BOOL|STRING)\|(\w+)\|([^"]+)"',
        (OPTIONS.parent / "RefusedOptions.cmake").read_text(),
        re.MULTILINE,
    )
    if row[0] not in DECLARED
]


def test_every_option_is_read_where_something_is_built() -> None:
    paths = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*CMakeLists.txt", "*.cmake", "*.in"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    texts = [(ROOT / path).read_text() for path in paths if "preset" not in path]
    text = "\n".join(text for text in texts if text not in DECLARING)
    # Options.cmake itself reads these: one is the default of others, three are further names that switch an option on.
    own = OPTIONS.read_text()
    assert "${EXECUTORCH_DESKTOP_DEFAULTS}" in own
    names = [
        "EXECUTORCH_BUILD_ARM_ETDUMP",
        "EXECUTORCH_BUILD_RISCV_ETDUMP",
        "EXECUTORCH_ENABLE_BUNDLE_IO",
    ]
    assert all(f"check_required_options_on(IF_ON {name} REQUIRES" in own for name in names)
    ignored = [name for name in DECLARED if not re.search(rf"\b{name}\b", text)]
    assert ignored == ["EXECUTORCH_DESKTOP_DEFAULTS", *names]


BACKEND = """# A backend that the documents name.
define_backend_option(EXECUTORCH_BUILD_COREML "Core ML" PRESETS mine llm)
define_overridable_option(EXECUTORCH_COREML_LEVEL "Its log" STRING "")
check_required_options_on(IF_ON EXECUTORCH_BUILD_COREML REQUIRES EXECUTORCH_BUILD_EXTENSION_MODULE)
"""
IS_OFF = ("-DEXECUTORCH_DESKTOP_DEFAULTS=OFF",)
LLM = f"-DEXECUTORCH_BUILD_PRESET_FILE={ROOT}/tools/cmake/preset/llm.cmake"


@pytest.mark.parametrize(
    "given, value",
    [
        (IS_OFF, "OFF"),
        ((*IS_OFF, "-DEXECUTORCH_BUILD_COREML=ON"), "ON"),
        ((*IS_OFF, "-DET_PRESET=mine"), "ON"),
        ((LLM,), "ON"),
        ((LLM, "-DEXECUTORCH_BUILD_COREML=OFF"), "OFF"),
    ],
)
def test_a_backends_folder_has_its_options(
    given: tuple[str, ...], value: str, tmp_path: Path
) -> None:
    """In a copy of the tree's two folders that are asked: no file outside of the backend's changes. What it needs comes
    with all that that needs; and that the option is missing is said no more."""
    cmake, folder = tmp_path / "tools/cmake", tmp_path / "backends/coreml"
    shutil.copytree(OPTIONS.parent, cmake)
    folder.mkdir(parents=True)
    (folder / "options.cmake").write_text(BACKEND)
    presets = [each.replace(str(ROOT), str(tmp_path)) for each in given]
    code, values, text = configure(tmp_path, *presets, root=tmp_path)
    assert code == 0, text
    assert values["EXECUTORCH_BUILD_COREML"] == value and values["EXECUTORCH_COREML_LEVEL"] == ""
    if value == "ON":
        assert values["EXECUTORCH_BUILD_EXTENSION_FLAT_TENSOR"] == "ON"


@pytest.mark.parametrize("preset", [(), ("-DET_PRESET=macos",), ("-DEXECUTORCH_BUILD_COREML=ON",)])
def test_an_option_may_be_one_system_s(preset: tuple[str, ...], tmp_path: Path) -> None:
    """What stands inside of an if(APPLE) is an option there, and refused by name elsewhere."""
    before = "set(APPLE TRUE)"
    code, values, text = configure(tmp_path, *preset, before=before)
    assert code == 0, text
    assert values["EXECUTORCH_BUILD_COREML"] == ("ON" if preset else "OFF")
    (tmp_path / "other").mkdir()
    code, _, text = configure(tmp_path / "other", *preset, before="set(APPLE FALSE)")
    assert (code == 0) is ("-DEXECUTORCH_BUILD_COREML=ON" not in preset)
    assert ("EXECUTORCH_BUILD_COREML=ON: macOS with Xcode" in text) is (code != 0)


# Name, type and documented default (section 2 of the interface listing); an empty default is none.
DOCUMENTED = [
    (*line.split(), "")[:3]
    for line in (Path(__file__).parent / "documented_options.txt").read_text().splitlines()
]
# A value other than the default, for options that are not switches.
OTHER_TEXT = {
    "EXECUTORCH_BUILD_PRESET_FILE": str(ROOT / "tools/cmake/preset/llm.cmake"),
    "EXECUTORCH_FLATBUFFERS_MAX_ALIGNMENT": "64",
    "EXECUTORCH_LOG_LEVEL": "fatal",
    "EXECUTORCH_PAL_DEFAULT": "minimal",
    "EXECUTORCH_PAL_DEFAULT_FILE_PATH": str(ROOT / "runtime/platform/default/minimal.cpp"),
    "EXECUTORCH_SELECT_OPS_LIST": "aten::add.out",
    "EXECUTORCH_SELECT_OPS_MODEL": "model.pte",
    "EXECUTORCH_SELECT_OPS_YAML": "operators.yaml",
    "EXECUTORCH_XNNPACK_LOG_LEVEL": "3",
}


def test_every_documented_option_is_declared() -> None:
    documented = [name for name, *_ in DOCUMENTED]
    known = {*DECLARED, *(name for name, *_ in REFUSED), "EXECUTORCH_BUILD_PRESET_FILE"}
    assert len(documented) == len(set(documented)) == 93
    assert sorted(set(documented) - known) == []


@pytest.mark.req("BLD-033")
def test_every_documented_option_is_obeyed_or_refused_by_name(tmp_path: Path) -> None:
    """Each alone, at its documented default and at another value."""
    refused = {name: reason for name, _, _, reason in REFUSED}
    alone = {
        "EXECUTORCH_ENABLE_DTYPE_SELECTIVE_BUILD": "the model says which dtypes are used",
        "EXECUTORCH_BUILD_QNN": "expected the headers of Qualcomm's AI Engine Direct SDK",
        "EXECUTORCH_BUILD_NEURON": "expected NeuronAdapter.h of MediaTek's NeuroPilot Express SDK",
    }

    def problem(case: tuple[str, str, bool]) -> str:
        name, value, is_default = case
        folder = tmp_path / f"{name}{value[:3]}".replace("/", "")
        folder.mkdir()
        code, values, text = configure(folder, f"-D{name}={value}")
        message = " ".join(text.split())
        if code == 0:
            taken = name in refused or name.endswith("PRESET_FILE") or values[name] == value
            taken = taken or f"needs {name}: switched on" in message
            return "" if taken else f"{name}={value}: {values[name]} was taken"
        reason = refused.get(name) or (alone.get(name, "") if not is_default else "")
        named = name in message and reason and " ".join(reason.split()) in message
        return "" if named else f"{name}={value}: {message[-300:]}"

    cases = []
    for name, kind, default in DOCUMENTED:
        other = {"ON": "OFF", "OFF": "ON"}[default] if kind == "BOOL" else OTHER_TEXT[name]
        cases += [(name, other, False), *([(name, default, True)] if default else [])]
    with ThreadPoolExecutor(2) as pool:
        assert [found for found in pool.map(problem, cases) if found] == []


def test_what_cannot_be_had_is_refused_by_name_with_what_is_missing(tmp_path: Path) -> None:
    other = {"ON": "OFF", "OFF": "ON", "1024": "64"}
    assert len(REFUSED) >= 30
    code, _, text = configure(
        tmp_path, *(f"-D{name}={other[value]}" for name, _, value, _ in REFUSED)
    )
    lines = [" ".join(line.split()) for line in text.replace("\n    ", " ").splitlines()]
    message = " ".join(" ".join(lines).split())
    assert code != 0 and "leave these options out" in message
    for name, _, value, missing in REFUSED:
        assert f"{name}={other[value]}: {missing}" in message


@pytest.mark.req("NPU-021")
def test_qualcomm_without_its_sdk_is_refused(tmp_path: Path) -> None:
    code, _, text = configure(tmp_path, "-DEXECUTORCH_BUILD_QNN=ON")
    message = " ".join(text.split())
    assert code != 0 and "QNN_SDK_ROOT is '', where include/QNN/QnnInterface.h is not" in message
    (tmp_path / "sdk" / "include" / "QNN").mkdir(parents=True)
    (tmp_path / "sdk" / "include" / "QNN" / "QnnInterface.h").touch()
    sdk = f"-DQNN_SDK_ROOT={tmp_path / 'sdk'}"
    code, values, _ = configure(tmp_path, "-DEXECUTORCH_BUILD_QNN=ON", sdk)
    assert code == 0 and values["EXECUTORCH_BUILD_QNN"] == "ON"


@pytest.mark.req("NPU-045")
@pytest.mark.parametrize(
    "name", ["EXECUTORCH_BUILD_ENN", "EXECUTORCH_BUILD_EXYNOS", "EXECUTORCH_BUILD_NXP_NEUTRON"]
)
def test_samsung_and_nxp_need_no_sdk(name: str, tmp_path: Path) -> None:
    code, values, _ = configure(tmp_path, f"-D{name}=ON")
    assert code == 0 and values[name] == "ON"


def test_documented_defaults_are_taken(tmp_path: Path) -> None:
    code, values, text = configure(
        tmp_path,
        *(f"-D{name}={value}" for name, _, value, _ in REFUSED),
        after="message(STATUS end)",
    )
    assert code == 0 and "-- end" in text and not set(values) & {name for name, *_ in REFUSED}


def test_options_become_flags_and_rules(tmp_path: Path) -> None:
    """Those that change how things are compiled, linked and installed."""
    options = {
        "EXECUTORCH_USE_CPP_CODE_COVERAGE": "ON",
        "EXECUTORCH_BAREMETAL_SKIP_INSTALL": "ON",
        "EXECUTORCH_USE_DL": "OFF",
        "EXECUTORCH_BUILD_XNNPACK": "ON",
        "EXECUTORCH_XNNPACK_ENABLE_WEIGHT_CACHE": "OFF",
        "EXECUTORCH_XNNPACK_SHARED_WORKSPACE": "OFF",
        "EXECUTORCH_XNNPACK_LOG_LEVEL": "4",
        "EXECUTORCH_XNNPACK_TUNING": "OFF",
    }
    targets_of_the_whole_tree(tmp_path / "given", *(f"-D{n}={v}" for n, v in options.items()))
    targets_of_the_whole_tree(tmp_path / "default", "-DEXECUTORCH_BUILD_XNNPACK=ON")
    given, default = (
        (tmp_path / folder / "build.ninja").read_text() for folder in ("given", "default")
    )
    for words in (
        " --coverage",
        "-DEXECUTORCH_XNNPACK_WEIGHT_CACHE=0",
        "-DEXECUTORCH_XNNPACK_SHARED_WORKSPACE=0",
        "-DXNN_LOG_LEVEL=4",
    ):
        assert words in given and words not in default, words
    assert all("nan_order.h" in text for text in (given, default))
    assert "own_convolution.cpp.o" in default and "own_convolution.cpp.o" not in given
    assert " -ldl" in default and " -ldl" not in given
    assert not (tmp_path / "given" / "cmake_install.cmake").exists()
    assert (tmp_path / "default" / "cmake_install.cmake").exists()


@pytest.mark.req("EXT-024")
@pytest.mark.parametrize("value", ["ON", "OFF"])
def test_thread_pool_and_cpuinfo_can_be_left_out(tmp_path: Path, value: str) -> None:
    options = [f"-DEXECUTORCH_BUILD_{name}={value}" for name in ("PTHREADPOOL", "CPUINFO")]
    command = ["cmake", "-S", str(ROOT), "-B", str(tmp_path), "-G", "Ninja", *options]
    subprocess.run(command, capture_output=True, text=True, check=True)
    rules = (tmp_path / "build.ninja").read_text()
    found = [
        name
        for name in ("pthreadpool", "cpuinfo", "extension_threadpool")
        if f"lib{name}.a" in rules
    ]
    assert found == (["pthreadpool", "cpuinfo", "extension_threadpool"] if value == "ON" else [])
    assert "libportable_kernels.a" in rules and "libexecutorch_core.a" in rules


def targets_of_the_whole_tree(folder: Path, *arguments: str) -> tuple[set[str], str]:
    """Names of the files that a build with `arguments` makes, and all text of configuring."""
    command = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rules = (folder / "build.ninja").read_text().splitlines()
    outputs = [line.split(":", 1)[0].split()[1] for line in rules if line.startswith("build ")]
    return {Path(output).name for output in outputs}, done.stdout


BUILT_BY_OPTION = {
    "EXTENSION_DATA_LOADER": "libextension_data_loader.a",
    "EXTENSION_FLAT_TENSOR": "libextension_flat_tensor.a",
    "EXTENSION_EVALUE_UTIL": "libextension_evalue_util.a",
    "EXTENSION_RUNNER_UTIL": "libextension_runner_util.a",
    "EXTENSION_NAMED_DATA_MAP": "libextension_named_data_map.a",
    "EXECUTOR_RUNNER": "executor_runner",
    "KERNELS_QUANTIZED": "libquantized_kernels.a",
    "XNNPACK": "libxnnpack_backend.a",
    "DEVTOOLS": "libetdump.a",
    "TESTS": "method_test",
    "SHARED": "libexecutorch_shared.so",
}


@pytest.mark.req("BLD-030", "BLD-036", "BLD-037", "BLD-042", "BLD-043", "BLD-044", "BLD-045")
@pytest.mark.req("BLD-047", "BLD-049")
@pytest.mark.parametrize("value", ["ON", "OFF"])
def test_options_of_extensions_decide_what_is_built(tmp_path: Path, value: str) -> None:
    options = [f"-DEXECUTORCH_BUILD_{name}={value}" for name in BUILT_BY_OPTION]
    if value == "OFF":
        options.append("-DEXECUTORCH_BUILD_EXTENSION_MODULE=OFF")
    built, _ = targets_of_the_whole_tree(tmp_path, *options)
    found = {name for name, file in BUILT_BY_OPTION.items() if file in built}
    assert found == (set(BUILT_BY_OPTION) if value == "ON" else set())
    assert "libexecutorch_core.a" in built


@pytest.mark.req("BLD-018")
@pytest.mark.parametrize("found", [True, False])
def test_configuring_says_whether_ccache_is_used(tmp_path: Path, found: bool) -> None:
    ccache = tmp_path / "bin" / "ccache"
    ccache.parent.mkdir()
    ccache.write_text('#!/bin/sh\nexec "$@"\n')
    ccache.chmod(0o755)
    search = f"-DCMAKE_PROGRAM_PATH={ccache.parent}" if found else "-DET_CCACHE=OFF"
    arguments = [search, "-DCMAKE_CXX_COMPILER_LAUNCHER="]
    _, text = targets_of_the_whole_tree(tmp_path / "b", *arguments)
    assert ("ccache found and enabled for faster builds" in text) is found
    assert ("ccache not found, builds will not be cached" in text) is not found
    assert (str(ccache) in (tmp_path / "b" / "build.ninja").read_text()) is found


@pytest.mark.req("XQ-008")
def test_an_installed_xnnpack_is_taken(tmp_path: Path) -> None:
    prefix = tmp_path / "prefix"
    for name in ("include/xnnpack.h", "lib/libXNNPACK.a", "lib/libmicrokernels-prod.a"):
        (prefix / name).parent.mkdir(parents=True, exist_ok=True)
        (prefix / name).touch()
    options = ("-DEXECUTORCH_BUILD_XNNPACK=ON", f"-DEXECUTORCH_XNNPACK_ROOT={prefix}")
    built, _ = targets_of_the_whole_tree(tmp_path / "b", *options)
    assert "libxnnpack_backend.a" in built and "libexecutorch_xnnpack.a" not in built
    assert str(prefix / "lib/libXNNPACK.a") in (tmp_path / "b" / "build.ninja").read_text()


@pytest.mark.full
def test_the_backend_without_tuning(tmp_path: Path) -> None:
    """Corrections are there, and payloads give the same."""
    options = ("BUILD_XNNPACK=ON", "BUILD_TESTS=ON", "XNNPACK_TUNING=OFF")
    build, tests = tmp_path / "b", ["xnnpack_library_test", "xnnpack_backend_test"]
    flags = [f"-DEXECUTORCH_{option}" for option in options]
    for words in (
        ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *flags],
        ["cmake", "--build", build, "--target", *tests],
        *([build / "backends" / "xnnpack" / test] for test in tests),
    ):
        done = subprocess.run(  # corrupted payloads have names that are no UTF-8
            list(map(str, words)), capture_output=True, text=True, errors="replace", check=False
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


@pytest.mark.full
@pytest.mark.req("XQ-008")
def test_the_backend_on_an_installed_xnnpack(tmp_path: Path) -> None:
    """A prefix of the archives and the header alone, as XNNPACK's own installation lays them out."""
    archives = binary("third-party") / "xnnpack"
    cache = (binary("CMakeCache.txt")).read_text()
    header = next(
        Path(line.partition("=")[2]) / "include/xnnpack.h"
        for line in cache.splitlines()
        if line.startswith("XNNPACK_SOURCE_DIR:")
    )
    for source, place in (
        (archives / "libexecutorch_xnnpack.a", "lib/libXNNPACK.a"),
        (archives / "libexecutorch_xnnpack_microkernels.a", "lib/libmicrokernels-prod.a"),
        (header, "include/xnnpack.h"),
    ):
        target = tmp_path / "prefix" / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    build, test = tmp_path / "b", "xnnpack_backend_test"
    options = ("BUILD_XNNPACK=ON", "BUILD_TESTS=ON", f"XNNPACK_ROOT={tmp_path / 'prefix'}")
    for words in (
        ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *(f"-DEXECUTORCH_{o}" for o in options)],
        ["cmake", "--build", build, "--target", test],
        ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "-R", test],
    ):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_settings_of_the_package_configure_all_folders(tmp_path: Path) -> None:
    """As `pip install .` does, which has no tests and no runner."""
    package = tomllib.loads((ROOT / "pyproject.toml").read_text())
    settings = package["tool"]["scikit-build"]["cmake"]["define"]
    arguments = [f"-D{name}={value}" for name, value in settings.items()]
    python = f"-DPYTHON_EXECUTABLE={sys.executable}"
    command = ["cmake", "-S", str(ROOT), "-B", str(tmp_path), "-G", "Ninja", python, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "build.ninja").is_file()
