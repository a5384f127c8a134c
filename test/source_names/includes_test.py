# SPDX-License-Identifier: BSD-3-Clause
"""What sources may use after one include, since those of users include no more."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMPILER = shutil.which("c++")

RANGES = "int f() { int n = 0; for (auto i : c10::irange(3)) n += i; return n; }"
OVERFLOW = "bool g(size_t* out) { return c10::mul_overflows(size_t(2), size_t(3), out); }"
HOOKS = "auto f = &executorch::runtime::internal::event_tracer_create_event_block;"
NUMBERS = """
using namespace executorch::aten;
Half f(Half x) { return std::exp(x); }
BFloat16 f(BFloat16 x) { return std::abs(x); }
complex<float> f(complex<float> x) { return std::sqrt(x); }
static_assert(c10::is_reduced_floating_point_v<Half>);
OptionalArrayRef<int> list;
exec_aten::optional<string_view> text = nullopt;
SizesType size = 0;
TensorShapeDynamism dynamism = TensorShapeDynamism::STATIC;
"""
KERNELS = """
using namespace executorch::runtime;
auto rank = &tensor_is_rank;
auto name = &toString;
executorch::aten::Tensor* tensor = nullptr;
KernelRuntimeContext* context = nullptr;
"""
CHECKS = 'void f() { EXECUTORCH_TRACK_ALLOCATION(1, 2); ET_LOG(Error, ""); ET_CHECK(true); }'
SIZES = "C10_NODISCARD size_t f() { return executorch::aten::elementSize(executorch::aten::ScalarType::Int); }"

USES = {
    "runtime/core/array_ref.h": RANGES + OVERFLOW,
    "runtime/core/exec_aten/util/tensor_util.h": RANGES + OVERFLOW,
    "runtime/core/exec_aten/util/dim_order_util.h": RANGES,
    "runtime/kernel/thread_parallel_interface.h": RANGES,
    "runtime/core/exec_aten/exec_aten.h": NUMBERS + OVERFLOW,
    "runtime/core/exec_aten/util/scalar_type_util.h": SIZES,
    "runtime/kernel/kernel_runtime_context.h": HOOKS,
    "runtime/kernel/kernel_includes.h": KERNELS,
    "runtime/core/memory_allocator.h": CHECKS,
    "extension/kernel_util/make_boxed_from_unboxed_functor.h": HOOKS,
}


@pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
@pytest.mark.parametrize("header", USES)
def test_one_include_brings(header: str, tmp_path: Path) -> None:
    source = tmp_path / "user.cpp"
    source.write_text(f"#include <executorch/{header}>\n{USES[header]}\n")
    command = [
        str(COMPILER), "-std=c++17", "-fsyntax-only", "-DC10_USING_CUSTOM_GENERATED_MACROS",
        f"-I{ROOT}/src", f"-I{ROOT}/runtime/core/portable_type/c10", str(source),
    ]  # fmt: skip
    compiled = subprocess.run(command, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stderr
