# SPDX-License-Identifier: BSD-3-Clause
"""Whole configurations built: installed by the documented commands, as one shared library, and with those values of
options that no preset has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import torch

from executorch.backends.arm.vgf.model_converter import CONVERTER
from executorch.devtools import Inspector
from executorch.exir import to_edge
from executorch.test.e2e.build_tree import ROOT
from executorch.test.install import delegated_sums
from executorch.test.install.commands import attempt, beside, command

pytestmark = pytest.mark.full

SMALL = ["-DEXECUTORCH_DESKTOP_DEFAULTS=OFF", "-DEXECUTORCH_BUILD_PORTABLE_OPS=OFF"]


def code_bytes(library: Path) -> int:
    """Bytes of code and constants of all its objects."""
    lines = command("size", library).splitlines()[1:]
    return sum(int(line.split()[0]) for line in lines)


def build(folder: Path, generator: str, *options: str) -> Path:
    """`cmake --build cmake-out -j9 --target install --config Release`; where it is installed."""
    given = [*SMALL, *options, f"-DCMAKE_INSTALL_PREFIX={folder / 'prefix'}"]
    command("cmake", "-S", ROOT, "-B", folder / "cmake-out", "-G", generator, *given)
    command("cmake", "--build", folder / "cmake-out", "-j9")
    words = "--target", "install", "--config", "Release"
    command("cmake", "--build", folder / "cmake-out", "-j9", *words)
    return folder / "prefix"


@pytest.mark.req("BLD-022", "BLD-053")
def test_one_configuration_or_several_and_size_before_speed(tmp_path: Path) -> None:
    fast = build(tmp_path / "one", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
    small = build(
        tmp_path / "several",
        "Ninja Multi-Config",
        "-DCMAKE_DEFAULT_BUILD_TYPE=Release",
        "-DEXECUTORCH_OPTIMIZE_SIZE=ON",
    )
    for prefix in (fast, small):
        assert (prefix / "include/executorch/runtime/executor/program.h").exists()
        assert (prefix / "lib/cmake/ExecuTorch/executorch-config.cmake").exists()
    sizes = [code_bytes(prefix / "lib" / "libexecutorch_core.a") for prefix in (fast, small)]
    print(f"libexecutorch_core.a, code and constants: {sizes[0]} bytes, for size {sizes[1]}")
    assert sizes[1] < 0.9 * sizes[0]
    names = subprocess.run(
        ["readelf", "-S", str(small / "lib" / "libexecutorch_core.a")],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert ".eh_frame" not in names


USER = """
cmake_minimum_required(VERSION 3.24)
project(user C CXX)
set(CMAKE_CXX_STANDARD 17)
set(EXECUTORCH_BUILD_SHARED ON)
add_subdirectory("${EXECUTORCH_SOURCE}" executorch EXCLUDE_FROM_ALL)
add_executable(my_target "${EXECUTORCH_SOURCE}/test/consumer/main.cpp")
target_link_libraries(my_target PRIVATE executorch_shared)
"""


def test_a_program_on_the_one_shared_library(tmp_path: Path) -> None:
    """Loaders, Module, TensorPtr, operators and kernels, of which the program itself has none."""
    (tmp_path / "CMakeLists.txt").write_text(USER)
    # As the build that ccache knows.
    same = "-DCMAKE_BUILD_TYPE=Release", "-DEXECUTORCH_ENABLE_EVENT_TRACER=ON"
    build = beside("one-library")
    words = "cmake", "--fresh", "-S", tmp_path, "-B", build, "-G", "Ninja"
    command(*words, f"-DEXECUTORCH_SOURCE={ROOT}", *same)
    command("cmake", "--build", build, "--target", "my_target")
    program = build / "my_target"
    model = torch.nn.Linear(3, 2).eval()
    x = (torch.ones(1, 3),)
    to_edge(torch.export.export(model, x)).to_executorch().save(tmp_path / "linear.pte")
    shown = float(command(program, tmp_path / "linear.pte"))
    assert abs(shown - float(model(*x)[0, 0])) < 1e-5
    assert "libexecutorch_shared.so" in command("readelf", "-d", program)
    own = command("nm", "-C", "--defined-only", program)
    assert "Method::execute" not in own and "linear_out" not in own


def options(*words: str) -> list[str]:
    return [f"-DEXECUTORCH_{word}" for word in words]


@pytest.mark.req("BLD-033")
def test_sanitizers_and_coverage_without_verification(tmp_path: Path) -> None:
    """Tests pass whose programs are not corrupted; every line of the core is counted."""
    given = options("USE_SANITIZER=ON", "USE_CPP_CODE_COVERAGE=ON", "BUILD_TESTS=ON")
    given += options("ENABLE_PROGRAM_VERIFICATION=OFF", "THREADPOOL_USE_PERFORMANCE_CORES=ON")
    command("cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", *SMALL, *given)
    command("cmake", "--build", tmp_path, "--target", "method_test", "threadpool_test")
    runs = "ctest", "--test-dir", tmp_path, "--output-on-failure", "--no-tests=error"
    command(*runs, "-R", "^(method_test|threadpool_test)$")
    counted = {path.name for path in tmp_path.rglob("*.gcda")}
    assert {"method.cpp.gcda", "program.cpp.gcda", "threadpool.cpp.gcda"} <= counted
    assert "__asan_init" in command("nm", tmp_path / "runtime/executor/method_test")


OPERATORS = """
- op: cumsum.out
  kernels:
    - arg_meta: null
      kernel_name: torch::executor::cumsum_out
