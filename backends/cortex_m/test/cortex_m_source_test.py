# SPDX-License-Identifier: BSD-3-Clause
"""int8 networks as firmware of C++ source (`executorch c`): on this computer and on emulated processors they give the
bits that the operators' formulas give in Python. Images have their channels first, as PyTorch makes them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from executorch.backends.cortex_m.passes.edge_config import edge_config
from executorch.backends.cortex_m.test.lowered import lowered, quantized
from executorch.cli import main as cli
from executorch.codegen.c.project_test import built, ctest
from executorch.codegen.c.targets import TARGETS
from executorch.exir import to_edge
from executorch.test.boards.pico2_test import flash_and_ram
from executorch.test.e2e.negation import negation

EXACT = ("--atol=0", "--rtol=0")


class Residual(nn.Module):
    def __init__(self, *layers: nn.Module) -> None:
        super().__init__()
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.layers(x))


def convolutions() -> nn.Module:
    """An ordinary and a depthwise convolution, a pool of either kind, a sum."""
    first = [nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.ReLU()]
    depthwise = [nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU6(), nn.Conv2d(8, 16, 1)]
    last = [nn.MaxPool2d(2), Residual(nn.Conv2d(16, 16, 1)), nn.AdaptiveAvgPool2d(1)]
    return nn.Sequential(*first, *depthwise, *last, nn.Flatten(), nn.Linear(16, 5))


def keywords() -> nn.Module:
    """Of a sound's spectrum, as probabilities."""
    first = [nn.Conv2d(1, 8, (10, 4), stride=2, padding=(5, 1)), nn.ReLU()]
    second = [nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU(), nn.Conv2d(8, 8, 1), nn.ReLU()]
    last = [nn.AvgPool2d((4, 5)), nn.Flatten(), nn.Linear(48, 6), nn.Softmax(-1)]
    return nn.Sequential(*first, *second, *last)


def layers() -> nn.Module:
    """Fully connected, with a sum and a function that is a table."""
    inner = Residual(nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 24))
    return nn.Sequential(nn.Linear(10, 24), nn.ReLU(), inner, nn.Linear(24, 4), nn.Sigmoid())


# The network, the sizes of its input, and the sources of kernels that it needs, those and no others: all of the backend
# but copy, which puts the channels last.
NETWORKS = {
    "convolutions": (
        convolutions,
        (1, 3, 16, 16),
        "conv copy depthwise_conv elementwise matmul pool quantize",
    ),
    "keywords": (
        keywords,
        (1, 1, 49, 10),
        "conv copy depthwise_conv matmul pool quantize softmax",
    ),
    "layers": (layers, (2, 10), "elementwise matmul quantize"),
}


@dataclass(frozen=True)
class Case:
    """Files: a program, an input of it and what it gives by the operators' formulas."""

    program: Path
    given: Path
    expected: Path

    def project(self, folder: Path, target: str) -> Path:
        words = [f"--project={folder}", f"--target={target}", f"--inputs={self.given}"]
        words += [f"--expected={self.expected}", *EXACT]
        assert cli.main(["c", str(self.program), *words]) == cli.DONE
        return folder


def case(name: str, folder: Path) -> Case:
    """Quantized as the documents do it. The formulas' result is within a step of the quantized model's, and near the
    float model's."""
    torch.manual_seed(0)
    make, sizes, _ = NETWORKS[name]
    model, x = make().eval(), torch.randn(sizes)
    stored = quantized(model, x)
    edge = lowered(to_edge(torch.export.export(stored, (x,)), compile_config=edge_config()))
    program = edge.exported_program()
    found, scale = program.module()(x), program.graph.output_node().args[0][0].args[1]
    assert (found - stored(x)).abs().max() / scale < 1.01
    assert (found - model(x)).norm() < 0.1 * model(x).norm()
    made = Case(folder / f"{name}.pte", folder / "in.npz", folder / "out.npz")
    edge.to_executorch().save(str(made.program))
    np.savez(made.given, x.numpy())
    np.savez(made.expected, found.numpy())
    return made


