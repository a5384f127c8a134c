// SPDX-License-Identifier: BSD-3-Clause
// Sums, means, extremes, products, running sums and softmax of f32 tensors and of 16-bit floats;
// sums and extremes of integers.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/reduction/narrow_reduction.h>
#include <executorch/kernels/optimized/reduction/reduction.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>

#include <algorithm>
#include <optional>

namespace torch::executor::native {

using executorch::aten::IntArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::kernels::optimized::compute_dim;
using executorch::kernels::optimized::cumulate_dim;
using executorch::kernels::optimized::extreme_dim;
using executorch::kernels::optimized::fold_integer_dim;
using executorch::kernels::optimized::InnerLoops;
using executorch::kernels::optimized::IntegerFold;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_f32_or_narrower;
using executorch::kernels::optimized::multiply_dim;
using executorch::kernels::optimized::softmax_dim;
using executorch::kernels::optimized::sum_dim;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::kTensorDimensionLimit;
using executorch::runtime::resize_tensor;

namespace {

// The contiguous dimensions [first, last) of t as the middle of [outer][n][inner].
InnerLoops loops_of(const Tensor& t, int64_t first, int64_t last) {
  InnerLoops loops{1, 1, 1};
  for (int64_t d = 0; d < t.dim(); ++d) {
    int64_t& part = d < first ? loops.outer : d < last ? loops.n : loops.inner;
    part *= t.size(d);
  }
  return loops;
}

// Dimensions [first, last) when the list names exactly a range of neighbours (all, when there is
// none).
bool neighbour_range(const Tensor& t, const std::optional<IntArrayRef>& dims, int64_t& first,
                     int64_t& last) {
  const int64_t rank = t.dim();
  if (!dims.has_value() || dims->empty()) {
    first = 0;
    last = rank;
    return true;
  }
  bool named[kTensorDimensionLimit] = {};
  first = rank;
  last = 0;
  for (int64_t d : *dims) {
    if (d < -rank || d >= rank || named[d < 0 ? d + rank : d]) {
      return false;
    }
    d = d < 0 ? d + rank : d;
    named[d] = true;
    first = std::min(first, d);
    last = std::max(last, d + 1);
  }
  return last - first == static_cast<int64_t>(dims->size());
}

bool resize_reduced(const Tensor& self, int64_t first, int64_t last, bool keepdim, Tensor& out) {
  SizesType sizes[kTensorDimensionLimit];
  size_t count = 0;
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool reduced = d >= first && d < last;
    if (!reduced || keepdim) {
      sizes[count++] = reduced ? 1 : static_cast<SizesType>(self.size(d));
    }
  }
  return resize_tensor(out, {sizes, count}) == Error::Ok;
}

// Whether the elements of `self` are reduced here, to its own dtype or to the wider one asked for.
bool is_reduced(const Tensor& self, const std::optional<ScalarType>& dtype, const Tensor& out) {
  const ScalarType result = dtype.value_or(self.scalar_type());
  return is_f32_or_narrower(self) && is_contiguous(self) && self.numel() > 0 &&
         out.scalar_type() == result &&
         (result == self.scalar_type() || result == ScalarType::Float);
}

// Integers and Bool.
bool is_integer(const Tensor& t) {
  return executorch::runtime::isIntegralType(t.scalar_type(), /*includeBool=*/true);
}

// The mean (or the sum) over neighbouring dimensions; false when this is not one of those.
bool reduce(KernelRuntimeContext& ctx, const Tensor& self, const std::optional<IntArrayRef>& dims,
            bool keepdim, const std::optional<ScalarType>& dtype, bool mean, Tensor& out) {
  int64_t first = 0, last = 0;
  const bool whole = !mean && is_integer(self) && is_contiguous(self) && self.numel() > 0 &&
                     dtype.value_or(ScalarType::Long) == ScalarType::Long &&
                     out.scalar_type() == ScalarType::Long;
  if ((!whole && !is_reduced(self, dtype, out)) || !neighbour_range(self, dims, first, last) ||
      !resize_reduced(self, first, last, keepdim, out) || !is_contiguous(out)) {
    return false;
  }
  const InnerLoops loops = loops_of(self, first, last);
  if (whole) {
    fold_integer_dim(self.scalar_type(), IntegerFold::kSum, loops, self.const_data_ptr(),
                     out.mutable_data_ptr());
    return true;
  }
  const float scale = mean ? 1.0f / static_cast<float>(loops.n) : 1.0f;
  return compute_dim(ctx, loops, self, out, loops.inner,
                     [scale](const InnerLoops& part, const float* in, float* sums) {
                       sum_dim(part, scale, in, sums);
                     });
}

bool extreme(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dims, bool keepdim,
             bool largest, Tensor& out) {
  int64_t first = 0, last = 0;
  const bool whole = is_integer(self) && is_contiguous(self) && self.numel() > 0 &&
                     out.scalar_type() == self.scalar_type();
  if ((!whole && !is_reduced(self, std::nullopt, out)) ||
      !neighbour_range(self, dims, first, last) ||
      !resize_reduced(self, first, last, keepdim, out) || !is_contiguous(out)) {
    return false;
  }
  const InnerLoops loops = loops_of(self, first, last);
  if (whole) {
    fold_integer_dim(self.scalar_type(), largest ? IntegerFold::kMax : IntegerFold::kMin, loops,
                     self.const_data_ptr(), out.mutable_data_ptr());
    return true;
  }
  return compute_dim(ctx, loops, self, out, loops.inner,
                     [largest](const InnerLoops& part, const float* in, float* extremes) {
                       extreme_dim(part, largest, in, extremes);
                     });
}

// The product over dimensions [first, last).
bool product(KernelRuntimeContext& ctx, const Tensor& self, int64_t first, int64_t last,
             bool keepdim, const std::optional<ScalarType>& dtype, Tensor& out) {
  if (!is_reduced(self, dtype, out) || !resize_reduced(self, first, last, keepdim, out) ||
      !is_contiguous(out)) {
    return false;
  }
  const InnerLoops loops = loops_of(self, first, last);
  return compute_dim(ctx, loops, self, out, loops.inner, multiply_dim);
}

// Whether each element becomes one of the same dtype; gives `out` its sizes.
bool is_mapped(const Tensor& self, Tensor& out) {
  return is_f32_or_narrower(self) && is_contiguous(self) &&
         out.scalar_type() == self.scalar_type() && resize_tensor(out, self.sizes()) == Error::Ok &&
         is_contiguous(out);
}

bool softmax(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, bool half_to_float,
             bool logarithm, Tensor& out) {
  const int64_t rank = self.dim();
  if (half_to_float || rank == 0 || dim < -rank || dim >= rank || !is_mapped(self, out)) {
    return false;
  }
  dim = dim < 0 ? dim + rank : dim;
  const InnerLoops loops = loops_of(self, dim, dim + 1);
  return compute_dim(ctx, loops, self, out, loops.n * loops.inner,
                     [logarithm](const InnerLoops& part, const float* in, float* result) {
                       softmax_dim(part, logarithm, in, result);
                     });
}

}  // namespace

