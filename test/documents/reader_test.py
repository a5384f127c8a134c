# SPDX-License-Identifier: BSD-3-Clause
"""The guide as a reader uses it: each page from top to bottom, in a fresh interpreter and an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from executorch.test.documents import run_page
from executorch.test.e2e.build_tree import binary
from executorch.test.repository.sources import ROOT

PAGES = sorted((ROOT / "docs" / "guide").glob("*.md")) + [ROOT / "docs" / "delegates.md"]
WITH_PYTHON = [page for page in PAGES if run_page.blocks(page.read_text(), "python")]
EXPECTED = {  # what a page prints at least
    "getting_started.md": [
        "same as PyTorch: True",
        "Method(forward(image: float32[1, 3, 64, 64]) ->",
    ],
    "export_and_lowering.md": [
        "Input x of method forward, dimension 1: expected 1, found 3",
        "forward(batch.a: float32[2], batch.b: float32[2], scale: float32[2])",
        "Input batch.b of method forward, dimension 0: expected 2, found 3",
        "decode(args_0: float32[1, 16]) -> float32[1, 10]",
    ],
    "xnnpack.md": ["Total delegated subgraphs: 1", "erf"],
    "own_operators.md": ["my_ops::plus_one"],
    "own_int8_operator.md": ["2 of 2 calls became my_dsp::lookup", "my_dsp::lookup.out"],
    "quantization.md": ["outputs of the model", " dB"],
    "memory_planning.md": ["[0, 96]", "[0, 64]", "[0, 64, 32]"],
    "edge_dialect.md": ["aten::sigmoid(Tensor self) -> Tensor", "torch.float64"],
    "backend_dialect.md": ["_ops.foo_namespace.add_relu.default"],
    "backend_interface.md": ["SinBackend", "ExecutorBackend", "--> %aten_add_tensor"],
    "passes.md": ["aten.relu.default", "There must be no mul!"],
    "tutorial.md": ["refused:", "Edge Dialect graph of decode", "ExecuTorch Dialect"],
    "debugging.md": [],
    "microcontrollers.md": [],
    "delegates.md": ["XnnpackBackend", "Total delegated subgraphs: 2"],
}


def test_every_page_is_named_here() -> None:
    assert sorted(EXPECTED) == sorted(page.name for page in WITH_PYTHON)


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda p: p.name)
def test_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, run_page.__file__, str(page)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    count = len(run_page.blocks(page.read_text(), "python"))
    last = done.stdout.splitlines()[-1]
    print(last)
    assert last == f"{page.name}: {count} of {count} blocks ran"
    shown = done.stdout + done.stderr
    assert all(text in shown for text in EXPECTED[page.name]), shown[-3000:]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_pages_are_for_readers(page: Path) -> None:
    """No tables of changes, no talk of tests, no numbers of documents; what is installed stands first."""
    text = page.read_text()
    assert not re.search(r"\| *printed *\| *today|a test (proves|puts|runs)|the test puts", text)
    assert not re.search(r"^```\w+ \S", text, re.M)
    if page in WITH_PYTHON:
        assert text.index("pip install") < text.index("```python")


@pytest.mark.req("XQ-027")
def test_the_guide_explains_the_ways_to_quantize() -> None:
    text = (ROOT / "docs" / "guide" / "quantization.md").read_text().lower()
    for word in ("post-training, static", "dynamic", "aware training", "mix"):
        assert word in text


CPP = [
    (page, code)
    for page in [*PAGES, ROOT / "README.md"]
    for code in run_page.blocks(page.read_text(), "cpp")
]


@pytest.mark.parametrize("page, code", CPP, ids=[page.name for page, _ in CPP])
def test_the_cpp_of_a_page_compiles(page: Path, code: str, tmp_path: Path) -> None:
    (tmp_path / "main.cpp").write_text(code)
    generated = binary("executor_runner").parent / "generated"
    compiler = os.environ.get("CXX") or shutil.which("c++") or "g++"
    includes = [f"-I{folder}" for folder in (ROOT / "src", generated)]
    includes.append(f"-I{ROOT / 'runtime/core/portable_type/c10'}")
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror"]
    defines = ["-DC10_USING_CUSTOM_GENERATED_MACROS"]
    done = subprocess.run(
        [compiler, *flags, *defines, *includes, str(tmp_path / "main.cpp")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


# Blocks that take the installed package are built by guide_programs_test.py.
CMAKE = [
    (page, code)
    for page in PAGES
    for code in run_page.blocks(page.read_text(), "cmake")
    if "find_package" not in code
]
PROJECT = "cmake_minimum_required(VERSION 3.24)\nproject(app C CXX)\nset(CMAKE_CXX_STANDARD 17)\n"
LINKED = """add_executable(app main.cpp)
target_link_libraries(app PRIVATE executorch executorch::backends executorch::extensions executorch::kernels)
"""


@pytest.mark.parametrize("page, code", CMAKE, ids=[page.name for page, _ in CMAKE])
def test_the_cmake_of_a_page_configures(page: Path, code: str, tmp_path: Path) -> None:
    """With the sources as a folder of the project: the targets that it links are there."""
    (tmp_path / "executorch").symlink_to(ROOT)
    (tmp_path / "main.cpp").write_text("int main() { return 0; }\n")
    (tmp_path / "CMakeLists.txt").write_text(PROJECT + code + LINKED)
    command = ["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), "-G", "Ninja"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