def kernels_in(folder: Path) -> str:
    """Names of the sources, as in NETWORKS."""
    library = folder / "lib" / "executorch"
    sources = [path for part in ("backends", "kernels") for path in (library / part).rglob("*.cpp")]
    return " ".join(sorted(path.stem for path in sources if path.parent.name != "loops"))


def passes(folder: Path) -> str:
    built(folder)
    passed, printed = ctest(folder)
    assert passed and "output 0: differs by at most 0.0e+0\n" in printed, printed
    return printed


@pytest.mark.req("KS-017", "ARM-037")
def test_a_folder_has_the_kernels_that_are_called(tmp_path: Path) -> None:
    folder = case("layers", tmp_path).project(tmp_path / "m55", "cortex-m55")
    assert kernels_in(folder) == NETWORKS["layers"][2]
    listed = (folder / "CMakeLists.txt").read_text()
    assert "  lib/executorch/backends/cortex_m/runtime/matmul.cpp\n" in listed


@pytest.mark.req("KS-017", "ARM-037")
def test_a_folder_gives_the_formulas_bits_on_this_computer(tmp_path: Path) -> None:
    folder = case("convolutions", tmp_path).project(tmp_path / "host", "host")
    assert kernels_in(folder) == NETWORKS["convolutions"][2]
    passes(folder)


FIRMWARE = [("convolutions", "cortex-m55"), ("keywords", "cortex-m55"), ("layers", "cortex-m55")]
FIRMWARE += [("convolutions", "cortex-m33"), ("keywords", "cortex-m0plus"), ("layers", "cortex-m4")]


@pytest.mark.req("KS-017", "ARM-037", "EMB-025")
@pytest.mark.parametrize(
    ("name", "target"),
    [
        pytest.param(*each, marks=pytest.mark.full if each != FIRMWARE[0] else [])
        for each in FIRMWARE
    ],
)
def test_firmware_gives_the_formulas_bits(name: str, target: str, tmp_path: Path) -> None:
    """With Helium, with the DSP extension, and with neither where unaligned addresses fault."""
    for program in (f"{TARGETS[target].tools}g++", TARGETS[target].emulator.split()[0]):
        if not shutil.which(program):
            pytest.skip(f"needs {program}")
    folder = case(name, tmp_path).project(tmp_path / target, target)
    assert kernels_in(folder) == NETWORKS[name][2]
    printed = passes(folder)
    elf = folder / "build" / "firmware.elf"
    flash, ram = flash_and_ram(elf)
    header = (folder / "model" / f"{name}.h").read_text()
    sizes = dict(re.findall(rf"#define {name.upper()}_(\w+) (\d+)", header))
    stack = re.search(r"stack: (\d+) bytes were used\n", printed)[1]
    row = (flash, int(sizes["WEIGHT_BYTES"]), ram, int(sizes["ARENA_BYTES"]), int(stack))
    print(f"| {name} | {target} | {' | '.join(f'{each:,}' for each in row)} |")
    words = ["arm-none-eabi-nm", "-C", str(elf)]
    names = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    assert "cortex_m::native::quantized_linear_out" in names and "malloc" not in names
    assert "torch::executor::native::convolution_out" not in names and "Method::" not in names


def test_an_operator_without_a_kernel_is_named_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Amid those of int8, with the next step."""

    class Amid(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 2)

        def forward(self, x: Tensor) -> Tensor:
            return self.second(torch.ops.cortex_m_source_test.f(self.first(x)))

    x = torch.ones(1, 4)
    reason = "cortex_m_source_test.f.default: the backend has no such"
    with negation("cortex_m_source_test"):
        captured = torch.export.export(quantized(Amid().eval(), x), (x,))
        with pytest.warns(UserWarning, match=reason):
            edge = lowered(to_edge(captured, compile_config=edge_config()))
        edge.to_executorch().save(str(tmp_path / "net.pte"))
    words = ["c", str(tmp_path / "net.pte"), f"--project={tmp_path / 'p'}"]
    assert cli.main(words) == cli.FAILED and not (tmp_path / "p").exists()
    output = capsys.readouterr().err
    assert "no kernel serves cortex_m_source_test::f.out: give their table with" in output
    assert "or `executorch export` the model with --backend none, or in int8 " in output
    assert "cortex_m::" not in output
