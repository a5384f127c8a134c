# SPDX-License-Identifier: BSD-3-Clause
"""NEON's kernels of GGUF blocks: their C++ test, compiled for 64-bit Arm with the files that it needs, under QEMU."""

from __future__ import annotations

import shlex
from pathlib import Path
from xml.etree import ElementTree

import pytest

from executorch.test.e2e.build_tree import ROOT
from executorch.test.install.commands import command

pytestmark = pytest.mark.full
HIGHWAY = ROOT / "third-party/.cache/src/highway"
GTEST = Path("/usr/src/googletest/googletest")
BLOCKS = ROOT / "kernels/optimized/blocks"
SOURCES = (
    *(BLOCKS / f"{name}.cpp" for name in ("blocks", "blocks_simd", "blocks_test")),
    ROOT / "kernels/optimized/int8_dots/arm_dots.cpp",
    *(HIGHWAY / f"hwy/{name}.cc" for name in ("targets", "per_target", "abort")),
    GTEST / "src/gtest-all.cc",
    GTEST / "src/gtest_main.cc",
)
OPTIONS = (
    "-std=c++17 -O2 -DNDEBUG -DHWY_STATIC_DEFINE -DC10_USING_CUSTOM_GENERATED_MACROS -DET_MIN_LOG_LEVEL=Error "
    f"-I{ROOT}/src -I{ROOT}/runtime/core/portable_type/c10 -isystem {HIGHWAY} -isystem {GTEST}/include -I{GTEST}"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("arm") / "blocks_test"
    files = map(str, SOURCES)
    command("aarch64-linux-gnu-g++", *shlex.split(OPTIONS), *files, "-o", out, "-lpthread")
    return out


# NEON alone, with dot products, with everything; the kind that is chosen then.
@pytest.mark.parametrize(
    "processor, arm_dots", [("cortex-a53", "0"), ("cortex-a76", "1"), ("max", "2")]
)
def test_products_are_those_of_the_numbers(
    program: Path, tmp_path: Path, processor: str, arm_dots: str
) -> None:
    report = tmp_path / "report.xml"
    emulator = ("qemu-aarch64-static", "-cpu", processor, "-L", "/usr/aarch64-linux-gnu")
    text = command(*emulator, program, f"--gtest_output=xml:{report}")
    assert "[  PASSED  ] 2 tests" in text
    (chosen,) = ElementTree.parse(report).iterfind(".//property[@name='arm_dots']")
    assert chosen.get("value") == arm_dots
