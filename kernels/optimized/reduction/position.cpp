// SPDX-License-Identifier: BSD-3-Clause
// Positions of extremes along a dimension of f32 tensors that is not the innermost in memory; the
// portable kernels have the others.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/reduction/reduction.h>
#include <executorch/kernels/portable/NativeFunctions.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace torch::executor::native {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::kernels::optimized::InnerLoops;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_dense_f32;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::position_dim;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::kTensorDimensionLimit;
using executorch::runtime::resize_tensor;

namespace {

// Finds positions, and the extremes themselves where `values` is given; false for a case of the
// portable kernel.
bool find(const Tensor& self, int64_t dim, bool keepdim, bool largest, Tensor* values,
          Tensor& positions) {
  const int64_t rank = self.dim();
  dim = dim < 0 ? dim + rank : dim;
  if (!is_dense_f32(self) || self.numel() == 0 || dim < 0 || dim >= rank ||
      self.size(dim) > INT32_MAX || positions.scalar_type() != ScalarType::Long ||
      (values != nullptr && !is_f32(*values))) {
    return false;
  }
  InnerLoops loops{1, self.size(dim), 1};
  SizesType sizes[kTensorDimensionLimit];
  size_t count = 0;
  for (int64_t d = 0; d < rank; ++d) {
    loops.outer *= d < dim ? self.size(d) : 1;
    loops.inner *= d > dim ? self.size(d) : 1;
    if (d != dim || keepdim) {
      sizes[count++] = d == dim ? 1 : static_cast<SizesType>(self.size(d));
    }
  }
  if (loops.inner == 1 || resize_tensor(positions, {sizes, count}) != Error::Ok ||
      !is_contiguous(positions) ||
      (values != nullptr &&
       (resize_tensor(*values, {sizes, count}) != Error::Ok || !is_contiguous(*values)))) {
    return false;
  }
  position_dim(loops, largest, self.const_data_ptr<float>(),
               values != nullptr ? values->mutable_data_ptr<float>() : nullptr,
               positions.mutable_data_ptr<int64_t>());
  return true;
}

}  // namespace

#define ET_POSITION(name, portable, largest)                                              \
  Tensor& name(KernelRuntimeContext& ctx, const Tensor& self, std::optional<int64_t> dim, \
               bool keepdim, Tensor& out) {                                               \
    return dim.has_value() && find(self, *dim, keepdim, largest, nullptr, out)            \
               ? out                                                                      \
               : portable(ctx, self, dim, keepdim, out);                                  \
  }
ET_POSITION(opt_argmax_out, argmax_out, true)
ET_POSITION(opt_argmin_out, argmin_out, false)
#undef ET_POSITION

#define ET_EXTREME_IN_DIM(name, portable, largest)                                              \
  std::tuple<Tensor&, Tensor&> name(KernelRuntimeContext& ctx, const Tensor& self, int64_t dim, \
                                    bool keepdim, Tensor& values, Tensor& positions) {          \
    if (find(self, dim, keepdim, largest, &values, positions)) {                                \
      return {values, positions};                                                               \
    }                                                                                           \
    return portable(ctx, self, dim, keepdim, values, positions);                                \
  }
ET_EXTREME_IN_DIM(opt_max_out, max_out, true)
ET_EXTREME_IN_DIM(opt_min_out, min_out, false)
#undef ET_EXTREME_IN_DIM

}  // namespace torch::executor::native
