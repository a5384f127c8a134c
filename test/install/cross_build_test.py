# SPDX-License-Identifier: BSD-3-Clause
"""Cross builds run by qemu-user: the C++ tests of the XNNPACK backend, and networks beside this machine's numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.examples.models import make_example
from executorch.examples.xnnpack.quantization import quantized_method
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import get_lowered_backend_modules
from executorch.test.e2e.build_tree import ROOT, binary
from executorch.test.install.commands import command
from executorch.tools.drawn.processors import EQUAL, MIXED, Processor

pytestmark = pytest.mark.full


@dataclass(frozen=True)
class Machine:
    """The preset linux-<name>, its number in ELF headers, and processors that choose different kernels."""

    name: str
    elf: int
    processors: tuple[Processor, ...]


def _plain(*cpus: str) -> tuple[Processor, ...]:
    return tuple(Processor(cpu, cpu) for cpu in cpus)


# Of the 64-bit Arm ones, the first has NEON alone, the second also dot products and half precision, max everything.
# Phones have cores of one kind or of two, for which libraries choose kernels.
PHONES = (EQUAL, MIXED)
MACHINES = (
    Machine("arm64", 183, (*_plain("cortex-a53", "cortex-a76", "max"), *PHONES)),
    Machine(
        "armv7", 40, (*_plain("cortex-a9", "max"), *(replace(each, cpu="max") for each in PHONES))
    ),
    Machine("riscv64", 243, _plain("rv64")),
)
TESTS = [
    f"xnnpack_{name}_test"
    for name in ("backend", "quantized_values", "sharing", "first_run", "profile", "library")
]
ON_PROCESSORS = pytest.mark.parametrize(
    "machine, processor",
    [
        pytest.param(machine, processor, id=f"{machine.name}-{processor.name}")
        for machine in MACHINES
        for processor in machine.processors
    ],
)


@cache
def built(machine: Machine) -> Path:
    """Folder with the programs of a machine, compiled again only where something changed. Without the kernels, which
    delegated networks do not call."""
    folder = ROOT / f"cmake-out-{machine.name}-delegates"
    without = [f"-DEXECUTORCH_BUILD_{each}=OFF" for each in ("PORTABLE_OPS", "KERNELS_OPTIMIZED")]
    command("cmake", "--preset", f"linux-{machine.name}", "-B", folder, *without)
    command("cmake", "--build", folder, "--target", "executor_runner", *TESTS)
    header = (folder / "executor_runner").read_bytes()[:20]
    assert header[:4] == b"\x7fELF" and int.from_bytes(header[18:20], "little") == machine.elf
    return folder


def emulator(folder: Path, processor: Processor) -> list[str]:
    """What the preset says programs are run with, on this processor."""
    cache = (folder / "CMakeCache.txt").read_text()
    found = re.search(
        r"^CMAKE_CROSSCOMPILING_EMULATOR:\w+=qemu-(.+)-static;-L;(.+)$", cache, re.MULTILINE
    )
    assert found is not None
    return processor.emulator(found[1], Path(found[2]), folder / "roots")


@pytest.mark.req("XQ-011")
@ON_PROCESSORS
@pytest.mark.parametrize("test", TESTS)
def test_the_backend(test: str, machine: Machine, processor: Processor) -> None:
    """Every type of values, dynamic shapes, shared weights, refusals of corrupted payloads, events."""
    folder = built(machine)
    (program,) = folder.rglob(test)
    text = command(*emulator(folder, processor), program, cwd=program.parent)
    assert "[  PASSED  ]" in text, text


# Beside the norm of the outputs. Float sums have another order on each processor, and another rounding where products
# and sums are not fused: about the root of a thousand products times 2^-24 for a layer, 2e-6, of fifty layers that
# partly cancel. Sums of 8-bit products are exact, and all round the rescaled sum to the nearest, ties to even: no bit
# differs.
LIMITS = {"float": 2e-5, "8-bit": 0.0}


@dataclass(frozen=True)
class Network:
    """A delegated program, its input, and what executor_runner of this machine says."""

    path: Path
    input: Path
    expected: np.ndarray


def run_network(words: list[str], path: Path, data: Path, out: Path) -> np.ndarray:
    """`words` and the runner's arguments; the only output."""
    command(
        *words,
        f"--model_path={path}",
        f"--inputs={data}",
        f"--output_file={out}",
        "--print_output=none",
    )
    return np.fromfile(out.with_name(f"{out.name}-0.bin"), dtype=np.float32).astype(np.float64)


@pytest.fixture(scope="module")
def networks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Network]:
    folder, found = tmp_path_factory.mktemp("networks"), {}
    method = make_example("mv2").forward
    data = folder / "input.bin"
    method.inputs[0].numpy().tofile(data)
    for name, each in (("float", method), ("8-bit", quantized_method(method))):
        edge = to_edge_transform_and_lower(each.export(), partitioner=[XnnpackPartitioner()])
        assert len(get_lowered_backend_modules(edge.exported_program().graph_module)) == 1
        path = folder / f"{name}.pte"
        edge.to_executorch().save(str(path))
        native = [str(binary("executor_runner"))]
        found[name] = Network(path, data, run_network(native, path, data, folder / name))
    return found


@pytest.mark.req("XQ-011")
@ON_PROCESSORS
@pytest.mark.parametrize("name, limit", LIMITS.items())
def test_a_network(
    name: str,
    limit: float,
    machine: Machine,
    processor: Processor,
    networks: dict[str, Network],
    tmp_path: Path,
) -> None:
    network = networks[name]
    words = [*emulator(built(machine), processor), str(built(machine) / "executor_runner")]
    ours = run_network(words, network.path, network.input, tmp_path / "out")
    assert ours.shape == network.expected.shape
    error = np.linalg.norm(ours - network.expected) / np.linalg.norm(network.expected)
    assert error <= limit, f"{name} on {processor.name}: {error:.1e} of the norm"
