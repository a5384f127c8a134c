// SPDX-License-Identifier: BSD-3-Clause
// _fft_r2c and _fft_c2r of f32 along the last dimension of dense tensors, and _fft_c2c along any;
// the rest is the portable kernels'.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/fft/fft.h>
#include <executorch/kernels/portable/NativeFunctions.h>

#include <algorithm>
#include <cmath>

namespace torch::executor::native {

using executorch::aten::IntArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::kernels::optimized::FftLines;
using executorch::kernels::optimized::FftRows;
using executorch::kernels::optimized::has_fast_fft;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_dense_f32;
using executorch::kernels::optimized::is_f32;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::kTensorDimensionLimit;

namespace {

bool is_complex(const Tensor& t) {
  return t.scalar_type() == ScalarType::ComplexFloat;
}

// Whether `dim` names the last dimension only.
bool is_last(const Tensor& t, IntArrayRef dim) {
  return dim.size() == 1 && t.dim() > 0 && (dim[0] == -1 || dim[0] == t.dim() - 1);
}

// 0: none, 1: by the square root of n, 2: by n. Other numbers are the portable kernel's to refuse.
bool scale_of(int64_t normalization, int64_t n, float& scale) {
  const auto count = static_cast<double>(n);
  scale = static_cast<float>(normalization == 0   ? 1.0
                             : normalization == 1 ? 1.0 / std::sqrt(count)
                                                  : 1.0 / count);
  return normalization >= 0 && normalization <= 2;
}

// Gives out the sizes of `like` but for the last one.
bool resize_last(const Tensor& like, int64_t last, Tensor& out) {
  SizesType sizes[kTensorDimensionLimit];
  std::copy(like.sizes().begin(), like.sizes().end(), sizes);
  sizes[like.dim() - 1] = static_cast<SizesType>(last);
  return executorch::runtime::resize_tensor(out, {sizes, static_cast<size_t>(like.dim())}) ==
             Error::Ok &&
         is_contiguous(out);
}

}  // namespace

Tensor& opt_fft_r2c_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim,
                        int64_t normalization, bool onesided, Tensor& out) {
  FftRows p = {};
  if (is_dense_f32(self) && self.numel() > 0 && is_complex(out) && is_last(self, dim)) {
    p.n = self.size(self.dim() - 1);
    p.rows = self.numel() / p.n;
    p.bins = onesided ? p.n / 2 + 1 : p.n;
    if (has_fast_fft(p.n) && scale_of(normalization, p.n, p.scale) &&
        resize_last(self, p.bins, out)) {
      p.in = self.const_data_ptr<float>();
      p.in_stride = p.n;
      p.out = static_cast<float*>(out.mutable_data_ptr());
      p.out_stride = 2 * p.bins;
      if (real_to_spectra(ctx, p) == Error::Ok) {
        return out;
      }
    }
  }
  return _fft_r2c_out(ctx, self, dim, normalization, onesided, out);
}

Tensor& opt_fft_c2r_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim,
                        int64_t normalization, int64_t last_dim_size, Tensor& out) {
  FftRows p = {};
  if (is_complex(self) && is_contiguous(self) && self.numel() > 0 && is_f32(out) &&
      is_last(self, dim) && last_dim_size > 0 &&
      last_dim_size / 2 + 1 <= self.size(self.dim() - 1)) {
    p.n = last_dim_size;
    p.rows = self.numel() / self.size(self.dim() - 1);
    p.bins = p.n / 2 + 1;
    if (has_fast_fft(p.n) && scale_of(normalization, p.n, p.scale) && resize_last(self, p.n, out)) {
      p.in = static_cast<const float*>(self.const_data_ptr());
      p.in_stride = 2 * self.size(self.dim() - 1);
      p.out = out.mutable_data_ptr<float>();
      p.out_stride = p.n;
      if (spectra_to_real(ctx, p) == Error::Ok) {
        return out;
      }
    }
  }
  return _fft_c2r_out(ctx, self, dim, normalization, last_dim_size, out);
}

Tensor& opt_fft_c2c_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef dim,
                        int64_t normalization, bool forward, Tensor& out) {
  const int64_t rank = self.dim();
  int64_t count = 1;
  bool named[kTensorDimensionLimit] = {};
  bool fast = is_complex(self) && is_complex(out) && is_contiguous(self) && self.numel() > 0 &&
              rank > 0 && dim.size() > 0;
  for (int64_t d : dim) {
    const int64_t at = d < 0 ? d + rank : d;
    fast = fast && at >= 0 && at < rank && !named[at] && has_fast_fft(self.size(at));
    if (!fast) {
      break;
    }
    named[at] = true;
    count *= self.size(at);
  }
  FftLines p = {};
  if (fast && scale_of(normalization, count, p.scale) &&
      resize_last(self, self.size(rank - 1), out)) {
    p.in = static_cast<const float*>(self.const_data_ptr());
    p.out = static_cast<float*>(out.mutable_data_ptr());
    p.inverse = !forward;
    Error error = Error::Ok;
    for (int64_t at = rank - 1; at >= 0 && error == Error::Ok; --at) {
      if (named[at]) {
        p.n = self.size(at);
        p.inner = 1;
        for (int64_t d = at + 1; d < rank; ++d) {
          p.inner *= self.size(d);
        }
        p.outer = self.numel() / (p.n * p.inner);
        error = transform_lines(ctx, p);
        p.in = p.out;
        p.scale = 1;
      }
    }
    if (error == Error::Ok) {
      return out;
    }
  }
  return _fft_c2c_out(ctx, self, dim, normalization, forward, out);
}

}  // namespace torch::executor::native
