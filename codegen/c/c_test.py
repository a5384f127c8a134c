# SPDX-License-Identifier: BSD-3-Clause
"""Programs as C++ source: the numbers are those of the interpreter, bit by bit, on the same kernels."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from torch import nn

from executorch.backends.xnnpack import XnnpackPartitioner
from executorch.codegen.c.__main__ import main
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from executorch.exir.passes import MemoryPlanningPass
from executorch.test.e2e.build_tree import ROOT, binary
from executorch.test.e2e.negation import negation

COMPILER = shutil.which("c++")
# Runs the source and the interpreter three times each on the same bytes, and compares the bytes of the outputs.
MAIN = """
#include <cstdio>
#include <cstring>
#include <vector>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include "net.h"
using namespace executorch::extension;

int main(int, char** argv) {
  Module module(argv[1]);
  const auto meta = module.method_meta("forward");
  net_init();
  for (int run = 0; run < 3; ++run) {
    std::vector<std::vector<uint8_t>> bytes(NET_INPUTS);
    std::vector<TensorPtr> tensors;
    std::vector<executorch::runtime::EValue> inputs;
    for (size_t i = 0; i < NET_INPUTS; ++i) {
      const auto info = meta->input_tensor_meta(i);
      bytes[i].resize(info->nbytes());
      const auto type = info->scalar_type();
      for (size_t k = 0; k < info->nbytes() / executorch::runtime::elementSize(type); ++k) {
        const int number = static_cast<int>((k * 7 + run * 3 + i) % 11);
        if (type == executorch::aten::ScalarType::Long) {
          reinterpret_cast<int64_t*>(bytes[i].data())[k] = number % 5;
        } else {
          reinterpret_cast<float*>(bytes[i].data())[k] = number / 4.0f - 1;
        }
      }
      std::vector<executorch::aten::SizesType> sizes(info->sizes().begin(), info->sizes().end());
      tensors.push_back(make_tensor_ptr(sizes, bytes[i].data(), type));
      inputs.emplace_back(tensors.back());
    }
    const auto outputs = module.forward(inputs);
    if (!outputs.ok()) return 3;
    for (size_t i = 0; i < NET_INPUTS; ++i) std::memcpy(net_input(i), bytes[i].data(), bytes[i].size());
    if (const int error = net_run()) {
      std::printf("error %d\\n", error);
      return 4;
    }
    for (size_t i = 0; i < NET_OUTPUTS; ++i) {
      const auto& output = outputs->at(i).toTensor();
      if (std::memcmp(output.const_data_ptr(), net_output(i), output.nbytes()) != 0) {
        std::printf("output %zu differs in run %d\\n", i, run);
        return 5;
      }
      std::printf("%a ", output.const_data_ptr<float>()[0]);
    }
  }
  std::printf("equal\\n");
}
"""


class Digits(nn.Module):
    """Convolution, pooling and views: what a network for digits has."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.out = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(4 * 7 * 7, 10)
        self.norm = nn.BatchNorm2d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        return torch.softmax(self.out(x.reshape(x.shape[0], -1)), -1)


class Mixed(nn.Module):
    """Lists of tensors, an index, scalars of all kinds, several inputs and outputs, an embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, 3)

    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        rows = torch.cat([self.table(ids), x, x.clamp(-0.5, 0.25)])
        low, high = torch.split(rows, [3, rows.shape[0] - 3])
        return torch.add(low.sum(0), 1, alpha=2.5), high[:, ids % 3].mean(-1, keepdim=True)


class Counter(nn.Module):
    """State that begins at a number and lives from run to run."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.tensor([5.0, -1.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total * 2


def program(model: nn.Module, inputs: tuple[torch.Tensor, ...], path: Path, **options) -> Path:
    torch.manual_seed(0)
    lowered = to_edge(torch.export.export(model.eval(), inputs, **options))
    lowered.to_executorch().save(str(path))
    return path


CASES = {
    "digits": lambda: (Digits(), (torch.ones(1, 1, 14, 14),)),
    "mixed": lambda: (Mixed(), (torch.ones(4, 3), torch.ones(2, dtype=torch.long))),
    "counter": lambda: (Counter(), (torch.ones(2),)),
}


@pytest.fixture(scope="module")
def libraries() -> list[str]:
    """Archives of the build: the interpreter with portable kernels, and what the source needs."""
    build = binary("executor_runner").parent
    whole = ["-Wl,--whole-archive", str(build / "kernels/portable/libportable_ops_lib.a")]
    whole += [str(next(build.rglob("libexecutorch.a"))), "-Wl,--no-whole-archive"]
    names = """extension_module_static extension_tensor extension_flat_tensor extension_data_loader
        extension_named_data_map extension_memory_allocator portable_kernels kernels_util_all_deps
        extension_threadpool executorch_core pthreadpool cpuinfo""".split()
    rest = [str(next(build.rglob(f"lib{name}.a"))) for name in names]
    return [*whole, "-Wl,--start-group", *rest, "-Wl,--end-group", "-pthread", "-ldl"]


def includes() -> list[str]:
    build = binary("executor_runner").parent
    folders = (ROOT / "src", build / "generated", ROOT / "runtime/core/portable_type/c10")
    return ["-std=c++17", "-DC10_USING_CUSTOM_GENERATED_MACROS", *(f"-I{f}" for f in folders)]


