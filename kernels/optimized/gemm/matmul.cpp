// SPDX-License-Identifier: BSD-3-Clause
// mm, bmm, addmm, linear, _int_mm: shapes and dtypes around dense_matmul.h.
#include <algorithm>
#include <cstring>

#include <executorch/kernels/optimized/binary.h>
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/gemm/dense_matmul.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using executorch::aten::IntArrayRef;
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

using executorch::aten::ScalarType;
using executorch::extension::parallel_for;
using executorch::kernels::optimized::Binary;
using executorch::kernels::optimized::Broadcast;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::kMaxOperands;
using executorch::kernels::optimized::kMaxOuterDims;
using executorch::kernels::optimized::map_binary;
using executorch::kernels::optimized::Matmul;
using executorch::kernels::optimized::multiply;
using executorch::kernels::optimized::narrow;
using executorch::kernels::optimized::plan_broadcast;
using executorch::kernels::optimized::scratch;
using executorch::kernels::optimized::widen;
using executorch::runtime::Error;
using executorch::runtime::resize_tensor;

namespace {

bool is_integer(ScalarType type) {
  return executorch::runtime::isIntegralType(type, /*includeBool=*/false);
}

bool has_fast_dtype(ScalarType type) {
  return type == ScalarType::Float || type == ScalarType::Half || type == ScalarType::BFloat16 ||
         is_integer(type);
}

bool all_fast(const Tensor& a, const Tensor& b, const Tensor& out) {
  return has_fast_dtype(a.scalar_type()) && b.scalar_type() == a.scalar_type() &&
         out.scalar_type() == a.scalar_type() && is_contiguous(a) && is_contiguous(b) &&
         is_contiguous(out);
}

template <size_t kDims>
bool resized(Tensor& out, const executorch::aten::SizesType (&sizes)[kDims]) {
  return resize_tensor(out, {sizes, kDims}) == Error::Ok;
}

// What addmm adds: a bias per column, the full matrix, or something else that broadcasts (or does
// not).
enum class Addend { kColumns, kMatrix, kOther };

Addend classify(const Tensor& self, int64_t m, int64_t n) {
  const bool one_row = self.dim() == 1 || (self.dim() == 2 && self.size(0) == 1);
  if (one_row && self.size(self.dim() - 1) == n) {
    return Addend::kColumns;
  }
  return self.dim() == 2 && self.size(0) == m && self.size(1) == n ? Addend::kMatrix
                                                                   : Addend::kOther;
}

float as_float(const Scalar& s) {
  if (s.isFloatingPoint()) {
    return static_cast<float>(s.to<double>());
  }
  return s.isBoolean() ? static_cast<float>(s.to<bool>()) : static_cast<float>(s.to<int64_t>());
}

// The walk over an m x n output and self, or false when self does not broadcast to it.
bool plan_addend(const Tensor& self, int64_t m, int64_t n, Broadcast& walk) {
  const int64_t sizes[2] = {m, n};
  int64_t strides[kMaxOperands][kMaxOuterDims] = {};
  strides[0][0] = n;
  strides[0][1] = 1;
  if (self.dim() > 2) {
    return false;
  }
  int64_t stride = 1;
  for (int64_t d = self.dim() - 1; d >= 0; --d) {
    const int64_t at = d + 2 - self.dim();
    if (self.size(d) != 1 && self.size(d) != sizes[at]) {
      return false;
    }
    strides[1][at] = self.size(d) == 1 ? 0 : stride;
    stride *= self.size(d);
  }
  walk = plan_broadcast(2, sizes, 2, strides);
  return true;
}

// out = alpha * out + beta * self; beta 0 leaves self unread.
void scale_and_add(const Broadcast& walk, float alpha, float beta, const float* self, float* out) {
  if (alpha != 1.0f) {
    Broadcast flat;
    flat.row = walk.row * walk.rows;
    flat.inner[0] = 1;
    map_binary(Binary::kMul, 1.0f, flat, out, &alpha, out);
  }
  if (beta != 0.0f) {
    map_binary(Binary::kAdd, beta, walk, out, self, out);
  }
}

// c = alpha * a b + beta * self in f32, rounded once. False when there is no scratch memory.
bool multiply_scaled_narrow(KernelRuntimeContext& ctx, Matmul p, const Broadcast& walk, float alpha,
                            float beta, const Tensor& self) {
  constexpr int64_t kGrain = 1 << 14;
  const ScalarType type = p.dtype;
  const auto self_count = static_cast<int64_t>(self.numel());
  auto* out = static_cast<uint16_t*>(p.c);
  float* sums = scratch<float>(ctx, p.m * p.n);
  float* addend = scratch<float>(ctx, self_count);
  if (sums == nullptr || addend == nullptr) {
    return false;
  }
  p.c = sums;
  p.c_is_f32 = true;
  if (multiply(ctx, p) != Error::Ok) {
    return false;
  }
  const auto* from = static_cast<const uint16_t*>(self.const_data_ptr());
  parallel_for(0, self_count, kGrain, [&](int64_t first, int64_t last) {
    widen(type, from + first, addend + first, last - first);
  });
  scale_and_add(walk, alpha, beta, addend, sums);
  parallel_for(0, p.m * p.n, kGrain, [&](int64_t first, int64_t last) {
    narrow(type, sums + first, out + first, last - first);
  });
  return true;
}

// A matmul of bytes: of these less 128, which are signed, and 128 times the sums of b's columns.
// False when there is no scratch memory.
bool multiply_bytes(KernelRuntimeContext& ctx, Matmul p) {
  constexpr uint8_t kSign = 0x80;
  const auto count = static_cast<size_t>(p.m * p.k);
  auto memory = ctx.allocate_temp(count, 64);
  auto sums_memory = ctx.allocate_temp(static_cast<size_t>(p.n) * sizeof(int32_t), 64);
  if (!memory.ok() || !sums_memory.ok()) {
    return false;
  }
  const auto* bytes = static_cast<const uint8_t*>(p.a);
  auto* less = static_cast<uint8_t*>(memory.get());
  std::transform(bytes, bytes + count, less, [](uint8_t byte) { return byte ^ kSign; });
  p.a = less;
  if (multiply(ctx, p) != Error::Ok) {
    return false;
  }
  const auto* b = static_cast<const int8_t*>(p.b);
  auto* sums = static_cast<int32_t*>(sums_memory.get());
  std::fill_n(sums, p.n, 0);
  for (int64_t i = 0; i < p.k * p.n; ++i) {
    sums[p.b_transposed ? i / p.k : i % p.n] += b[i] * kSign;
  }
  auto* c = static_cast<int32_t*>(p.c);
  for (int64_t row = 0; row < p.m; ++row) {
    for (int64_t column = 0; column < p.n; ++column) {
      c[row * p.n + column] += sums[column];
    }
  }
  return true;
}

bool is_one(const Scalar& s) {
  return s.isFloatingPoint() ? s.to<double>() == 1.0
                             : s.isIntegral(/*includeBool=*/false) && s.to<int64_t>() == 1;
}

}  // namespace

