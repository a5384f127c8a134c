# SPDX-License-Identifier: BSD-3-Clause
"""The table of frameworks and what is made of it: the package, the plan of a build, the scripts."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from executorch.test.e2e.build_tree import build_folder
from executorch.test.repository.sources import ROOT
from executorch.tools.apple import package, plan
from executorch.tools.apple.__main__ import main
from executorch.tools.apple.frameworks import AVAILABLE, FRAMEWORKS, PLATFORMS, Framework, named

# What the documents and the released package have: system frameworks and libraries, and other frameworks.
DOCUMENTED = {
    "executorch": ({"c++"}, set()),
    "executorch_llm": (set(), {"executorch"}),
    "backend_coreml": ({"Accelerate", "CoreML", "sqlite3"}, set()),
    "backend_mps": ({"Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph"}, set()),
    "backend_xnnpack": (set(), {"threadpool"}),
    "kernels_llm": (set(), set()),
    "kernels_optimized": ({"Accelerate"}, {"threadpool"}),
    "kernels_quantized": (set(), set()),
    "kernels_torchao": (set(), {"threadpool"}),
}
# CMake targets that a library's name is the first argument of.
_MAKERS = r"et_library|et_backend|et_third_party|add_library|gen_operators_lib\(LIB_NAME|et_third_party_library"


def cmake_text() -> str:
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "*CMakeLists.txt", "*.cmake"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return "\n".join((ROOT / name).read_text() for name in listed.stdout.splitlines())


# Symbols of the C interface: the file of extension/c that defines each.
_OF_C = {"executorch_get_api": "api.cpp", "executorch_link_text": "parts/text.cpp"}


def problems(framework: Framework) -> list[str]:
    """Of a row that an app could not link: the symbol is what a library of it registers itself by."""
    allowed = set(_OF_C)
    for library in framework.libraries:
        register = f"register_{library}"
        allowed |= {f"_ZN10executorch7kernels{len(register)}{register}Ev", f"executorch_{library}"}
    if framework.is_product and framework.symbol not in allowed:
        return [f"{framework.name}: '{framework.symbol}' is no symbol of a library of it"]
    return []


def test_the_documented_frameworks_with_what_they_link() -> None:
    products = {each.name: each for each in FRAMEWORKS if each.is_product}
    assert products.keys() == DOCUMENTED.keys()
    for name, (system, needs) in DOCUMENTED.items():
        row = products[name]
        assert set(row.system_frameworks + row.system_libraries) >= system
        assert set(row.needs) >= needs
    assert [each.name for each in FRAMEWORKS if not each.is_product] == ["threadpool"]


def test_each_framework_has_a_symbol_that_registers_it() -> None:
    assert [each for row in FRAMEWORKS for each in problems(row)] == []
    for symbol, file in _OF_C.items():
        assert f"{symbol}(" in (ROOT / "extension" / "c" / file).read_text()


LINKED = [
    "backend_xnnpack",
    "kernels_llm",
    "kernels_optimized",
    "kernels_quantized",
    "kernels_torchao",
]


@pytest.mark.parametrize("name", LINKED)
def test_the_symbol_alone_brings_static_registration(name: str, tmp_path: Path) -> None:
    """The linker takes the file that has it, which registers when a program starts: no -all_load is needed."""
    row = named(name)
    archives = [p for each in row.libraries for p in build_folder().rglob(f"lib{each}.a")]
    if not archives or shutil.which("ld") is None:
        pytest.skip("needs a build with static libraries")
    linked = tmp_path / "linked.o"
    subprocess.run(["ld", "-r", "-u", row.symbol, "-o", linked, *archives], check=True)
    found = subprocess.run(["nm", linked], capture_output=True, text=True, check=True).stdout
    assert re.search(rf" [BDT] {row.symbol}$", found, re.M)
    assert "_GLOBAL__sub_I" in found


def test_each_function_of_text_yields_to_the_framework_that_has_it() -> None:
    """executorch refuses text by weak functions; executorch_llm has the others."""
    parts = ROOT / "extension" / "c" / "parts"
    declared = re.findall(r"\b(text_\w+)\(", (parts / "text.h").read_text())
    source = (parts / "no_text.cpp").read_text()
    weak = re.findall(r"ET_UNLESS_LINKED\s+ExecuTorchStatus\s+(text_\w+)\(", source)
    assert sorted(weak) == sorted(declared) and len(weak) == 10


@pytest.mark.parametrize(
    "row", [row for row in FRAMEWORKS if row.is_product], ids=lambda row: row.name
)
def test_a_row_without_its_symbol_is_seen(row: Framework) -> None:
    assert problems(replace(row, symbol=""))
    assert problems(replace(row, symbol=row.symbol[:-1]))


def test_each_library_is_a_target_of_cmake_and_of_one_framework() -> None:
    text = cmake_text()
    names = [name for row in FRAMEWORKS if not row.missing for name in row.libraries]
    assert len(names) == len(set(names))
    without = [n for n in names if not re.search(rf"(?:{_MAKERS})[\s(]+{re.escape(n)}\b", text)]
    assert set(without) <= {
        "cpuinfo",
        "executorch_xnnpack",
        "executorch_xnnpack_microkernels",
        "pcre2",
        "pthreadpool",
    }


@pytest.mark.req("APL-033")
def test_the_tree_has_what_the_table_makes() -> None:
    assert main(["package", "--check"]) == 0
    text = (ROOT / "Package.swift").read_text()
    assert text.startswith("// swift-tools-version:5.9\n")
    for row, suffix in package.variants():
        assert f'path: "cmake-out/{row.name}{suffix}.xcframework"' in text


@pytest.mark.req("APL-033")
def test_a_release_needs_the_sum_of_each_archive(tmp_path: Path) -> None:
    for row, suffix in package.variants(AVAILABLE):
        (tmp_path / f"{row.name}{suffix}-1.2.3.zip").write_bytes(b"abc")
    made = tmp_path / "Package.swift"
    words = ["release", "--version", "1.2.3", "--archives", str(tmp_path), "--out", str(made)]
    assert main(words) == 0
    # SHA-256 of "abc", from FIPS 180-2.
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert made.read_text().count(known) == 2 * len(AVAILABLE) and "__" not in made.read_text()
    (tmp_path / "kernels_llm-1.2.3.zip").unlink()
    assert main(words) == 1
    with pytest.raises(ValueError, match="kernels_llm"):
        package.filled("1.2.3", {})


@pytest.mark.req("APL-031")
def test_the_plan_builds_merges_and_zips_each_framework() -> None:
    commands = list(plan.all_commands([], ["Release", "Debug"], "1.2.3"))
    by_tool = {
        tool: [c for c in commands if c[0] == tool] for tool in ("cmake", "libtool", "ditto")
    }
    assert len(by_tool["cmake"]) == 2 * 2 * len(PLATFORMS) + 1  # and one that installs headers
    sums = [c[-1] for c in commands if c[0] == "shasum"]
    assert sums == [c[-1] for c in by_tool["ditto"]]
    assert len(by_tool["libtool"]) == 2 * len(PLATFORMS) * len(AVAILABLE)
    assert len(by_tool["ditto"]) == 2 * len(AVAILABLE)
    assert ("libtool", "-static", "-o", "cmake-out/macos/Debug/libkernels_quantized_debug_macos.a",
            "cmake-out/macos/Debug/lib/libquantized_kernels.a",
            "cmake-out/macos/Debug/lib/libquantized_ops_lib.a") in commands  # fmt: skip
    (created,) = [
        c for c in commands if c[0] == "xcodebuild" and c[-1].endswith("/executorch.xcframework")
    ]
    assert created.count("-library") == created.count("-headers") == 3


def test_headers_have_maps_and_what_these_name(tmp_path: Path) -> None:
    (tmp_path / "include" / "executorch" / "runtime").mkdir(parents=True)
    out = tmp_path / "headers"
    assert main(["headers", str(tmp_path / "include"), str(out)]) == 0
    assert (out / "executorch" / "executorch" / "runtime").is_dir()
    maps = list(out.rglob("module.modulemap"))
    assert len(maps) == 2
    for path in maps:
        for header in re.findall(r'header "(.*)"', path.read_text()):
            assert (path.parent / header).is_file()
    for header in out.rglob("ExecuTorch*.h"):
        for name in re.findall(r'#import "(.*)"', header.read_text()):
            assert (header.parent / name).is_file()


def test_flags_choose_frameworks() -> None:
    assert [row.name for row in plan.chosen(["xnnpack"]) if row.option] == ["backend_xnnpack"]
    options = " ".join(next(plan.build_commands(["coreml", "torchao"], ["Release"], "out")))
    assert "-DEXECUTORCH_BUILD_COREML=ON" in options and "-DEXECUTORCH_BUILD_XNNPACK=OFF" in options
    assert "-DEXECUTORCH_BUILD_KERNELS_TORCHAO=ON" in options
    assert plan.option(named("kernels_llm")) == "EXECUTORCH_BUILD_KERNELS_LLM"
    with_needs = [row.name for row in plan.chosen(["llm"]) if row.option]
    assert with_needs == ["kernels_llm", "kernels_optimized"]


@pytest.mark.req("APL-031")
@pytest.mark.parametrize("name", ["build_apple_frameworks.sh", "create_frameworks.sh"])
def test_help_needs_nothing(name: str, tmp_path: Path) -> None:
    """No Python, no git, no checkout."""
    script = tmp_path / name
    script.write_text((ROOT / "scripts" / name).read_text())
    done = subprocess.run(
        ["bash", script, "--help"], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 0 and "--dry-run" in done.stdout


WRONG = {
    ("build", "--fast"): "[error] unknown option: --fast",
    ("build", "--mps"): "backend_mps: the MPS delegate is a later part",
    ("build",): "frameworks need macOS with Xcode",
    ("create", "--fast"): "Invalid argument: --fast",
    ("create", "--directory=/nowhere"): "Both --directory and --framework options are required",
    ("create", "--directory=/nowhere", "--framework=a:b.a"): "Directory /nowhere does not exist",
    ("create", f"--directory={ROOT}", "--framework=a:b.a"): "/lib/b.a does not exist",
}


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_is_wrong_is_said(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(list(words)) == 1
    assert WRONG[words] in capsys.readouterr().err
