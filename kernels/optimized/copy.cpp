// SPDX-License-Identifier: BSD-3-Clause
// Conversion between f32 and 16-bit floats, and conjugates, of tensors of one layout; everything
// else is the portable kernels'.
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <optional>

namespace torch::executor::native {

using executorch::aten::MemoryFormat;
using executorch::aten::OptionalArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::parallel_for;
using executorch::kernels::optimized::conjugate;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::is_narrow_float;
using executorch::kernels::optimized::narrow;
using executorch::kernels::optimized::same_layout;
using executorch::kernels::optimized::widen;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

namespace {

constexpr int64_t kGrain = 1 << 15;  // elements worth a thread

bool convert(const Tensor& self, Tensor& out) {
  const bool widens = is_narrow_float(self.scalar_type()) && is_f32(out);
  const bool narrows = is_f32(self) && is_narrow_float(out.scalar_type());
  if ((!widens && !narrows) || executorch::runtime::resize_tensor(out, self.sizes()) != Error::Ok ||
      !same_layout(self, out)) {
    return false;
  }
  parallel_for(0, out.numel(), kGrain, [&](int64_t first, int64_t last) {
    const auto* from =
        static_cast<const char*>(self.const_data_ptr()) + first * self.element_size();
    auto* to = static_cast<char*>(out.mutable_data_ptr()) + first * out.element_size();
    if (widens) {
      widen(self.scalar_type(), from, reinterpret_cast<float*>(to), last - first);
    } else {
      narrow(out.scalar_type(), reinterpret_cast<const float*>(from), to, last - first);
    }
  });
  return true;
}

// True when `dim_order` asks for nothing else than out has.
bool is_order_of(const OptionalArrayRef<int64_t>& dim_order, const Tensor& out) {
  const auto own = out.dim_order();
  return !dim_order.has_value() || (dim_order->size() == own.size() &&
                                    std::equal(own.begin(), own.end(), dim_order->begin()));
}

}  // namespace

Tensor& opt_to_copy_out(KernelRuntimeContext& ctx, const Tensor& self, bool non_blocking,
                        std::optional<MemoryFormat> memory_format, Tensor& out) {
  const bool preserves = memory_format.value_or(MemoryFormat::Preserve) == MemoryFormat::Preserve;
  return !non_blocking && preserves && convert(self, out)
             ? out
             : to_copy_out(ctx, self, non_blocking, memory_format, out);
}

Tensor& opt_to_dim_order_copy_out(KernelRuntimeContext& ctx, const Tensor& self, bool non_blocking,
                                  OptionalArrayRef<int64_t> dim_order, Tensor& out) {
  return !non_blocking && is_order_of(dim_order, out) && convert(self, out)
             ? out
             : _to_dim_order_copy_out(ctx, self, non_blocking, dim_order, out);
}

Tensor& opt_conj_physical_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  const bool complex = self.scalar_type() == ScalarType::ComplexFloat;
  if (!complex || out.scalar_type() != self.scalar_type() ||
      executorch::runtime::resize_tensor(out, self.sizes()) != Error::Ok ||
      !same_layout(self, out)) {
    return _conj_physical_out(ctx, self, out);
  }
  parallel_for(0, self.numel(), kGrain, [&](int64_t first, int64_t last) {
    const int64_t offset = first * self.element_size();
    conjugate(static_cast<const char*>(self.const_data_ptr()) + offset,
              static_cast<char*>(out.mutable_data_ptr()) + offset, last - first);
  });
  return out;
}

}  // namespace torch::executor::native
