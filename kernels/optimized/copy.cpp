// SPDX-License-Identifier: BSD-3-Clause
// Conversion between dtypes, and conjugates, of tensors of one layout; everything else is the
// portable kernels'.
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <optional>

namespace torch::executor::native {

using executorch::aten::MemoryFormat;
using executorch::aten::OptionalArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::extension::parallel_for;
using executorch::kernels::compute_type_of;
using executorch::kernels::ComputeType;
using executorch::kernels::is_computable;
using executorch::kernels::is_stored_as;
using executorch::kernels::kChunk;
using executorch::kernels::loader;
using executorch::kernels::LoadRun;
using executorch::kernels::storer;
using executorch::kernels::StoreRun;
using executorch::kernels::optimized::conjugate;
using executorch::kernels::optimized::same_layout;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

namespace {

constexpr int64_t kGrain = 1 << 15;  // elements worth a thread

// How elements of one dtype become those of another: in one run where either is stored as values of
// a compute type, else through values of the first one's.
struct Conversion {
  LoadRun load = nullptr;
  StoreRun store = nullptr;

  Conversion(ScalarType from, ScalarType to) {
    const ComputeType through = compute_type_of(from), result = compute_type_of(to);
    if (is_stored_as(from, through)) {
      store = storer(through, to);
    } else if (is_stored_as(to, result)) {
      load = loader(from, result);
    } else {
      load = loader(from, through);
      store = storer(through, to);
    }
  }

  void run(const void* in, int64_t n, void* out) const {
    if (store == nullptr) {
      load(in, 1, n, out);
    } else if (load == nullptr) {
      store(in, n, out);
    } else {
      alignas(8) char values[kChunk * 8];
      load(in, 1, n, values);
      store(values, n, out);
    }
  }
};

bool convert(const Tensor& self, Tensor& out) {
  const ScalarType from = self.scalar_type(), to = out.scalar_type();
  if (from == to || !is_computable(from) || !is_computable(to) ||
      executorch::runtime::resize_tensor(out, self.sizes()) != Error::Ok ||
      !same_layout(self, out)) {
    return false;
  }
  const Conversion conversion(from, to);
  const auto in_size = static_cast<int64_t>(self.element_size());
  const auto out_size = static_cast<int64_t>(out.element_size());
  const auto* in = static_cast<const char*>(self.const_data_ptr());
  auto* result = static_cast<char*>(out.mutable_data_ptr());
  parallel_for(0, out.numel(), kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += kChunk) {
      conversion.run(in + i * in_size, std::min(kChunk, last - i), result + i * out_size);
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
