// SPDX-License-Identifier: BSD-3-Clause
// rand and randn of f32 on all threads; other dtypes and wrong arguments are the portable kernels'.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/random.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/random.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace torch::executor::native {

using executorch::aten::IntArrayRef;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::extension::parallel_for;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::random_values;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::kTensorDimensionLimit;

namespace {

bool fill_random(IntArrayRef size, bool normal, Tensor& out) {
  SizesType sizes[kTensorDimensionLimit];
  if (!is_f32(out) || size.size() > kTensorDimensionLimit ||
      std::any_of(size.begin(), size.end(), [](int64_t n) { return n < 0 || n > INT32_MAX; })) {
    return false;
  }
  std::transform(size.begin(), size.end(), sizes,
                 [](int64_t n) { return static_cast<SizesType>(n); });
  if (executorch::runtime::resize_tensor(out, {sizes, size.size()}) != Error::Ok) {
    return false;
  }
  constexpr int64_t kGrain = 1 << 13;  // pairs worth a thread
  const int64_t count = out.numel();
  const uint64_t draw = executorch::kernels::reserve_draws(static_cast<uint64_t>(count + 1) / 2);
  auto* const to = out.mutable_data_ptr<float>();
  parallel_for(0, (count + 1) / 2, kGrain, [&](int64_t first, int64_t last) {
    random_values(normal, draw + static_cast<uint64_t>(first), to + 2 * first,
                  std::min(2 * last, count) - 2 * first);
  });
  return true;
}

}  // namespace

Tensor& opt_rand_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  return fill_random(size, /*normal=*/false, out) ? out : rand_out(ctx, size, out);
}

Tensor& opt_randn_out(KernelRuntimeContext& ctx, IntArrayRef size, Tensor& out) {
  return fill_random(size, /*normal=*/true, out) ? out : randn_out(ctx, size, out);
}

}  // namespace torch::executor::native
