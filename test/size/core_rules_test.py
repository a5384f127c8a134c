# SPDX-License-Identifier: BSD-3-Clause
"""What the core is promised to be, compiled anew: without exceptions and RTTI by two compilers, with no forbidden call,
without floating-point arithmetic on a processor that has none, and small."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from executorch.exir import to_edge
from executorch.test.e2e.build_tree import ROOT, binary
from executorch.test.install.commands import command
from executorch.test.size import report, symbols

pytestmark = pytest.mark.full

# Arithmetic of libgcc for processors without a unit for it; comparing and converting as well.
SOFT_FLOAT = re.compile(r"__aeabi_([df](add|sub|rsub|mul|div|cmp\w+|2\w+)|(l|ul|i|ui)2[df])")
# Prim ops compute on doubles by contract; set_input compares a Double input with the one that was planned.
FLOATING = {"scalar_ops.cpp.o"}
COMPARING = ("as_number", "is_close", "Method9set_input")
SMALL = ["-Os", "-ffunction-sections", "-fdata-sections"]
THUMB = ["arm-linux-gnueabihf-g++", "-march=armv7-m", "-mthumb", "-mfloat-abi=soft", "-Wno-psabi"]


class Nothing(torch.nn.Module):
    """A program without calls, inputs and memory."""

    def forward(self) -> int:
        return 3


def core_sources() -> list[tuple[Path, list[str]]]:
    """Each file of the core and prim ops, with the include folders and definitions of the build."""
    entries = json.loads((binary("executor_runner").parent / "compile_commands.json").read_text())
    found = []
    for entry in entries:
        if re.search(r"CMakeFiles/executorch(_core)?\.dir/", entry["command"]):
            words = entry["command"].split()
            keep = [w for w in words if w.startswith(("-I", "-D")) and "LOG_LEVEL" not in w]
            keep += [w for i, w in enumerate(words) if "-isystem" in (w, words[i - 1])]
            found.append((Path(entry["file"]), keep))
    assert len(found) > 25, "the core has more files"
    return found


def compiled(compiler: list[str], folder: Path, without: str = "") -> list[Path]:
    """The core's object files; `without`: a definition of the build that they are compiled without."""
    rules = ["-std=c++17", "-fno-exceptions", "-fno-rtti", *SMALL]

    def one(source: tuple[Path, list[str]]) -> Path:
        path, given = source
        flags = [each for each in given if each != f"-D{without}"]
        out = folder / f"{path.name}.o"
        words = [*compiler, *rules, *flags, "-c", str(path), "-o", str(out)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return out

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, core_sources()))


def hooks_of_tracing(objects: list[Path]) -> set[str]:
    """Not the functions that have a tracer among their parameters."""
    names = subprocess.run(
        ["nm", "-C", *map(str, objects)], capture_output=True, text=True, check=True
    )
    return set(re.findall(r"internal::event_tracer_\w+|EventTracerProfile\w+", names.stdout))


FLAG = "ET_EVENT_TRACER_ENABLED"


@pytest.fixture(scope="module")
def both_ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """The core's objects as built, and without the flag."""
    found = {}
    for without in ("", FLAG):
        found[without] = compiled(["g++"], tmp_path_factory.mktemp("objects"), without)
    return found


def test_a_build_without_tracing_has_nothing_of_it(both_ways: dict[str, list[Path]]) -> None:
    assert hooks_of_tracing(both_ways[""]) and not hooks_of_tracing(both_ways[FLAG])


TRACED = r"""
#include <executorch/devtools/etdump/etdump_flatcc.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>
#include <cstdio>
using namespace executorch;
int main(int, char** arguments) {
  runtime::runtime_init();
  auto loader = extension::FileDataLoader::from(arguments[1]);
  auto program = runtime::Program::load(&loader.get());
  static uint8_t pool[1 << 16];
  runtime::MemoryAllocator allocator(sizeof(pool), pool);
  runtime::HierarchicalAllocator planned({});
  runtime::MemoryManager memory(&allocator, &planned);
  etdump::ETDumpGen tracer;
  auto method = program->load_method("forward", &memory, &tracer);
  const int error = static_cast<int>(method->execute());
  const etdump::ETDumpResult result = tracer.get_etdump_data();
  std::printf("%d %d %zu\n", error, result.buf == nullptr, result.size);
}
"""


