// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/custom_ops/op_fast_hadamard_transform.h>

#include <algorithm>

#include <executorch/extension/llm/custom_ops/spinquant/fast_hadamard_transform.h>
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

constexpr int64_t kOrder = ::executorch::internal::kHadamardOrder;

template <typename T>
void transform(T* row, int64_t size, int64_t outer) {
  int log2 = 0;
  while (outer << log2 < size) {
    ++log2;
  }
  if (outer == kOrder) {
    ::executorch::fast_hadamard_transform_28N(row, log2);
  } else {
    ::executorch::fast_hadamard_transform(row, log2);
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
