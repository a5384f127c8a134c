// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/custom_ops/op_fast_hadamard_transform.h>

#include <algorithm>
#include <cmath>

#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/temporary.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

namespace {

using ::executorch::aten::ScalarType;
using ::executorch::kernels::is_row_major;
using ::executorch::kernels::OpCall;
using ::executorch::kernels::Shape;
using ::executorch::kernels::Temporary;

// The matrix of order 28: a row each, the highest of 28 bits is column 0, a set bit is +1.
constexpr int kOrder = 28;
constexpr uint32_t kMatrix[kOrder] = {
    0x818694c, 0x41c14a6, 0x20e2a13, 0x1071549, 0x0838ae4, 0x041e532, 0x030d299,
    0x3d019d2, 0x1e82ca9, 0x8e43654, 0xc621b2a, 0xe210d95, 0xf00a6ca, 0x7807325,
    0x5b3201e, 0xac9900f, 0x564c847, 0xab24463, 0xd590271, 0x6ac8178, 0xb4640bc,
    0x66b70c0, 0xb35b820, 0xd8adc10, 0x6d54e08, 0x37a8704, 0x9ad4382, 0xcd6a181};

// In place, of a power of two.
template <typename T>
void transform_line(T* line, int64_t size) {
  for (int64_t step = 1; step < size; step *= 2) {
    for (int64_t i = 0; i < size; i += 2 * step) {
      T* low = line + i;
      T* high = low + step;
      for (int64_t j = 0; j < step; ++j) {
        const T sum = low[j] + high[j];
        high[j] = low[j] - high[j];
        low[j] = sum;
      }
    }
  }
  const T norm = static_cast<T>(1.0 / std::sqrt(static_cast<double>(size)));
  for (int64_t i = 0; i < size; ++i) {
    line[i] *= norm;
  }
}

// Each column of [28][size], in blocks that stay in the first-level cache.
template <typename T>
void mix_columns(T* lines, int64_t size) {
  constexpr int64_t kBlock = 32;
  T mixed[kOrder][kBlock];
  for (int64_t at = 0; at < size; at += kBlock) {
    const int64_t n = std::min(kBlock, size - at);
    for (int row = 0; row < kOrder; ++row) {
      std::fill_n(mixed[row], n, T(0));
      for (int col = 0; col < kOrder; ++col) {
        const T sign = (kMatrix[row] >> (kOrder - 1 - col) & 1) != 0 ? T(1) : T(-1);
        const T* from = lines + col * size + at;
        for (int64_t j = 0; j < n; ++j) {
          mixed[row][j] += sign * from[j];
        }
      }
    }
    for (int row = 0; row < kOrder; ++row) {
      std::copy_n(mixed[row], n, lines + row * size + at);
    }
  }
}

template <typename T>
void transform(T* row, int64_t size, int64_t outer) {
  const int64_t inner = size / outer;
  for (int64_t i = 0; i < outer; ++i) {
    transform_line(row + i * inner, inner);
  }
  if (outer == kOrder) {
    mix_columns(row, inner);
  }
}

template <typename T>
void transform_rows(const Tensor& mat, Tensor& out, int64_t size, int64_t outer) {
  const int64_t rows = mat.numel() / size;
  const T* from = mat.const_data_ptr<T>();
  T* to = out.mutable_data_ptr<T>();
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 14) / size);
  ::executorch::extension::parallel_for(0, rows, grain, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      if (from != to) {
        std::copy_n(from + row * size, size, to + row * size);
      }
      transform(to + row * size, size, outer);
    }
  });
}

// By way of f32.
Tensor& transform_half(const OpCall& call, const Tensor& mat, Tensor& out, int64_t size,
                       int64_t outer) {
  Temporary temporary;
  auto* const row = static_cast<float*>(
      temporary.allocate(call, static_cast<size_t>(size) * sizeof(float), alignof(float)));
  if (row == nullptr) {
    return out;
  }
  const auto* from = static_cast<const uint16_t*>(mat.const_data_ptr());
  auto* to = static_cast<uint16_t*>(out.mutable_data_ptr());
  for (int64_t at = 0; at < static_cast<int64_t>(mat.numel()); at += size) {
    ::executorch::kernels::optimized::widen(ScalarType::Half, from + at, row, size);
    transform(row, size, outer);
    ::executorch::kernels::optimized::narrow(ScalarType::Half, row, to + at, size);
  }
  return out;
}

}  // namespace

Tensor& fast_hadamard_transform_out(RuntimeContext& ctx, const Tensor& mat, Tensor& out) {
  const OpCall call{ctx, "fast_hadamard_transform.out"};
  const ScalarType type = mat.scalar_type();
  ET_KERNEL_CHECK_MSG(
      ctx, type == ScalarType::Float || type == ScalarType::Double || type == ScalarType::Half,
      InvalidArgument, out, "%s: expected mat of Float, Double or Half, found %s", call.op,
      ::executorch::runtime::toString(type));
  if (!check_dtype(call, "out", out, type) || !resize_output(call, out, Shape(mat))) {
    return out;
  }
  if (mat.dim() == 0 || mat.numel() == 0) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, is_row_major(mat) && is_row_major(out), InvalidArgument, out,
                      "%s: expected mat and out in row-major order, found another", call.op);
  const int64_t size = mat.size(mat.dim() - 1);
  const int64_t outer = size % kOrder == 0 ? kOrder : 1;
  const int64_t inner = size / outer;
  ET_KERNEL_CHECK_MSG(ctx, (inner & (inner - 1)) == 0, InvalidArgument, out,
                      "%s: expected 2^k or 28 * 2^k elements in the last dimension of mat, found "
                      "%lld",
                      call.op, static_cast<long long>(size));
  if (type == ScalarType::Half) {
    return transform_half(call, mat, out, size, outer);
  }
  if (type == ScalarType::Double) {
    transform_rows<double>(mat, out, size, outer);
  } else {
    transform_rows<float>(mat, out, size, outer);
  }
  return out;
}

}  // namespace torch::executor::native
