# SPDX-License-Identifier: BSD-3-Clause
"""ATen mode (docs/design/061-aten-mode.md): the core's C++ tests once more, and networks on PyTorch's kernels."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import torch

from executorch.examples.models import NETWORKS, make_example
from executorch.test.e2e.build_tree import ROOT, binary
from executorch.test.e2e.cpp_calls import call_in_cpp
from executorch.test.e2e.program_store import ProgramStore
from executorch.test.e2e.programs import assert_same, lower
from executorch.test.install.commands import command

INCLUDES = [ROOT / "src", binary("executor_runner").parent / "generated"]
# Each mode's headers: its own come first.
MODES = {
    "portable": ["-DC10_USING_CUSTOM_GENERATED_MACROS", f"-I{ROOT}/runtime/core/portable_type/c10"],
    "ATen": ["-DUSE_ATEN_LIB", f"-isystem{Path(torch.__file__).parent / 'include'}"],
}
# One source for both; TENSOR is what its mode's tensor is.
SOURCE = """
#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/executor/method.h>
#include <executorch/runtime/kernel/kernel_includes.h>

using executorch::aten::Tensor;
static_assert(std::is_same_v<Tensor, TENSOR>);
static_assert(std::is_same_v<executorch::extension::TensorPtr, std::shared_ptr<TENSOR>>);

Tensor& scale_out(executorch::runtime::KernelRuntimeContext& context, const Tensor& in,
                  const executorch::aten::Scalar& factor, Tensor& out) {
  using executorch::runtime::Error;
  ET_KERNEL_CHECK(context, executorch::runtime::tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(context, executorch::runtime::resize_tensor(out, in.sizes()) == Error::Ok, InvalidArgument, out);
  ET_SWITCH_FLOATHBF16_TYPES(in.scalar_type(), context, "scale.out", T, [&] {
    for (ssize_t i = 0; i < in.numel(); ++i) {
      out.mutable_data_ptr<T>()[i] = in.const_data_ptr<T>()[i] * static_cast<T>(factor.to<double>());
    }
  });
  return out;
}
EXECUTORCH_LIBRARY(user, "scale.out", scale_out);

executorch::extension::TensorPtr input() {
  return executorch::extension::make_tensor_ptr({2, 2}, {1.0f, 2.0f, 3.0f, 4.0f});
}
executorch::runtime::Error run(executorch::runtime::Method& method) {
  return method.set_input(input(), 0);
}
"""


@pytest.mark.req("RT-017", "RT-018", "EXT-016")
@pytest.mark.parametrize("mode", MODES)
def test_one_source_compiles_in_both_modes(mode: str, tmp_path: Path) -> None:
    tensor = {"portable": "executorch::runtime::etensor::Tensor", "ATen": "at::Tensor"}[mode]
    (tmp_path / "user.cpp").write_text(SOURCE)
    words = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wformat=2", "-fsyntax-only"]
    words += [*MODES[mode], *(f"-I{folder}" for folder in INCLUDES), f"-DTENSOR={tensor}"]
    command(*words, tmp_path / "user.cpp")


def test_the_switch_stands_in_two_headers() -> None:
    listed = ["git", "grep", "-lE", r"(ifdef|defined).*USE_ATEN_LIB", "--", "*.h", "*.cpp"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert files.split() == [
        "codegen/macros.h",  # what TORCH_API means in generated code
        "runtime/core/exec_aten/exec_aten.h",
        "runtime/core/exec_aten/util/scalar_type_functions.h",
    ]


@cache
def built() -> Path:
    """The folder of the build that has both modes; only what ATen mode needs is compiled."""
    folder = ROOT / "cmake-out-aten"
    command("cmake", "--preset", "linux", "-B", folder, "-DEXECUTORCH_BUILD_ATEN_MODE=ON")
    command("cmake", "--build", folder, "--target", "aten_mode")
    return folder


@pytest.mark.full
@pytest.mark.req("RT-018", "RT-019", "RT-020", "KS-005", "EXT-016", "EXT-028")
def test_the_tests_of_the_core_pass_in_aten_mode() -> None:
    output = command("ctest", "--test-dir", built(), "--output-on-failure", "-L", "aten")
    count = int(re.search(r"100% tests passed.* out of (\d+)", output).group(1))
    names = re.findall(r"Test +#\d+: (\w+) ", output)
    assert count == len(names) >= 14 and "method_test_aten" in names and "aten_mode_test" in names


@pytest.mark.full
@pytest.mark.req("RT-019", "KS-005", "IX-008")
@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_equals_eager_in_aten_mode(
    name: str, dynamic: bool, program_store: ProgramStore
) -> None:
    program = lower(program_store, name, dynamic)
    found = call_in_cpp(program.path, program.calls, program=built() / "module_calls_aten")
    assert_same(found, program.expected)


@pytest.mark.full
@pytest.mark.req("RT-019")
def test_executor_runner_aten(tmp_path: Path, program_store: ProgramStore) -> None:
    """The program, and that its kernels are PyTorch's alone."""
    program = lower(program_store, "resnet18")
    runner = built() / "executor_runner_aten"
    output = command(runner, f"--model_path={program.path}", f"--output_file={tmp_path / 'out'}")
    assert "tensor(sizes=[1, 1000]" in output
    forward = make_example("resnet18").forward
    with torch.no_grad():
        expected = forward.module(*(torch.ones_like(x) for x in forward.inputs))
    data = bytearray((tmp_path / "out-0.bin").read_bytes())
    found = torch.frombuffer(data, dtype=torch.float32).reshape(expected.shape)
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-5)
    assert "libtorch_cpu" in command("readelf", "-d", runner) + command("ldd", runner)
    names = command("nm", "-C", "--defined-only", runner)
    assert "native::add_out" not in names and "aten_mode::call" in names
