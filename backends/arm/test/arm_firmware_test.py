# SPDX-License-Identifier: BSD-3-Clause
"""The runner of examples/arm on an emulated Cortex-M55: without an NPU, with the stub of its driver, with files of the
host."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from executorch.backends.arm.arm_vela import VELA
from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
from executorch.backends.arm.ethosu.payload import Port, read
from executorch.backends.arm.quantizer import EthosUQuantizer
from executorch.backends.arm.scripts import aot_arm_compiler
from executorch.backends.arm.test.arm_reference import (
    delegates,
    first_delegate,
    lowered,
    needs_model,
    quantized,
    run,
)
from executorch.devtools import Inspector
from executorch.test.repository.sources import ROOT

pytestmark = [
    pytest.mark.full,
    needs_model,
    pytest.mark.skipif(bool(VELA.why_missing()), reason=VELA.why_missing()),
]
RUNNER = ROOT / "examples" / "arm" / "executor_runner"
SCRIPTS = ROOT / "backends" / "arm" / "scripts"
STUB = ROOT / "backends" / "arm" / "runtime" / "stub_driver.cpp"


def built(name: str, configure: Sequence[str], target: str) -> Path:
    """Into a folder of the tree that stays, so that the runtime is compiled once."""
    build = ROOT / "build" / name
    build.parent.mkdir(exist_ok=True)
    configure = ["cmake", *configure, "-B", str(build), f"-DPYTHON_EXECUTABLE={sys.executable}"]
    with build.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        for words in (configure, ["cmake", "--build", str(build), "--target", target]):
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return build


def firmware(name: str, *options: str) -> Path:
    toolchain = ROOT / "examples" / "arm" / "ethos-u-setup" / "arm-none-eabi-gcc.cmake"
    configure = ["-G", "Ninja", "-S", str(RUNNER), f"-DCMAKE_TOOLCHAIN_FILE={toolchain}", *options]
    return built(f"arm-runner-{name}", configure, RUN) / RUN


RUN = "arm_executor_runner"


def emulate(elf: Path, *words: str, folder: Path | None = None) -> tuple[int, str]:
    """Exit code and text of semihosting."""
    arguments = "".join(f",arg={each}" for each in (RUN, *words))
    command = ["qemu-system-arm", "-M", "mps3-an547", "-nographic", "-kernel", str(elf)]
    command += ["-semihosting-config", f"enable=on,target=native{arguments}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def outputs(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"Output\[0\]\[\d+\]: \(float\) (\S+)", text)]


@pytest.mark.req("ARM-019")
def test_the_preset_is_installed() -> None:
    """The libraries that firmware links, with the delegate."""
    prefix = ROOT / "build" / "arm-baremetal" / "installed"
    words = ["-DCMAKE_BUILD_TYPE=Release", "--preset", "arm-baremetal", "-S", str(ROOT)]
    built("arm-baremetal", [*words, f"-DCMAKE_INSTALL_PREFIX={prefix}"], "install")
    found = {each.name for each in (prefix / "lib").iterdir()}
    names = "core delegate_ethos_u".split()
    assert {"libexecutorch.a", *(f"libexecutorch_{each}.a" for each in names)} <= found
    assert "libportable_ops_lib.a" in found


@pytest.mark.req("ARM-020", "ARM-026", "ARM-027")
def test_a_program_without_delegates(tmp_path: Path) -> None:
    """Four zeros in two rows: 0.5 each. What memory it took is said."""
    path = tmp_path / "softmax.pte"
    assert aot_arm_compiler.main(["-m", "softmax", "-o", str(path)]) == 0
    code, text = emulate(firmware("cpu", f"-DET_PTE_FILE_PATH={path}"))
    assert code == 0 and outputs(text) == [0.5] * 4
    for line in ("Method 'forward' loaded.", "1 inferences finished", "Model run: 1"):
        assert line in text
    assert re.search(r"method_allocator_used: \d+ / 62914560 free: \d+ \( used: 0 % \)", text)
    assert f"PTE Model data loaded. Size: {path.stat().st_size} bytes." in text
    assert text.rstrip("\n").endswith("Program complete, exiting.\n\x04")


def test_files_of_the_host(tmp_path: Path) -> None:
    path = tmp_path / "softmax.pte"
    assert aot_arm_compiler.main(["-m", "softmax", "-o", str(path)]) == 0
    x = torch.tensor([[0.0, 1.0], [2.0, -2.0]])
    (tmp_path / "x.bin").write_bytes(x.numpy().tobytes())
    elf = firmware("semihosting", "-DSEMIHOSTING=ON")
    words = ["-m", "softmax.pte", "-i", "x.bin", "-o", "out"]
    code, text = emulate(elf, *words, folder=tmp_path)
    assert code == 0, text
    found = torch.frombuffer(bytearray((tmp_path / "out-0.bin").read_bytes()), dtype=torch.float32)
    torch.testing.assert_close(found.view(2, 2), torch.softmax(x, -1))
    code, text = emulate(elf, "-m", "absent.pte", folder=tmp_path)
    assert code == 1 and "absent.pte: cannot be opened" in text


@pytest.mark.req("ARM-028")
def test_a_model_that_is_too_large_ends_with_an_error(tmp_path: Path) -> None:
    path = tmp_path / "softmax.pte"
    assert aot_arm_compiler.main(["-m", "softmax", "-o", str(path)]) == 0
    size = "-DET_ARM_BAREMETAL_METHOD_ALLOCATOR_POOL_SIZE"
    code, text = emulate(firmware("small", f"-DET_PTE_FILE_PATH={path}", f"{size}=16"))
    assert code == 1 and "Output" not in text
    assert "planned buffer 0 has 32 bytes, more than the pool has left" in text


class _Network(nn.Module):
    """Ones are what the runner gives."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.conv(x)).mean((2, 3))