def run(*words: object) -> str:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.req("KS-017")
@pytest.mark.parametrize("case", CASES)
def test_the_numbers_of_the_interpreter(case: str, libraries: list[str], tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, inputs = CASES[case]()
    path = program(model, inputs, tmp_path / "model.pte")
    assert main([str(path), "-o", str(tmp_path), "--name", "net"]) == 0
    (tmp_path / "main.cpp").write_text(MAIN)
    own = ["-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra", "-Werror"]
    run(COMPILER, *includes(), *own, "-c", tmp_path / "net.cpp", "-o", tmp_path / "net.o")
    objects = [tmp_path / "net.o", "-I", tmp_path, tmp_path / "main.cpp"]
    run(COMPILER, *includes(), *objects, *libraries, "-o", tmp_path / "main")
    printed = run(tmp_path / "main", path)
    assert printed.endswith("equal\n")
    if case == "counter":  # the first input begins with -1, -0.25 and 0.5
        first = [float.fromhex(word) for word in printed.split()[:3]]
        assert first == [2 * (5 - 1), 2 * (5 - 1 - 0.25), 2 * (5 - 1 - 0.25 + 0.5)]


def test_the_header_tells_what_memory_there_is(tmp_path: Path) -> None:
    """It is C, and its numbers are the planner's: one input of 14 x 14 floats, 10 outputs."""
    path = program(Digits(), (torch.ones(1, 1, 14, 14),), tmp_path / "my-digits.pte")
    assert main([str(path), "-o", str(tmp_path)]) == 0
    header = (tmp_path / "my_digits.h").read_text()
    numbers = dict(re.findall(r"#define MY_DIGITS_(\w+) (\d+)", header))
    assert numbers["INPUT_0_BYTES"] == str(14 * 14 * 4) and numbers["OUTPUT_0_BYTES"] == "40"
    # Weights: 4x1x3x3, bias, ones and zeros of the norm, each once, and the linear layer; each at a multiple of 16.
    at_least = 4 * (36 + 4 + 8 + 1960 + 10)
    assert at_least <= int(numbers["WEIGHT_BYTES"]) <= at_least + 8 * 16
    assert int(numbers["ARENA_BYTES"]) >= 14 * 14 * 4 * 5
    (tmp_path / "user.c").write_text(
        '#include "my_digits.h"\nint f(void) { return my_digits_run(); }\n'
    )
    run(
        "cc",
        "-std=c99",
        "-Wall",
        "-Werror",
        "-I",
        tmp_path,
        "-c",
        tmp_path / "user.c",
        "-o",
        tmp_path / "o",
    )


def test_nothing_of_the_interpreter_is_called(tmp_path: Path) -> None:
    path = program(Digits(), (torch.ones(1, 1, 14, 14),), tmp_path / "net.pte")
    assert main([str(path), "-o", str(tmp_path)]) == 0
    run(COMPILER, *includes(), "-O2", "-c", tmp_path / "net.cpp", "-o", tmp_path / "net.o")
    wanted = [line.split()[-1] for line in run("nm", "-Cu", tmp_path / "net.o").splitlines()]
    text = run("nm", "-Cu", tmp_path / "net.o")
    assert "torch::executor::native::linear_out" in text and len(wanted) < 30
    for word in ("Method", "Program", "flatbuffers", "operator new(", "malloc", "EValue"):
        assert word not in text, word


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))


def refused(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main([str(path), "-o", str(path.parent / "out"), *options]) == 1
    assert not (path.parent / "out").exists()
    return capsys.readouterr().err


def test_what_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = torch.export.Dim("size", min=1, max=4)
    varying = program(
        nn.ReLU(), (torch.ones(3, 2),), tmp_path / "a.pte", dynamic_shapes=({0: size},)
    )
    assert "a tensor of dynamic size, at most [4, 2]: export with fixed sizes" in refused(
        varying, capsys
    )
    branch = program(Branch(), (torch.ones(2),), tmp_path / "b.pte")
    message = refused(branch, capsys)
    assert "control flow (JumpFalseCall, MoveCall): export the branches as methods" in message
    assert "expected a method other, found forward" in refused(branch, capsys, "--method", "other")
    exported = torch.export.export(nn.Linear(2, 2).eval(), (torch.ones(1, 2),))
    delegated = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    delegated.to_executorch().save(str(tmp_path / "d.pte"))
    message = refused(tmp_path / "d.pte", capsys)
    assert (
        "a delegate of XnnpackBackend: `executorch export` it with --backend none, or " in message
    )
    (tmp_path / "c.pte").write_bytes(b"no program at all, only text in a file of its name")
    assert "expected a program with identifier ET12" in refused(tmp_path / "c.pte", capsys)


def test_an_operator_without_a_kernel_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Calls(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.ops.c_test.f(x)

    with negation("c_test"):
        path = program(Calls(), (torch.ones(2),), tmp_path / "a.pte")
    message = refused(path, capsys)
    assert "no kernel serves c_test::f.out: give their table with --custom-ops-yaml-path" in message
    table = tmp_path / "ops.yaml"
    table.write_text(
        "- func: c_test::f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  kernels:\n    - arg_meta: null\n      kernel_name: my::f_out\n"
    )
    options = ["--custom-ops-yaml-path", str(table), "-o", str(tmp_path), "--name", "net"]
    assert main([str(path), *options]) == 0
    assert "::my::native::f_out(context, t(0), t(1))" in (tmp_path / "net.cpp").read_text()


def test_inputs_and_outputs_without_a_planned_place_get_memory(tmp_path: Path) -> None:
    planning = MemoryPlanningPass(alloc_graph_input=False, alloc_graph_output=False)
    lowered = to_edge(torch.export.export(nn.ReLU(), (torch.ones(5),)))
    config = ExecutorchBackendConfig(memory_planning_pass=planning)
    lowered.to_executorch(config).save(str(tmp_path / "net.pte"))
    assert main([str(tmp_path / "net.pte"), "-o", str(tmp_path)]) == 0
    source = (tmp_path / "net.cpp").read_text()
    assert (
        source.count("[20];") == 2
        and "#define NET_ARENA_BYTES 64 " in (tmp_path / "net.h").read_text()
    )
