# SPDX-License-Identifier: BSD-3-Clause
"""The header of `executorch wrap --lang cpp` against what is installed: its warnings, numbers and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from executorch.test.cli import wrapped
from executorch.test.e2e.build_tree import ROOT
from executorch.test.install.commands import attempt, command

pytestmark = pytest.mark.full

CMAKE = """
cmake_minimum_required(VERSION 3.24)
project(app CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(executorch CONFIG REQUIRED)
foreach(name main wrong)
  add_executable(${name} ${name}.cpp)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Werror -fno-exceptions)
  target_link_libraries(${name} PRIVATE executorch executorch::extensions executorch::backends executorch::kernels)
endforeach()
"""
WRONG = """
#include <cstdio>
#include "AllOfIt.h"
#include "again.h"  // two classes in one file

int code(executorch::runtime::Error error) { return static_cast<int>(error); }

int main(int, char** argv) {
  const float elements[64] = {};
  AllOfIt model(argv[1]);
  const auto pairs = model.ranges({elements, {3, 3}}, {elements, {8}}, {elements, {1}});
  const auto negative = model.ranges({elements, {-3, 3}}, {elements, {6}}, {elements, {1}});
  const auto fixed = model.ranges({elements, {3, 4}}, {elements, {6}}, {elements, {1}});
  const auto nothing = model.store({nullptr, {2}});
  std::printf("%d %d %d %d\\n", code(pairs.error()), code(negative.error()), code(fixed.error()), code(nothing));
  AllOfIt absent("absent.pte");
  Again other(argv[2]);
  const auto inputs = other.delete_();
  const auto absent_method = other.forward({}, {}, {}, {}, {}, {}, {});
  const auto kind = other.use_kv_cache();
  std::printf("%d %d %d %d\\n", code(absent.delete_().error()), code(inputs.error()), code(absent_method.error()),
              code(kind.error()));
  std::printf("%s\\n", AllOfIt::labels()[1]);
  const auto scalars = model.scalars({elements, {4, 2}});
  std::printf("%d %g %lld\\n", scalars.ok(), scalars->output_0.data[0], static_cast<long long>(scalars->output_1));
  return 0;
}
"""


def test_the_header_compiles_and_gives_the_numbers(prefix: Path, tmp_path: Path) -> None:
    program = wrapped.write(tmp_path)
    made, caller = wrapped.wrapped(program, "cpp", tmp_path, ".h")
    caller.rename(tmp_path / "main.cpp")
    other = wrapped.save(tmp_path / "other.pte", wrapped.others(), use_kv_cache=2)
    words = ["--name", "Again", "-o", tmp_path / "again.h"]
    assert wrapped.wrap(program, "cpp", *words) == 0
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / "wrong.cpp").write_text(WRONG)
    build = tmp_path / "build"
    command("cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", cwd=tmp_path)
    command("cmake", "--build", build, "-j", 2, cwd=tmp_path)
    wrapped.same(command(build / "main", program, cwd=tmp_path), {"delete_": "delete"})
    done = attempt(build / "wrong", program, other, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    invalid, absent, other_program = 0x12, 0x22, 0x23  # of executorch::runtime::Error
    assert done.stdout.splitlines() == [
        f"{invalid} {invalid} {invalid} {invalid}",
        f"{absent} {invalid} {invalid} {other_program}",
        wrapped.LABELS[1],
        f"1 {0.0 + 7 + 0.5} 4",  # x + n + f and x.shape[0]
    ]
    for sentence in (
        "dimension 0 of input rows is 3, so dimension 0 of input pairs must be 6, got 8",
        "Input rows: its sizes are negative or their product does not fit",
        "Input rows of method ranges, dimension 1: expected 3, found 4",
        "Input x: it has sizes and no elements",
        "Cannot open absent.pte",
        "Method delete: expected 5 inputs, input x is missing",
        "No method named 'forward' in program with 6 methods",
        "Output 0: expected kind 5, got 4: the file is another program",
    ):
        assert sentence in done.stderr, done.stderr