Tensor& opt_sum_dim_out(KernelRuntimeContext& ctx, const Tensor& self,
                        std::optional<IntArrayRef> dim, bool keepdim,
                        std::optional<ScalarType> dtype, Tensor& out) {
  return reduce(ctx, self, dim, keepdim, dtype, /*mean=*/false, out)
             ? out
             : sum_dim_out(ctx, self, dim, keepdim, dtype, out);
}

Tensor& opt_mean_dim_out(KernelRuntimeContext& ctx, const Tensor& self,
                         std::optional<IntArrayRef> dim, bool keepdim,
                         std::optional<ScalarType> dtype, Tensor& out) {
  return reduce(ctx, self, dim, keepdim, dtype, /*mean=*/true, out)
             ? out
             : mean_dim_out(ctx, self, dim, keepdim, dtype, out);
}

Tensor& opt_mean_dtype_out(KernelRuntimeContext& ctx, const Tensor& self,
                           std::optional<ScalarType> dtype, Tensor& out) {
  return reduce(ctx, self, std::nullopt, /*keepdim=*/false, dtype, /*mean=*/true, out)
             ? out
             : mean_dtype_out(ctx, self, dtype, out);
}

Tensor& opt_amax_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim, bool keepdim,
                     Tensor& out) {
  return extreme(ctx, self, dim, keepdim, /*largest=*/true, out)
             ? out
             : amax_out(ctx, self, dim, keepdim, out);
}

Tensor& opt_amin_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim, bool keepdim,
                     Tensor& out) {
  return extreme(ctx, self, dim, keepdim, /*largest=*/false, out)
             ? out
             : amin_out(ctx, self, dim, keepdim, out);
}

Tensor& opt_max_unary_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return extreme(ctx, self, {}, /*keepdim=*/false, /*largest=*/true, out)
             ? out
             : max_unary_out(ctx, self, out);
}

Tensor& opt_min_unary_out(KernelRuntimeContext& ctx, const Tensor& self, Tensor& out) {
  return extreme(ctx, self, {}, /*keepdim=*/false, /*largest=*/false, out)
             ? out
             : min_unary_out(ctx, self, out);
}

Tensor& opt_prod_int_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, bool keepdim,
                         std::optional<ScalarType> dtype, Tensor& out) {
  const int64_t at = dim < 0 ? dim + self.dim() : dim;
  const bool fast =
      at >= 0 && at < self.dim() && product(ctx, self, at, at + 1, keepdim, dtype, out);
  return fast ? out : prod_int_out(ctx, self, dim, keepdim, dtype, out);
}

Tensor& opt_prod_out(KernelRuntimeContext& ctx, const Tensor& self, std::optional<ScalarType> dtype,
                     Tensor& out) {
  return product(ctx, self, 0, self.dim(), /*keepdim=*/false, dtype, out)
             ? out
             : prod_out(ctx, self, dtype, out);
}

Tensor& opt_cumsum_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                       std::optional<ScalarType> dtype, Tensor& out) {
  const int64_t rank = self.dim();
  if (rank == 0 || dim < -rank || dim >= rank ||
      dtype.value_or(self.scalar_type()) != self.scalar_type() || !is_mapped(self, out)) {
    return cumsum_out(ctx, self, dim, dtype, out);
  }
  const int64_t at = dim < 0 ? dim + rank : dim;
  const InnerLoops loops = loops_of(self, at, at + 1);
  return compute_dim(ctx, loops, self, out, loops.n * loops.inner, cumulate_dim)
             ? out
             : cumsum_out(ctx, self, dim, dtype, out);
}

Tensor& opt_softmax_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                        bool half_to_float, Tensor& out) {
  return softmax(ctx, self, dim, half_to_float, /*logarithm=*/false, out)
             ? out
             : softmax_out(ctx, self, dim, half_to_float, out);
}

Tensor& opt_log_softmax_out(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim,
                            bool half_to_float, Tensor& out) {
  return softmax(ctx, self, dim, half_to_float, /*logarithm=*/true, out)
             ? out
             : log_softmax_out(ctx, self, dim, half_to_float, out);
}

}  // namespace torch::executor::native
