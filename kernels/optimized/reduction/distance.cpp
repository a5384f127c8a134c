// SPDX-License-Identifier: BSD-3-Clause
// Distances between rows of dense f32 matrices in the 1-norm and the 2-norm; the rest is the
// portable kernels'.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/reduction/distance.h>
#include <executorch/kernels/portable/NativeFunctions.h>

#include <optional>

namespace torch::executor::native {

using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::kernels::optimized::Distances;
using executorch::kernels::optimized::distances;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_dense_f32;
using executorch::kernels::optimized::is_f32;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

namespace {

bool is_matrix(const Tensor& t) {
  return t.dim() == 2 && is_dense_f32(t) && t.numel() > 0;
}

Distances between(const Tensor& x, const Tensor& y, double p, Tensor& out) {
  return {x.const_data_ptr<float>(), y.const_data_ptr<float>(),    x.size(0), y.size(0), x.size(1),
          /*squared=*/p == 2,        out.mutable_data_ptr<float>()};
}

bool has_kernel(double p) {
  return p == 1 || p == 2;
}

}  // namespace

Tensor& opt_cdist_forward_out(KernelRuntimeContext& ctx, const Tensor& x1, const Tensor& x2,
                              double p, std::optional<int64_t> compute_mode, Tensor& out) {
  if (has_kernel(p) && is_matrix(x1) && is_matrix(x2) && x1.size(1) == x2.size(1) && is_f32(out)) {
    const SizesType sizes[2] = {static_cast<SizesType>(x1.size(0)),
                                static_cast<SizesType>(x2.size(0))};
    if (executorch::runtime::resize_tensor(out, {sizes, 2}) == Error::Ok && is_contiguous(out) &&
        distances(ctx, between(x1, x2, p, out)) == Error::Ok) {
      return out;
    }
  }
  return _cdist_forward_out(ctx, x1, x2, p, compute_mode, out);
}

Tensor& opt_pdist_forward_out(KernelRuntimeContext& ctx, const Tensor& self, double p,
                              Tensor& out) {
  if (has_kernel(p) && is_matrix(self) && is_f32(out) && self.size(0) < (int64_t{1} << 16)) {
    const int64_t rows = self.size(0);
    const SizesType sizes[1] = {static_cast<SizesType>(rows * (rows - 1) / 2)};
    if (executorch::runtime::resize_tensor(out, {sizes, 1}) == Error::Ok && is_contiguous(out)) {
      Distances pairs = between(self, self, p, out);
      pairs.upper = true;
      if (distances(ctx, pairs) == Error::Ok) {
        return out;
      }
    }
  }
  return _pdist_forward_out(ctx, self, p, out);
}

}  // namespace torch::executor::native
