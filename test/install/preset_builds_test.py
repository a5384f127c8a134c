# SPDX-License-Identifier: BSD-3-Clause
"""Presets that nothing else builds: each is built, and does what it is for."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from executorch.codegen.memory_bound import main as write_memory_bound
from executorch.devtools import Inspector
from executorch.test.boards.pico2_test import FLAGS, PICO2, check_text, emulate
from executorch.test.e2e.build_tree import ROOT
from executorch.test.install import delegated_sums
from executorch.test.install.commands import beside, command

pytestmark = pytest.mark.full


@dataclass(frozen=True)
class Preset:
    """What is built of it, with which options besides, and what is run: a function of the build folder, a delegated
    program and a folder for files."""

    name: str
    targets: tuple[str, ...]
    run: Callable[[Path, Path, Path], None]
    options: tuple[str, ...] = ()


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return delegated_sums.save(tmp_path_factory.mktemp("sums") / "sums.pte")


def checks_and_messages_are_in(build: Path, program: Path, folder: Path) -> None:
    runner = build / "executor_runner"
    assert delegated_sums.SHOWN in command(runner, f"--model_path={program}")
    assert ".debug_info" in command("readelf", "-S", runner)
    assert b"A Result was made from Error::Ok" in runner.read_bytes()  # of level Debug


def the_runtime_passes_its_tests(build: Path, program: Path, folder: Path) -> None:
    words = "--test-dir", build / "runtime", "--output-on-failure", "--no-tests=error"
    output = command("ctest", *words, UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")
    assert int(re.search(r"100% tests passed.* out of (\d+)", output)[1]) >= 17


# Takes every native module from the build, in the place of the tree's.
PYTHON = """
import importlib.util, sys
from pathlib import Path
build, program = map(Path, sys.argv[1:])
class Built:
    def find_spec(self, name, path=None, target=None):
        *folders, file = name.removeprefix("executorch.").split(".")
        found = list(build.joinpath(*folders).glob(f"{file}.*.so"))
        return importlib.util.spec_from_file_location(name, found[0]) if found else None
sys.meta_path.insert(0, Built())
import torch
from executorch.extension.pybindings import _portable_lib
from executorch.runtime import Runtime
assert Path(_portable_lib.__file__).is_relative_to(build), _portable_lib.__file__
(y,) = Runtime.get().load_program(program).load_method("forward").execute([torch.ones(1, 3)])
print(y.tolist())
"""


def python_runs_it(build: Path, program: Path, folder: Path) -> None:
    modules = build / "python"
    assert command(sys.executable, "-c", PYTHON, modules, program) == f"{delegated_sums.OUTPUT}\n"


def events_are_read(build: Path, program: Path, folder: Path) -> None:
    dump = folder / "sums.etdp"
    flags = f"--model_path={program}", f"--etdump_path={dump}", "--num_executions=3"
    assert delegated_sums.SHOWN in command(build / "executor_runner", *flags)
    (block,) = (b for b in Inspector(etdump_path=str(dump)).event_blocks if b.name == "Execute")
    events = {event.name: event for event in block.events}
    assert len(events["native_call_cumsum.out"].perf_data.raw) == 3
    assert any(event.is_delegated_op for event in block.events)


# As a linker of Zephyr: registrations whole, and of the rest what is called.
LINK = """-nostartfiles --specs=nano.specs -Wl,--gc-sections -Wl,-T,qemu.ld -Wl,--whole-archive
    kernels/portable/libportable_ops_lib.a kernels/prim_ops/libexecutorch.a -Wl,--no-whole-archive -Wl,--start-group
    kernels/portable/libportable_kernels.a kernels/portable/libkernels_util_all_deps.a runtime/libexecutorch_core.a
    -Wl,--end-group""".split()
PROCESSOR = "-mcpu=cortex-m33 -mfloat-abi=hard -mfpu=auto".split()
TOOLCHAIN = ROOT / "tools/cmake/toolchains/arm-none-eabi.cmake"


def firmware_reads_digits(build: Path, program: Path, folder: Path) -> None:
    """The digits' network, by the interpreter and with all portable operators, on an emulated Cortex-M33."""
    command(sys.executable, PICO2 / "export_mlp_mnist.py", cwd=folder)
    model = folder / "balanced_tiny_mlp_mnist.pte"
    command(sys.executable, PICO2 / "pte_to_array.py", model, folder / "model_pte.cpp")
    memory = folder / "model_memory.h"
    assert write_memory_bound([str(model), "-o", str(memory), "--name=model"]) == 0
    includes = ROOT / "src", build / "generated", ROOT / "runtime/core/portable_type/c10", folder
    sources = [PICO2 / f"{name}.cpp" for name in ("main", "hal_qemu", "network_interpreter")]
    elf = folder / "digits.elf"
    words = [*PROCESSOR, *FLAGS, "-DMETHOD_POOL_BYTES=4096", *(f"-I{each}" for each in includes)]
    words += [*sources, folder / "model_pte.cpp", f"-L{PICO2}", *LINK, "-o", elf]
    command("arm-none-eabi-g++", *words, cwd=build)
    code, text = emulate(elf)
    assert code == 0, text[-1000:]
    check_text(text)


PRESETS = (
    Preset("debug", ("executor_runner",), checks_and_messages_are_in),
    Preset("ubsan", ("runtime/all",), the_runtime_passes_its_tests),
    # As for a wheel, the modules go into the build folder; this tree keeps its own.
    Preset("pybind", ("python_modules",), python_runs_it, ("-DSKBUILD_STATE=wheel",)),
    Preset("profiling", ("executor_runner",), events_are_read),
    Preset(
        "zephyr",
        ("portable_ops_lib", "executorch"),
        firmware_reads_digits,
        (f"--toolchain={TOOLCHAIN}", "-DTARGET_CPU=cortex-m33"),
    ),
)


@pytest.mark.req("BLD-029")
@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_a_preset_is_built_and_runs(preset: Preset, program: Path, tmp_path: Path) -> None:
    build = beside(preset.name)
    given = f"-DPYTHON_EXECUTABLE={sys.executable}", *preset.options
    command("cmake", "--preset", preset.name, "-B", build, *given)
    command("cmake", "--build", build, "--target", *preset.targets)
    preset.run(build, program, tmp_path)
