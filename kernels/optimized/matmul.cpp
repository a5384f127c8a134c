// SPDX-License-Identifier: BSD-3-Clause
// mm, bmm, addmm, linear: f32 in place, Half and BFloat16 through f32 sums.
#include <algorithm>
#include <cstring>

#include <executorch/kernels/optimized/binary.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/gemm.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using executorch::aten::IntArrayRef;
using executorch::aten::Scalar;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::extension::parallel_for;
using executorch::kernels::optimized::Binary;
using executorch::kernels::optimized::Broadcast;
using executorch::kernels::optimized::dot_rows;
using executorch::kernels::optimized::DotRows;
using executorch::kernels::optimized::gemm;
using executorch::kernels::optimized::Gemm;
using executorch::kernels::optimized::GemmPanel;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::kMaxDotVectors;
using executorch::kernels::optimized::kMaxOperands;
using executorch::kernels::optimized::kMaxOuterDims;
using executorch::kernels::optimized::map_binary;
using executorch::kernels::optimized::pack_columns;
using executorch::kernels::optimized::pack_rows;
using executorch::kernels::optimized::plan_broadcast;
using executorch::runtime::Error;
using executorch::runtime::resize_tensor;

namespace {

constexpr int64_t kGrain = 1 << 14;  // elements worth a thread in a pass over memory
constexpr int64_t kSwapBelowRows =
    24;  // with fewer rows, packing the weights costs more than packing the input

// c[batch][m][n] = a[batch][m][k] * b (+ col_bias, or + c): b is [batch][k][n], or [n][k] when
// b_transposed.
struct Product {
  ScalarType dtype;
  int64_t batch, m, k, n;
  const void* a;
  const void* b;
  void* c;
  bool b_transposed = false;
  bool accumulate = false;
  const void* col_bias = nullptr;
};

bool has_fast_dtype(ScalarType type) {
  return type == ScalarType::Float || type == ScalarType::Half || type == ScalarType::BFloat16;
}

bool all_fast(const Tensor& a, const Tensor& b, const Tensor& out) {
  return has_fast_dtype(a.scalar_type()) && b.scalar_type() == a.scalar_type() &&
         out.scalar_type() == a.scalar_type() && is_contiguous(a) && is_contiguous(b) &&
         is_contiguous(out);
}

template <typename T>
void pack_rows_of(const Gemm& g, const GemmPanel& panel, float* out) {
  for (int64_t k = panel.k_begin; k < panel.k_end; ++k, out += panel.width) {
    const T* row = static_cast<const T*>(g.b) + k * g.ldb + panel.n_begin;
    const int64_t cols = panel.n_end - panel.n_begin;
    for (int64_t j = 0; j < panel.width; ++j) {
      out[j] = j < cols ? static_cast<float>(row[j]) : 0.0f;
    }
  }
}

template <typename T>
void pack_columns_of(const Gemm& g, const GemmPanel& panel, float* out) {
  for (int64_t j = 0; j < panel.width; ++j) {
    const T* column = static_cast<const T*>(g.b) + (panel.n_begin + j) * g.ldb;
    const bool inside = panel.n_begin + j < panel.n_end;
    for (int64_t k = panel.k_begin; k < panel.k_end; ++k) {
      out[(k - panel.k_begin) * panel.width + j] = inside ? static_cast<float>(column[k]) : 0.0f;
    }
  }
}

template <typename T>
void to_f32(const void* from, int64_t count, float* to) {
  parallel_for(0, count, kGrain, [&](int64_t first, int64_t last) {
    std::copy(static_cast<const T*>(from) + first, static_cast<const T*>(from) + last, to + first);
  });
}

template <typename T>
void from_f32(const float* from, int64_t count, void* to) {
  parallel_for(0, count, kGrain, [&](int64_t first, int64_t last) {
    T* out = static_cast<T*>(to);
    for (int64_t i = first; i < last; ++i) {
      out[i] = static_cast<T>(from[i]);
    }
  });
}

Gemm f32_problem(const Product& p, int64_t index) {
  const float* a = static_cast<const float*>(p.a) + index * p.m * p.k;
  const float* b = static_cast<const float*>(p.b) + index * p.k * p.n;
  Gemm g;
  g.m = p.m;
  g.n = p.n;
  g.k = p.k;
  g.a = a;
  g.lda = p.k;
  g.b = b;
  g.ldb = p.b_transposed ? p.k : p.n;
  g.pack = p.b_transposed ? pack_columns : pack_rows;
  g.b_in_rows = !p.b_transposed;
  g.c = static_cast<float*>(p.c) + index * p.m * p.n;
  g.ldc = p.n;
  g.accumulate = p.accumulate;
  g.col_bias = static_cast<const float*>(p.col_bias);
  if (p.b_transposed && p.m < kSwapBelowRows) {
    g.a = b;
    g.b = a;
    std::swap(g.m, g.n);
    g.c_transposed = true;
    std::swap(g.row_bias, g.col_bias);
  }
  return g;
}

Error multiply_f32(KernelRuntimeContext& ctx, const Product& p) {
  if (p.b_transposed && p.m <= kMaxDotVectors && p.batch == 1 && !p.accumulate) {
    DotRows d;
    d.num_rows = p.n;
    d.num_x = p.m;
    d.k = p.k;
    d.rows = static_cast<const float*>(p.b);
    d.row_stride = p.k;
    d.x = static_cast<const float*>(p.a);
    d.x_stride = p.k;
    d.bias = static_cast<const float*>(p.col_bias);
    d.out = static_cast<float*>(p.c);
    d.out_stride = p.n;
    dot_rows(d);
    return Error::Ok;
  }
  return gemm(ctx, p.batch, [&](int64_t index) { return f32_problem(p, index); });
}

float* allocate_floats(KernelRuntimeContext& ctx, int64_t count) {
  auto memory = ctx.allocate_temp(static_cast<size_t>(count) * sizeof(float), 64);
  return memory.ok() ? static_cast<float*>(memory.get()) : nullptr;
}

// 16-bit floats: the left operand, the bias and the result go through f32 copies, the right one is
// converted in packing.
template <typename T>
Error multiply_narrow(KernelRuntimeContext& ctx, const Product& p) {
  float* a = allocate_floats(ctx, p.batch * p.m * p.k);
  float* c = allocate_floats(ctx, p.batch * p.m * p.n);
  float* bias = allocate_floats(ctx, p.n);
  if (a == nullptr || c == nullptr || bias == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  to_f32<T>(p.a, p.batch * p.m * p.k, a);
  if (p.accumulate) {
    to_f32<T>(p.c, p.batch * p.m * p.n, c);
  }
  if (p.col_bias != nullptr) {
    to_f32<T>(p.col_bias, p.n, bias);
  }
  const auto problem = [&](int64_t index) {
    Product wide = p;
    wide.a = a;
    wide.c = c;
    wide.col_bias = p.col_bias != nullptr ? bias : nullptr;
    Gemm g = f32_problem(wide, index);
    g.m = p.m;
    g.n = p.n;
    g.a = a + index * p.m * p.k;
    g.lda = p.k;
    g.b = static_cast<const T*>(p.b) + index * p.k * p.n;
    g.pack = p.b_transposed ? pack_columns_of<T> : pack_rows_of<T>;
    g.b_in_rows = false;
    g.c_transposed = false;
    g.row_bias = nullptr;
    g.col_bias = wide.col_bias == nullptr ? nullptr : bias;
    return g;
  };
  const Error error = gemm(ctx, p.batch, problem);
  if (error == Error::Ok) {
    from_f32<T>(c, p.batch * p.m * p.n, p.c);
  }
  return error;
}

Error multiply(KernelRuntimeContext& ctx, const Product& p) {
  switch (p.dtype) {
    case ScalarType::Float:
      return multiply_f32(ctx, p);
    case ScalarType::Half:
      return multiply_narrow<Half>(ctx, p);
    default:
      return multiply_narrow<BFloat16>(ctx, p);
  }
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
void scale_and_add(const Broadcast& walk, float alpha, float beta, const Tensor& self, float* out) {
  if (alpha != 1.0f) {
    Broadcast flat;
    flat.row = walk.row * walk.rows;
    flat.inner[0] = 1;
    map_binary(Binary::kMul, 1.0f, flat, out, &alpha, out);
  }
  if (beta != 0.0f) {
    map_binary(Binary::kAdd, beta, walk, out, self.const_data_ptr<float>(), out);
  }
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
  Product p{self.scalar_type(),    1,
            self.size(0),          self.size(1),
            mat2.size(1),          self.const_data_ptr(),
            mat2.const_data_ptr(), out.mutable_data_ptr()};
  return multiply(ctx, p) == Error::Ok ? out : mm_out(ctx, self, mat2, out);
}

Tensor& opt_bmm_out(KernelRuntimeContext& ctx, const Tensor& self, const Tensor& mat2,
                    Tensor& out) {
  if (self.dim() != 3 || mat2.dim() != 3 || self.size(0) != mat2.size(0) ||
      self.size(2) != mat2.size(1) || !all_fast(self, mat2, out) ||
      !resized(out, {static_cast<int32_t>(self.size(0)), static_cast<int32_t>(self.size(1)),
                     static_cast<int32_t>(mat2.size(2))})) {
    return bmm_out(ctx, self, mat2, out);
  }
  Product p{self.scalar_type(),    self.size(0),          self.size(1),
            self.size(2),          mat2.size(2),          self.const_data_ptr(),
            mat2.const_data_ptr(), out.mutable_data_ptr()};
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
  if (addend == Addend::kOther && (!is_f32(self) || !plan_addend(self, m, n, walk))) {
    return portable();
  }
  if (!resized(out, {static_cast<int32_t>(m), static_cast<int32_t>(n)})) {
    return portable();
  }
  Product p{
      mat1.scalar_type(),    1, m, mat1.size(1), n, mat1.const_data_ptr(), mat2.const_data_ptr(),
      out.mutable_data_ptr()};
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
    scale_and_add(walk, as_float(alpha), as_float(beta), self, out.mutable_data_ptr<float>());
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
  Product p{input.scalar_type(),     1,
            input.numel() / k,       k,
            weight.size(0),          input.const_data_ptr(),
            weight.const_data_ptr(), out.mutable_data_ptr()};
  p.b_transposed = true;
  p.col_bias = bias.has_value() ? bias->const_data_ptr() : nullptr;
  return multiply(ctx, p) == Error::Ok ? out : portable();
}

}  // namespace torch::executor::native