def delegated(path: Path) -> tuple[str, torch.Tensor]:
    """Writes a program with a delegate: what the driver is to find and answer, as C++, and what the program gives."""
    torch.manual_seed(0)
    inputs = (torch.ones(1, 3, 8, 8),)
    spec = EthosUCompileSpec("ethos-u55-128")
    module = quantized(_Network().eval(), inputs, quantizer=EthosUQuantizer(spec))
    graph, given = first_delegate(lowered(module, inputs, str(spec.tosa_spec)), inputs)
    edge = lowered(module, inputs, "", EthosUPartitioner(spec))
    with path.open("wb") as file:
        edge.to_executorch().write_to_file(file)
    (delegate,) = delegates(edge)
    payload = read(bytes(delegate.processed_bytes))
    described = _as_arrays("expect", payload.inputs, given)
    described += _as_arrays("answer", payload.outputs, run(graph, given))
    arrays, calls = zip(*described, strict=True)
    header = "#include <executorch/backends/arm/runtime/stub_driver.h>\n"
    body = "\n".join(calls)
    once = f"static const bool is_set_up = [] {{\n{body}\nreturn true;\n}}();\n"
    return "\n".join((header, *arrays, once)), module(*inputs)


def _as_arrays(
    what: str, ports: Sequence[Port], values: list[torch.Tensor]
) -> list[tuple[str, str]]:
    """An array and the call that tells the stub of it, for each port."""
    described = []
    for place, (port, value) in enumerate(zip(ports, values, strict=True)):
        name = f"{what}_{place}"
        numbers = ",".join(map(str, value.contiguous().numpy().tobytes()))
        array = f"static const uint8_t {name}[] = {{{numbers}}};"
        call = f"ethosu_stub_{what}(0, {port.offset}, {name}, sizeof({name}));"
        described.append((array, call))
    return described


