// SPDX-License-Identifier: BSD-3-Clause
// Random numbers: uniform, normal, and dropout. The numbers are not those of PyTorch's generator.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/convert.h>
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/kernels/portable/random.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <tuple>

namespace executorch {
namespace kernels {

uint64_t reserve_draws(uint64_t count) {
  static std::atomic<uint32_t> next{0};  // 32 bits: what small processors have
  return next.fetch_add(static_cast<uint32_t>(count), std::memory_order_relaxed);
}

}  // namespace kernels
}  // namespace executorch

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// Box and Muller's transform of two uniform numbers.
void make_normal(double* pair) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - pair[0]));
  const double angle = 6.283185307179586477 * pair[1];
  pair[0] = radius * std::cos(angle);
  pair[1] = radius * std::sin(angle);
}

Tensor& fill_random(const OpCall& call, IntArrayRef size, bool normal, Tensor& out) {
  ET_KERNEL_CHECK_MSG(call.ctx, size.size() <= static_cast<size_t>(Shape::kMaxDims),
                      InvalidArgument, out, "%s: expected at most %d sizes, found %zu", call.op,
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
  uint64_t draw = reserve_draws((static_cast<uint64_t>(out.numel()) + 1) / 2);
  double values[kChunk];
  for (int64_t begin = 0; begin < out.numel(); begin += kChunk) {
    const int64_t n = std::min(kChunk, out.numel() - begin);
    for (int64_t i = 0; i < n; i += 2, ++draw) {
      values[i] = random_half(random_draw(draw), 0);
      values[i + 1] = random_half(random_draw(draw), 1);
      if (normal) {
        make_normal(values + i);
      }
    }
    store(values, n, to + begin * out.element_size());
  }
  return out;
}

}  // namespace

Tensor& rand_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  return fill_random({ctx, "rand.out"}, size, /*normal=*/false, out);
}

Tensor& randn_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  return fill_random({ctx, "randn.out"}, size, /*normal=*/true, out);
}

std::tuple<Tensor&, Tensor&> native_dropout_out(KernelRuntimeContext& ctx, const Tensor& input,
                                                double p, std::optional<bool> train, Tensor& out0,
                                                Tensor& out1) {
  const OpCall call{ctx, "native_dropout.out"};
  const std::tuple<Tensor&, Tensor&> result{out0, out1};
  ET_KERNEL_CHECK_MSG(ctx, p >= 0 && p <= 1, InvalidArgument, result,
                      "native_dropout.out: expected p in [0, 1], found %g", p);
  if (!check_floating(call, "input", input) ||
      !check_same_dtype(call, "out0", out0, "input", input) ||
      !check_dtype(call, "out1", out1, ScalarType::Bool) ||
      !resize_output(call, out0, Shape(input)) || !resize_output(call, out1, Shape(input))) {
    return result;
  }
  const bool drops = train.value_or(true) && p > 0;
  bool* kept = out1.mutable_data_ptr<bool>();
  const uint64_t draw = reserve_draws(drops ? static_cast<uint64_t>(out1.numel()) : 0);
  for (int64_t i = 0; i < out1.numel(); ++i) {
    kept[i] = !drops || random_half(random_draw(draw + static_cast<uint64_t>(i)), 1) >= p;
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

}  // namespace torch::executor::native