Tensor& opt_mm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat2, Tensor& out) {
  if (self.dim() != 2 || mat2.dim() != 2 || self.size(1) != mat2.size(0) ||
      !all_fast(self, mat2, out) ||
      !resized(out, {static_cast<int32_t>(self.size(0)), static_cast<int32_t>(mat2.size(1))})) {
    return mm_out(ctx, self, mat2, out);
  }
  Matmul p{self.scalar_type(),    1,
           self.size(0),          self.size(1),
           mat2.size(1),          self.const_data_ptr(),
           mat2.const_data_ptr(), out.mutable_data_ptr()};
  p.wraps = is_integer(p.dtype);
  return multiply(ctx, p) == Error::Ok ? out : mm_out(ctx, self, mat2, out);
}

Tensor& opt_int_mm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat2,
                       Tensor& out) {
  const auto portable = [&]() -> Tensor& { return _int_mm_out(ctx, self, mat2, out); };
  const bool is_bytes = self.scalar_type() == ScalarType::Byte;
  if (self.dim() != 2 || mat2.dim() != 2 || self.size(1) != mat2.size(0) ||
      (self.scalar_type() != ScalarType::Char && !is_bytes) ||
      mat2.scalar_type() != ScalarType::Char || out.scalar_type() != ScalarType::Int ||
      !resized(out, {static_cast<int32_t>(self.size(0)), static_cast<int32_t>(mat2.size(1))}) ||
      !is_contiguous(self) || !is_contiguous(out)) {
    return portable();
  }
  Matmul p{ScalarType::Char,      1,
           self.size(0),          self.size(1),
           mat2.size(1),          self.const_data_ptr(),
           mat2.const_data_ptr(), out.mutable_data_ptr()};
  p.b_transposed = !is_contiguous(mat2);  // a matrix that is not in rows is in columns
  const bool done = is_bytes ? multiply_bytes(ctx, p) : multiply(ctx, p) == Error::Ok;
  return done ? out : portable();
}