"""


@pytest.mark.req("BLD-033")
def test_a_delegate_that_shares_nothing_beside_one_operator_of_a_table(tmp_path: Path) -> None:
    (tmp_path / "operators.yaml").write_text(OPERATORS)
    given = options("XNNPACK_ENABLE_WEIGHT_CACHE=OFF", "XNNPACK_SHARED_WORKSPACE=OFF", "USE_DL=OFF")
    given += options("THREADPOOL_USE_ALL_LOGICAL_CORES=ON", "BUILD_KERNELS_OPTIMIZED=OFF")
    given += options("ENABLE_BUNDLE_IO=ON", "BUILD_RISCV_ETDUMP=ON")
    given += options("BUILD_XNNPACK=ON", f"SELECT_OPS_YAML={tmp_path / 'operators.yaml'}")
    build = beside("values")
    command("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", *given)
    command("cmake", "--build", build, "--target", "executor_runner")
    runner = build / "executor_runner"
    path = delegated_sums.save(tmp_path / "sums.pte")
    assert delegated_sums.SHOWN in command(runner, f"--model_path={path}")
    dump = tmp_path / "sums.etdump"
    command(runner, f"--model_path={path}", f"--etdump_path={dump}")
    assert "Execute" in [block.name for block in Inspector(etdump_path=str(dump)).event_blocks]
    other = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    to_edge(other).to_executorch().save(str(tmp_path / "relu.pte"))
    refused = attempt(runner, f"--model_path={tmp_path / 'relu.pte'}")
    assert refused.returncode != 0 and "aten::relu.out" in refused.stderr


LLM_USER = """
cmake_minimum_required(VERSION 3.29)
project(your_app C CXX)
set(CMAKE_CXX_STANDARD 17)
macro(set_overridable_option NAME VALUE)
  if(NOT DEFINED ${NAME})
    set(${NAME} "${VALUE}")
  endif()
endmacro()
add_executable(your_app main.cpp)
# Enable required components
set_overridable_option(EXECUTORCH_BUILD_EXTENSION_MODULE ON)
set_overridable_option(EXECUTORCH_BUILD_EXTENSION_TENSOR ON)
set_overridable_option(EXECUTORCH_BUILD_EXTENSION_LLM_RUNNER ON)
# Add ExecuTorch as a dependency
add_subdirectory(executorch)
# Link against the LLM runner library
target_link_libraries(your_app PRIVATE extension_llm_runner)
"""
LLM_PROGRAM = """
#include <executorch/extension/llm/runner/text_llm_runner.h>
#include <cstdio>
int main() {
  auto runner = executorch::extension::llm::create_text_llm_runner(
      "missing.pte", executorch::extension::llm::load_tokenizer("missing.json"));
  std::puts(runner == nullptr ? "no runner" : "a runner");
}
"""


@pytest.mark.req("LLM-042")
def test_a_program_on_the_runner_of_language_models(tmp_path: Path) -> None:
    """The documented lines; the macro is the user's to define."""
    (tmp_path / "CMakeLists.txt").write_text(LLM_USER)
    (tmp_path / "main.cpp").write_text(LLM_PROGRAM)
    (tmp_path / "executorch").symlink_to(ROOT)
    build = beside("llm-subdirectory")
    command(
        "cmake", "--fresh", "-S", tmp_path, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"
    )
    command("cmake", "--build", build, "--target", "your_app")
    assert "no runner" in command(build / "your_app")


@pytest.mark.skipif(bool(CONVERTER.why_missing()), reason="needs the tools of Arm's backends")
@pytest.mark.req("BLD-034")
def test_the_backends_of_arm_that_have_an_option(tmp_path: Path) -> None:
    """Each alone; what registers it is in its library."""
    for option, target, registers in (
        ("BUILD_VGF", "vgf_backend", "VgfBackend"),
        ("BUILD_CORTEX_M", "cortex_m_ops_lib", "cortex_m::"),
    ):
        folder = tmp_path / option
        given = options(f"{option}=ON")
        command("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *SMALL, *given)
        command("cmake", "--build", folder, "--target", target)
        (library,) = folder.rglob(f"lib{target}.a")
        assert registers.encode() in library.read_bytes()
