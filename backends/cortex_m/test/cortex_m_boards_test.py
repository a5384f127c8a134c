# SPDX-License-Identifier: BSD-3-Clause
"""Drawn calls and four tiny networks on emulated Cortex-M3, M33 and M55: the same bits, without heap."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from torch import Tensor

from executorch.backends.cortex_m.ops.operators import LIBRARY
from executorch.backends.cortex_m.passes.edge_config import edge_config
from executorch.backends.cortex_m.test.drawn import FAMILIES, Bytes, Draw, filled, program
from executorch.backends.cortex_m.test.lowered import lowered, quantized
from executorch.codegen.memory_bound import memory_bounds
from executorch.examples.models.mlperf_tiny import (
    DSCNNKWS,
    DeepAutoEncoder,
    MobileNetV1025,
    ResNet8,
)
from executorch.exir import to_edge
from executorch.test.boards.pico2_test import BOARDS, ROOT, emulate, firmware, flash_and_ram

pytestmark = pytest.mark.full
TESTS = ROOT / "backends" / "cortex_m" / "test"
NETWORKS = {
    "anomaly detector": (DeepAutoEncoder, (1, 640)),
    "keyword spotter": (DSCNNKWS, (1, 1, 49, 10)),
    "image classifier": (ResNet8, (1, 3, 32, 32)),
    "person detector": (MobileNetV1025, (1, 3, 96, 96)),
}
STACK = 16384
OBJECTS = (
    4096  # of the interpreter, the registry of kernels, and 1,024 for kernels that ask for memory
)


@dataclass(frozen=True)
class Row:
    """Instructions of a run; bytes of the firmware, of them those of the model's file; and those of its memory, of them
    the bound that is printed at export."""

    count: int
    flash: int
    file: int
    ram: int
    arenas: int

    def __str__(self) -> str:
        numbers = (self.count, self.flash, self.file, self.ram, self.arenas)
        return " | ".join(f"{each:,}" for each in numbers)


def hash_of(tensor: Tensor) -> int:
    """FNV-1a over the bytes as they lie in memory."""
    is_image = tensor.dim() == 4 and not tensor.is_contiguous()
    stored = tensor.permute(0, 2, 3, 1) if is_image else tensor
    found = 2166136261
    for byte in stored.contiguous().reshape(-1).view(torch.uint8).tolist():
        found = ((found ^ byte) * 16777619) & 0xFFFFFFFF
    return found


def run(
    model: Path, board: str, kind: str, main: str, *options: str
) -> tuple[list[int], int, Path]:
    """Hashes of the outputs, instructions, and the program. Programs of a kind have one build."""
    words = [f"--main={TESTS / main}.cpp", *options]
    elf = firmware(model, board, *words, name=f"-cortex-m-{kind}-{main}")
    code, text = emulate(elf, board, "-icount", "shift=0")
    assert code == 0, text[-1000:]
    *lines, last = text.split("\n")[:-1]
    return [int(line) for line in lines], int(last.removeprefix("instructions ")), elf


@pytest.mark.req("ARM-037")
@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_processors_give_what_the_formulas_give(family: str, board: str, tmp_path: Path) -> None:
    made, given, expected = program(FAMILIES[family](Draw()))
    made.save(str(tmp_path / "cases.pte"))
    names = ",".join(
        f"cortex_m::{name}.out" for name in LIBRARY.names()
    )  # compiled once for all families
    (are_floats,) = {each.is_floating_point() for each in given}
    options = [f"--operators={names}", "-DMETHOD_POOL_BYTES=196608"]
    main = "network" if are_floats else "cases"  # what fills inputs with floats, or with bytes
    found, _, _ = run(tmp_path / "cases.pte", board, "calls", main, *options)
    assert found == [hash_of(each) for each in expected]


def network_files(name: str, folder: Path) -> tuple[Tensor, float]:
    """backend.pte and portable.pte of one int8 network, the latter as it is without the backend: floats between
    quantize and dequantize. What the former computes, and how far the float network is from that, of its largest."""
    kind, sizes = NETWORKS[name]
    torch.manual_seed(0)
    model = kind().eval()
    example = torch.zeros(sizes)
    if len(sizes) == 4:
        model = model.to(memory_format=torch.channels_last)
        example = example.to(memory_format=torch.channels_last)
    x = filled(Bytes(), example)
    captured = torch.export.export(quantized(model, x), (x,))
    to_edge(captured).to_executorch().save(str(folder / "portable.pte"))
    edge = lowered(to_edge(captured, compile_config=edge_config()))
    expected = edge.exported_program().module()(x)
    edge.to_executorch().save(str(folder / "backend.pte"))
    return expected, float((expected - model(x)).abs().max() / model(x).abs().max())


def measured(path: Path, board: str, pool: int, *options: str) -> tuple[list[int], Row]:
    """Hashes of the outputs. Whatever memory is not the bound that is printed at export is the stack, the pool that
    holds the method, and the interpreter's few objects."""
    options = (f"-DMETHOD_POOL_BYTES={pool}", *options)
    found, count, elf = run(path, board, path.stem, "network", *options)
    (bound,) = memory_bounds(path)
    flash, ram = flash_and_ram(elf)
    row = Row(count, flash, path.stat().st_size, ram, bound.arena_bytes)
    assert 0 < row.ram - row.arenas - STACK - pool < OBJECTS
    return found, row


@pytest.mark.req("ARM-037", "ARM-039")
@pytest.mark.parametrize("network", NETWORKS)
def test_tiny_networks(network: str, tmp_path: Path) -> None:
    """The dialect's bits on each, in the memory that is printed at export; plain loops take more instructions than the
    DSP extension, and that more than Helium. The same network on portable kernels takes many times as many."""
    expected, apart = network_files(network, tmp_path)
    assert apart < 0.2
    rows = {}
    for board in BOARDS:
        found, rows[board] = measured(tmp_path / "backend.pte", board, 24576)
        assert found == [hash_of(expected)]
        print(f"| {network} | {BOARDS[board][0]} | {rows[board]} |")
    _, portable = measured(tmp_path / "portable.pte", "qemu-m33", 65536, "-DQUANTIZED_KERNELS=ON")
    print(f"| {network}, portable kernels | cortex-m33 | {portable} |")
    assert rows["qemu-m55"].count < rows["qemu"].count < rows["qemu-m3"].count
    assert 4 * rows["qemu"].count < portable.count and 2 * rows["qemu"].arenas < portable.arenas