@pytest.mark.req("DT-015")
def test_a_dump_is_empty_without_the_flag(both_ways: dict[str, list[Path]], tmp_path: Path) -> None:
    """buf == nullptr and size == 0; with the flag the events of the same program."""
    to_edge(torch.export.export(Nothing(), ())).to_executorch().save(str(tmp_path / "nothing.pte"))
    (tmp_path / "main.cpp").write_text(TRACED)
    build = binary("executor_runner").parent
    libraries = [build / "devtools/etdump/libetdump.a"]
    libraries += [build / "extension/data_loader/libextension_data_loader.a"]
    printed = {}
    for without, objects in both_ways.items():
        flags = [each for each in core_sources()[0][1] if each != f"-D{without}"]
        program = tmp_path / f"program{without}"
        words = ["g++", "-std=c++17", *flags, tmp_path / "main.cpp", *objects, *libraries]
        command(*words, "-o", program)
        printed[without] = command(program, tmp_path / "nothing.pte").split()
    assert printed[FLAG] == ["0", "1", "0"]
    assert printed[""][:2] == ["0", "0"] and int(printed[""][2]) > 100


def may_compute(file: str, section: str) -> bool:
    compares = file == "method.cpp.o" and any(name in section for name in COMPARING)
    return file in FLOATING or compares


@pytest.mark.req("RT-045", "EMB-027")
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_the_core_needs_no_exceptions_rtti_heap_or_threads(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    needed = []
    for path in compiled([compiler], tmp_path):
        text = subprocess.run(["nm", "-u", path], check=True, capture_output=True, text=True).stdout
        needed += [(path.name, line.split()[-1]) for line in text.splitlines()]
    assert len(needed) > 100
    assert symbols.offences(needed) == []


@pytest.mark.req("RT-045", "RT-043", "EMB-029")
def test_a_small_arm_core_computes_nothing_in_floating_point_and_is_small(tmp_path: Path) -> None:
    """Thumb code of a Cortex-M3, which has no unit for floating-point numbers."""
    if shutil.which(THUMB[0]) is None:
        pytest.skip(f"{THUMB[0]} is not installed")
    (tmp_path / "gnu").mkdir()
    (tmp_path / "gnu" / "stubs-soft.h").touch()  # the C library's headers are for another ABI
    objects = compiled([*THUMB, "-isystem", str(tmp_path), "-DET_LOG_ENABLED=0"], tmp_path)
    offences, section = [], ""
    for path in objects:
        text = subprocess.run(["readelf", "-rW", path], check=True, capture_output=True, text=True)
        for line in text.stdout.splitlines():
            if line.startswith("Relocation section"):
                section = line.split("'")[1]
            elif (called := SOFT_FLOAT.search(line)) and not may_compute(path.name, section):
                offences.append(f"{path.name} {section}: {called[0]}")
    assert not offences
    sizes = subprocess.run(["size", *objects], check=True, capture_output=True, text=True).stdout
    text_and_data = [int(line.split()[0]) + int(line.split()[1]) for line in sizes.splitlines()[1:]]
    assert sum(text_and_data) < 50_000, sizes


@pytest.mark.req("RT-043")
def test_a_program_grows_by_less_than_50_kb(tmp_path: Path) -> None:
    """The `minsize` preset; report.py has our own limit, which is lower."""
    for words in (
        ["cmake", "--preset", "minsize", "-B", tmp_path / "b"],
        ["cmake", "--build", tmp_path / "b", "--target", "size_test", "size_test_empty"],
        [tmp_path / "b" / "size_test", "test/fuzz/corpus/pte/symbolic.pte"],
    ):
        done = subprocess.run(
            list(map(str, words)), cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    sizes = {
        name: (tmp_path / "b" / name).stat().st_size for name in ("size_test", "size_test_empty")
    }
    assert 10_000 < sizes["size_test"] - sizes["size_test_empty"] < min(50_000, report.LIMIT + 1)