Tensor& opt_bmm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat2,
                    Tensor& out) {
  if (self.dim() != 3 || mat2.dim() != 3 || self.size(0) != mat2.size(0) ||
      self.size(2) != mat2.size(1) || !all_fast(self, mat2, out) ||
      !resized(out, {static_cast<int32_t>(self.size(0)), static_cast<int32_t>(self.size(1)),
                     static_cast<int32_t>(mat2.size(2))})) {
    return bmm_out(ctx, self, mat2, out);
  }
  Matmul p{self.scalar_type(),    self.size(0),          self.size(1),
           self.size(2),          mat2.size(2),          self.const_data_ptr(),
           mat2.const_data_ptr(), out.mutable_data_ptr()};
  p.wraps = is_integer(p.dtype);
  return multiply(ctx, p) == Error::Ok ? out : bmm_out(ctx, self, mat2, out);
}

Tensor& opt_addmm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat1,
                      const Tensor& mat2, const Scalar& beta, const Scalar& alpha, Tensor& out) {
  const auto portable = [&]() -> Tensor& {
    return addmm_out(ctx, self, mat1, mat2, beta, alpha, out);
  };
  if (mat1.dim() != 2 || mat2.dim() != 2 || mat1.size(1) != mat2.size(0) ||
      !all_fast(mat1, mat2, out) || self.scalar_type() != mat1.scalar_type() ||
      !is_contiguous(self)) {
    return portable();
  }
  const int64_t m = mat1.size(0), n = mat2.size(1);
  const bool plain = is_one(alpha) && is_one(beta);
  const Addend addend = plain ? classify(self, m, n) : Addend::kOther;
  Broadcast walk;
  if (addend == Addend::kOther &&
      (is_integer(self.scalar_type()) || !plan_addend(self, m, n, walk))) {
    return portable();
  }
  if (!resized(out, {static_cast<int32_t>(m), static_cast<int32_t>(n)})) {
    return portable();
  }
  Matmul p{
      mat1.scalar_type(),    1, m, mat1.size(1), n, mat1.const_data_ptr(), mat2.const_data_ptr(),
      out.mutable_data_ptr()};
  p.wraps = is_integer(p.dtype);
  if (addend == Addend::kOther && !is_f32(self)) {
    return multiply_scaled_narrow(ctx, p, walk, as_float(alpha), as_float(beta), self) ? out
                                                                                       : portable();
  }
  if (addend == Addend::kColumns) {
    p.col_bias = self.const_data_ptr();
  } else if (addend == Addend::kMatrix) {
    p.accumulate = true;
    std::memmove(p.c, self.const_data_ptr(), out.nbytes());
  }
  if (multiply(ctx, p) != Error::Ok) {
    return portable();
  }
  if (addend == Addend::kOther) {
    scale_and_add(walk, as_float(alpha), as_float(beta), self.const_data_ptr<float>(),
                  out.mutable_data_ptr<float>());
  }
  return out;
}

Tensor& opt_linear_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& weight,
                       const std::optional<Tensor>& bias, Tensor& out) {
  const auto portable = [&]() -> Tensor& { return linear_out(ctx, input, weight, bias, out); };
  if (input.dim() < 1 || weight.dim() != 2 || weight.size(1) != input.size(input.dim() - 1) ||
      weight.size(1) == 0 || !all_fast(input, weight, out)) {
    return portable();
  }
  if (bias.has_value() && (bias->scalar_type() != input.scalar_type() || bias->dim() != 1 ||
                           bias->size(0) != weight.size(0))) {
    return portable();
  }
  executorch::aten::SizesType sizes[executorch::runtime::kTensorDimensionLimit];
  std::copy(input.sizes().begin(), input.sizes().end(), sizes);
  sizes[input.dim() - 1] = static_cast<executorch::aten::SizesType>(weight.size(0));
  if (resize_tensor(out, {sizes, static_cast<size_t>(input.dim())}) != Error::Ok) {
    return portable();
  }
  const int64_t k = weight.size(1);
  Matmul p{input.scalar_type(),     1,
           input.numel() / k,       k,
           weight.size(0),          input.const_data_ptr(),
           weight.const_data_ptr(), out.mutable_data_ptr()};
  p.b_transposed = true;
  p.wraps = is_integer(p.dtype);
  p.col_bias = bias.has_value() ? bias->const_data_ptr() : nullptr;
  return multiply(ctx, p) == Error::Ok ? out : portable();
}

}  // namespace torch::executor::native