def test_a_program_with_a_delegate(tmp_path: Path) -> None:
    """With the stub it gives what the quantized module does; without a driver it says so and ends."""
    path, answers = tmp_path / "delegated.pte", tmp_path / "driver_answers.cpp"
    source, expected = delegated(path)
    answers.write_text(source)
    program = f"-DET_PTE_FILE_PATH={path}"
    code, text = emulate(firmware("stub", program, f"-DET_EXTRA_SOURCES={STUB};{answers}"))
    assert code == 0, text
    found = torch.tensor(outputs(text))
    torch.testing.assert_close(found, expected.flatten(), rtol=0, atol=1e-5)
    code, text = emulate(firmware("cpu", program))
    assert code == 1 and "EthosUBackend: there is no driver" in text


@pytest.mark.req("ARM-024")
def test_a_bundled_program_is_run_on_its_case_and_verified(tmp_path: Path) -> None:
    """Also with an expected output that is wrong: 0.5 four times, told to be 0.75."""
    path = tmp_path / "softmax.bpte"
    assert aot_arm_compiler.main(["-m", "softmax", "--bundleio", "-o", str(path)]) == 0
    wrong = tmp_path / "wrong.bpte"
    bundle = path.read_bytes()
    half, more = (np.float32(each).tobytes() * 4 for each in (0.5, 0.75))
    assert bundle.count(half) == 1
    wrong.write_bytes(bundle.replace(half, more))
    elf = firmware("bundle", "-DSEMIHOSTING=ON", "-DET_BUNDLE_IO=ON")
    for name, ends, verdict in ((path, 0, "PASS"), (wrong, 1, "FAIL")):
        code, text = emulate(elf, "-m", name.name, folder=tmp_path)
        assert code == ends and f"TEST: BundleIO index[0] Test_result: {verdict}" in text, text
    assert "largest difference 0.250000" in text
    plain = tmp_path / "softmax.pte"
    assert aot_arm_compiler.main(["-m", "softmax", "-o", str(plain)]) == 0
    code, text = emulate(elf, "-m", plain.name, folder=tmp_path)
    assert code == 1 and "expected a bundled program" in text
    text = command(SCRIPTS / "run_fvp.sh", f"--elf={elf}", "--emulator=qemu", f"--bundle={path}")
    assert "Test_result: PASS" in text


@pytest.mark.req("ARM-024", "ARM-C04", "BLD-057")
def test_events_and_values_of_a_run(tmp_path: Path) -> None:
    """By the script, with the program in the firmware: what was recorded stands in the text, and the Inspector reads
    it."""
    words = [
        "--model_name=softmax",
        "--target=cortex-m55",
        "--no_delegate",
        "--no_quantize",
        "--emulator=qemu",
    ]
    words += ["--bundleio", "--etdump", f"--scratch-dir={tmp_path}"]
    words += [
        f"--et_build_root={ROOT / 'build' / 'arm-runner-events'}",
        "--extra_build_flags=-DET_DUMP_OUTPUTS=ON -DEXECUTORCH_BUILD_ARM_ETDUMP=ON",
    ]
    text = command(ROOT / "examples" / "arm" / "run.sh", *words, folder=tmp_path)
    assert "Test_result: PASS" in text
    assert "native_call__softmax.out" in text
    record = tmp_path / "softmax_arm_cortex-m55_etrecord.bin"
    values = tmp_path / "debug_buffer.bin"
    dump = str(tmp_path / "etdump.bin")
    inspector = Inspector(etdump_path=dump, etrecord=str(record), debug_buffer_path=str(values))
    events = [event.name for block in inspector.event_blocks for event in block.events]
    assert {"Method::init", "Method::execute", "OPERATOR_CALL"} <= set(events)
    assert values.read_bytes()[:16] == np.full(4, 0.5, np.float32).tobytes()


def command(*words: str | Path, folder: Path | None = None) -> str:
    environment = {**os.environ, "PYTHON_EXECUTABLE": sys.executable}
    done = subprocess.run(
        [*map(str, words)], capture_output=True, text=True, cwd=folder, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr
