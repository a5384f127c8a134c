# SPDX-License-Identifier: BSD-3-Clause
"""The digits of examples/raspberry_pi/pico2: exported, as an array, and on emulated processors without heap."""

from __future__ import annotations

import fcntl
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from executorch.codegen.c.__main__ import main as write_source
from executorch.runtime import Runtime
from executorch.test.e2e.build_tree import binary
from executorch.test.repository.sources import ROOT

PICO2 = ROOT / "examples" / "raspberry_pi" / "pico2"
LABELS = (0, 1, 4, 7)
# What --board names: the processor, the machine of QEMU that has it, and how floats are computed.
BOARDS = {
    "qemu": ("cortex-m33", "mps2-an505", "-mfloat-abi=hard -mfpu=auto"),
    "qemu-m3": ("cortex-m3", "mps2-an385", "-mfloat-abi=soft"),
    "qemu-m55": ("cortex-m55", "mps3-an547", "-mfloat-abi=hard -mfpu=auto"),
}
MACHINES = {board: machine for board, (_, machine, _) in BOARDS.items()} | {
    "qemu-m33": "mps2-an505"
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `python export_mlp_mnist.py` writes into the current folder."""
    folder = tmp_path_factory.mktemp("pico2")
    words = [sys.executable, str(PICO2 / "export_mlp_mnist.py")]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder / "balanced_tiny_mlp_mnist.pte"


def build(
    model: Path, board: str, *options: str, name: str = ""
) -> subprocess.CompletedProcess[str]:
    """Into a folder of the tree that stays, so that the kernels are compiled once."""
    command = [str(PICO2 / "build_firmware_pico.sh"), f"--model={model}", f"--board={board}"]
    command += [f"--build={ROOT / 'build' / ('firmware-' + board + name)}", *options]
    env = {**os.environ, "PYTHON_EXECUTABLE": sys.executable}
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / f"firmware-{board}{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def firmware(model: Path, board: str, *options: str, name: str = "") -> Path:
    done = build(model, board, *options, name=name)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return ROOT / "build" / f"firmware-{board}{name}" / "executorch_pico.elf"


def emulate(elf: Path, board: str = "qemu", *options: str) -> tuple[int, str]:
    """Exit code and text of semihosting. `options`: of QEMU."""
    command = ["qemu-system-arm", "-M", MACHINES[board], "-nographic", "-kernel", str(elf)]
    command += ["-semihosting-config", "enable=on,target=native", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout + done.stderr


def flash_and_ram(elf: Path) -> tuple[int, int]:
    """Bytes of code, weights and start values; and of variables and stack."""
    words = ["arm-none-eabi-size", str(elf)]
    line = subprocess.run(words, check=True, capture_output=True, text=True).stdout.splitlines()[1]
    text, data, bss = map(int, line.split()[:3])
    return text + data, data + bss


def check_text(text: str) -> None:
    """As documented, with the scores that PyTorch computes."""
    script = runpy.run_path(str(PICO2 / "export_mlp_mnist.py"))
    network, digits = script["BalancedTinyMLP"]().eval(), script["read_digits"]()
    for label, pixels in digits.items():
        part = text.split(f"=== Digit {label} ===\n")[1].split("=== Digit")[0]
        rows = "".join(part.split("\n")[:28])
        assert [float(pixel == "#") for pixel in rows] == pixels.tolist()
        assert f"Input stats: {int(pixels.sum())} white pixels out of 784 total\n" in part
        with torch.no_grad():
            scores = network(pixels[None])[0].tolist()
        found = re.findall(r"Digit (\d): (-?\d+\.\d{3})( ← PREDICTED)?\n", part)
        assert [f"{score:.3f}" for score in scores] == [number for _, number, _ in found]
        assert [int(digit) for digit, _, chosen in found if chosen] == [label]
        assert f"PREDICTED: {label} (Expected: {label}) ✅ CORRECT!\n" in part


@pytest.mark.req("EMB-013")
def test_the_documented_look_at_the_host() -> None:
    """`hash cmake git md5sum`"""
    subprocess.run(["bash", "-c", "hash cmake git md5sum"], check=True)


@pytest.mark.req("EMB-001", "EMB-C02")
def test_the_exported_network_tells_the_digits_apart(model: Path) -> None:
    digits = runpy.run_path(str(PICO2 / "export_mlp_mnist.py"))["read_digits"]()
    assert tuple(digits) == LABELS
    method = Runtime.get().load_program(model).load_method("forward")
    predicted = {label: int(method.execute([x[None]])[0].argmax()) for label, x in digits.items()}
    assert predicted == {label: label for label in LABELS}


@pytest.mark.req("EMB-003", "EMB-024")
def test_a_program_as_an_array(model: Path, tmp_path: Path) -> None:
    """The compiler's array is the file, at an address that programs need."""
    source, main = tmp_path / "model_pte.cpp", tmp_path / "main.cpp"
    script = [sys.executable, str(PICO2 / "pte_to_array.py")]
    subprocess.run([*script, str(model), str(source)], check=True)
    main.write_text(
        "#include <cstdint>\n#include <cstdio>\nextern const uint8_t model_pte[];\n"
        "extern const size_t model_pte_size;\nint main() {\n"
        "  if (reinterpret_cast<uintptr_t>(model_pte) % 16 != 0) return 1;\n"
        "  std::fwrite(model_pte, 1, model_pte_size, stdout);\n}\n"
    )
    subprocess.run(["c++", str(source), str(main), "-o", str(tmp_path / "main")], check=True)
    written = subprocess.run([str(tmp_path / "main")], check=True, capture_output=True).stdout
    assert written == model.read_bytes()
    refused = subprocess.run(
        [*script, str(main), str(source)], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 1 and "expected a program with identifier ET12" in refused.stderr


# What the network's source needs of the repository, so that the test is a matter of seconds.
SOURCES = """examples/raspberry_pi/pico2/{main,hal_qemu,network_source} kernels/portable/{matmul,unary}
    kernels/portable/loops/{checks,convert,element_type,elementwise,strided}
    runtime/platform/{abort,log,platform,runtime} runtime/platform/default/{minimal}
    runtime/core/{memory_allocator} runtime/core/portable_type/{tensor_impl}
    runtime/core/exec_aten/util/{tensor_util_portable}"""
FLAGS = """-mthumb -Os -std=c++17 -ffunction-sections -fdata-sections
    -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-use-cxa-atexit -fno-unwind-tables
    -fno-asynchronous-unwind-tables -Wno-psabi -DC10_USING_CUSTOM_GENERATED_MACROS -DET_LOG_ENABLED=0""".split()


def sources() -> list[Path]:
    found = []
    for words in SOURCES.split():
        folder, names = words.rstrip("}").split("{")
        found += [ROOT / folder / f"{name}.cpp" for name in names.split(",")]
    return found


@pytest.mark.req("EMB-004", "EMB-005", "EMB-025", "RT-047")
@pytest.mark.parametrize(
    "board",
    ["qemu", *(pytest.param(name, marks=pytest.mark.full) for name in BOARDS if name != "qemu")],
)
def test_the_network_as_source_without_heap(board: str, model: Path, tmp_path: Path) -> None:
    """python -m executorch.codegen.c. The heap's function ends the firmware; the linker counts all memory."""
    assert write_source([str(model), "-o", str(tmp_path), "--name=model", "--scratch-bytes=0"]) == 0
    includes = [ROOT / "src", binary("executor_runner").parent / "generated", tmp_path]
    includes.append(ROOT / "runtime/core/portable_type/c10")
    processor, _, floats = BOARDS[board]
    target = [f"-mcpu={processor}", *floats.split()]
    compiler = ["arm-none-eabi-g++", *target, *FLAGS, *(f"-I{folder}" for folder in includes)]

    def compiled(source: Path) -> str:
        words = [*compiler, "-c", str(source), "-o", str(tmp_path / f"{source.stem}.o")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return words[-1]

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, [*sources(), tmp_path / "model.cpp"]))
    elf = tmp_path / "pico.elf"
    link = ["-nostartfiles", "--specs=nano.specs", "-Wl,--gc-sections", f"-L{PICO2}"]
    link.append(f"-Wl,-T,{board}.ld")
    words = [*compiler, *link, *objects, "-o", str(elf)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    started = time.monotonic()
    code, text = emulate(elf, board)
    assert code == 0, text[-1000:]
    check_text(text)
    flash, ram = flash_and_ram(elf)
    seconds = time.monotonic() - started
    print(f"{board}: flash {flash}, RAM {ram}, of it a stack of 16384; {seconds:.1f} s")
    # Weights of 784 x 4 floats in flash; pixels and scores in RAM.
    assert 12544 < flash < 64 * 1024 and 3136 < ram - 16384 < 8 * 1024


@pytest.mark.full
@pytest.mark.req("EMB-004", "EMB-005", "EMB-022", "EMB-025", "EMB-026", "RT-047", "BLD-050")
@pytest.mark.parametrize("board", BOARDS)
def test_the_interpreter_runs_it_without_heap(board: str, model: Path) -> None:
    """The heap's function ends the firmware; all memory is in the sections that the linker counts."""
    elf = firmware(model, board)
    code, text = emulate(elf, board)
    assert code == 0, text[-1000:]
    check_text(text)
    flash, ram = flash_and_ram(elf)
    print(f"flash {flash}, RAM {ram}, of it a stack of 16384")
    assert ram < 64 * 1024 and flash < 160 * 1024


@pytest.mark.full
@pytest.mark.req("EMB-005", "RT-040")
def test_the_interpreter_without_texts_takes_less_flash(model: Path) -> None:
    """EXECUTORCH_STRIP_MESSAGES: the same output; without weights, 0.6 of the flash at most."""
    whole = firmware(model, "qemu")
    stripped = firmware(model, "qemu", "-DEXECUTORCH_STRIP_MESSAGES=ON", name="-stripped")
    code, text = emulate(stripped)
    assert code == 0 and text == emulate(whole)[1]
    flash, ram = flash_and_ram(stripped)
    print(f"without texts: flash {flash}, RAM {ram}, of it a stack of 16384")
    weights = 12544
    assert flash - weights < 0.6 * (flash_and_ram(whole)[0] - weights)


@pytest.mark.full
@pytest.mark.req("EMB-004", "EMB-005", "RT-047")
def test_the_source_runs_it_there_in_less_memory(model: Path) -> None:
    """python -m executorch.codegen.c: the same text; neither interpreter nor verifier nor file."""
    whole, source = (
        firmware(model, "qemu"),
        firmware(model, "qemu", "--no-interpreter", name="-source"),
    )
    code, text = emulate(source)
    assert code == 0 and text == emulate(whole)[1]
    check_text(text)
    names = subprocess.run(
        ["arm-none-eabi-nm", "-C", str(source)], check=True, capture_output=True, text=True
    ).stdout
    assert "Method::" not in names and "flatbuffers" not in names and "linear_out" in names
    print(f"flash, RAM: interpreter {flash_and_ram(whole)}, source {flash_and_ram(source)}")
    assert flash_and_ram(source)[0] < flash_and_ram(whole)[0] * 2 / 3
    assert flash_and_ram(source)[1] < flash_and_ram(whole)[1]


@pytest.mark.full
@pytest.mark.req("EMB-006", "EMB-007", "KS-037")
def test_operators_by_name_and_the_documented_looks_at_the_firmware(model: Path) -> None:
    """--operators=add,mul,relu lacks what the model calls: the firmware says so."""
    elf = firmware(model, "qemu", "--operators=add,mul,relu", name="-operators")
    code, text = emulate(elf)
    assert code == 1 and "Operator missing" in text and "aten::linear.out" in text
    check_looks(elf, model)


def check_looks(elf: Path, model: Path) -> None:
    """The documented lines with their pipes; sections add up to what `size` says, the model's symbol is its file."""

    def look(line: str) -> str:
        words = ["bash", "-c", line.replace("ELF", str(elf))]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    assert int(look("ls -al ELF").split()[4]) == elf.stat().st_size
    sized, listed = look("arm-none-eabi-size -A ELF"), look("arm-none-eabi-objdump -h ELF")
    sections = dict(re.findall(r"^(\.\S+) +(\d+) +\d+$", sized, re.M))
    loaded = dict(re.findall(r"^ +\d+ (\.\S+) +([0-9a-f]{8}) ", listed, re.M))
    assert {".text", ".bss"} <= set(loaded)
    assert all(int(sections[name]) == int(size, 16) for name, size in loaded.items())
    names = "arm-none-eabi-nm --print-size --size-sort --radix=d ELF"
    symbols = look(f"{names} | tail -20").splitlines()
    sizes = [int(line.split()[1]) for line in symbols]
    assert len(sizes) == 20 and sizes == sorted(sizes)
    found = look(f"{names} | grep -i model").splitlines()
    assert model.stat().st_size in [int(line.split()[1]) for line in found]
    variables = look('arm-none-eabi-objdump -t ELF | grep ".bss" | head -10').splitlines()
    assert len(variables) == 10 and all(".bss" in line for line in variables)
    segments = re.findall(r"^ +LOAD .*", look("arm-none-eabi-readelf -l ELF"), re.M)
    flash = sum(int(line.split()[4], 16) for line in segments)
    assert segments and flash >= model.stat().st_size


@pytest.mark.full
@pytest.mark.req("EMB-004")
def test_the_same_firmware_on_this_computer(model: Path) -> None:
    done = subprocess.run(
        [str(firmware(model, "host"))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stdout.endswith("LED: 10 flashes of 500 ms\n")
    check_text(done.stdout)


def test_what_is_missing_is_named(model: Path, tmp_path: Path) -> None:
    script = str(PICO2 / "build_firmware_pico.sh")
    env = {k: v for k, v in os.environ.items() if k != "PICO_SDK_PATH"}
    generator = shutil.which("cmake")
    assert generator

    def output_of(*options: str) -> str:
        words = [script, f"--build={tmp_path / 'b'}", *options]
        done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
        assert done.returncode != 0
        return " ".join(done.stderr.split())

    assert "--model=FILE is missing" in output_of()
    assert "no model none.pte here or in" in output_of("--model=none.pte")
    assert "unknown argument --bord=x" in output_of("--bord=x")
    assert "BOARD=pico2 needs the Pico SDK: set PICO_SDK_PATH" in output_of(f"--model={model}")
    assert "expected pico2, qemu, qemu-m3, qemu-m33, qemu-m55 or host, found 'pico3'" in output_of(
        f"--model={model}", "--board=pico3"
    )
