// SPDX-License-Identifier: BSD-3-Clause
// Random numbers: uniform, normal, and dropout. The numbers are not those of PyTorch's generator.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/elementwise.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <tuple>

namespace torch {
namespace executor {
namespace native {

using namespace ::executorch::kernels;
using ::executorch::aten::IntArrayRef;
using ::executorch::aten::Scalar;
using ::executorch::aten::ScalarType;
using ::executorch::aten::Tensor;
using ::executorch::runtime::KernelRuntimeContext;

namespace {

// SplitMix64 (Steele, Lea, Flood 2014): a counter, mixed. One counter for the process, so that
// threads get different numbers and runs are repeatable.
uint64_t next_random() {
  static std::atomic<uint32_t> counter{0};
  constexpr uint64_t kStep = 0x9E3779B97F4A7C15ull;
  uint64_t z = (counter.fetch_add(1, std::memory_order_relaxed) + uint64_t{1}) * kStep;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

// In [0, 1), 24 bits: exact in float.
double uniform() {
  return static_cast<double>(next_random() >> 40) * (1.0 / (1 << 24));
}

// Box and Muller's transform of two uniform numbers.
double normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(6.283185307179586477 * uniform());
}

template <typename Draw>
Tensor& fill_random(const OpCall& call, IntArrayRef size, const Draw& draw, Tensor& out) {
  ET_KERNEL_CHECK_MSG(call.ctx, size.size() <= static_cast<size_t>(Shape::kMaxDims),
                      InvalidArgument, out, "%s: expected at most %d sizes, got %zu", call.op,
                      Shape::kMaxDims, size.size());
  Shape shape;
  for (int64_t value : size) {
    shape.push(value);
  }
  if (!check_floating(call, "out", out) || !resize_output(call, out, shape)) {
    return out;
  }
  const StoreRun store = storer(ComputeType::kDouble, out.scalar_type());
  char* to = static_cast<char*>(out.mutable_data_ptr());
  for (int64_t i = 0; i < out.numel(); ++i) {
    const double value = draw();
    store(&value, 1, to + i * out.element_size());
  }
  return out;
}

}  // namespace

Tensor& rand_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  return fill_random({ctx, "rand.out"}, size, uniform, out);
}

Tensor& randn_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  return fill_random({ctx, "randn.out"}, size, normal, out);
}

std::tuple<Tensor&, Tensor&> native_dropout_out(KernelRuntimeContext& ctx, const Tensor& input,
                                                double p, std::optional<bool> train, Tensor& out0,
                                                Tensor& out1) {
  const OpCall call{ctx, "native_dropout.out"};
  const std::tuple<Tensor&, Tensor&> result{out0, out1};
  ET_KERNEL_CHECK_MSG(ctx, p >= 0 && p <= 1, InvalidArgument, result,
                      "native_dropout.out: expected p in [0, 1], got %g", p);
  if (!check_floating(call, "input", input) ||
      !check_same_dtype(call, "out0", out0, "input", input) ||
      !check_dtype(call, "out1", out1, ScalarType::Bool) ||
      !resize_output(call, out0, Shape(input)) || !resize_output(call, out1, Shape(input))) {
    return result;
  }
  const bool drops = train.value_or(true) && p > 0;
  bool* kept = out1.mutable_data_ptr<bool>();
  for (int64_t i = 0; i < out1.numel(); ++i) {
    kept[i] = !drops || uniform() >= p;
  }
  const double scale = !drops ? 1.0 : p < 1 ? 1.0 / (1.0 - p) : 0.0;
  with_float_compute_type(compute_type_of(input.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const C factor = static_cast<C>(scale);
    map_elements<C, C, uint8_t>(
        [factor](C x, uint8_t keep) { return keep ? x * factor : C(0); }, out0,
        {RangeReader(input, out0, compute_type_v<C>), RangeReader(out1, out0, ComputeType::kBool)});
  });
  return result;
}

}  // namespace native
}  // namespace executor
}  // namespace torch
