// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/custom_ops/op_update_cache.h>

#include <algorithm>
#include <cstring>

#include <executorch/extension/llm/custom_ops/cache_rows.h>
#include <executorch/kernels/optimized/convert.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch::extension::llm {

using aten::ScalarType;
using aten::Tensor;
using kernels::is_row_major;
using kernels::OpCall;
using kernels::ShapeText;
using runtime::Error;

namespace {

constexpr int64_t kBytesPerTask = 256 * 1024;

// Whether values are rounded on their way into the cache.
bool narrows(const Tensor& value, const Tensor& cache) {
  return value.scalar_type() == ScalarType::Float &&
         kernels::optimized::is_narrow_float(cache.scalar_type());
}

// value and cache as [batch][rows][elements of a row].
struct CacheRows {
  int64_t batch, rows, capacity, row;
  const Tensor& value;
  const Tensor& cache;

  CacheRows(const Tensor& value_tensor, const Tensor& cache_tensor)
      : batch(value_tensor.size(0)),
        rows(value_tensor.size(1)),
        capacity(cache_tensor.size(1)),
        row(value_tensor.size(2) * value_tensor.size(3)),
        value(value_tensor),
        cache(cache_tensor) {}

  // `count` elements from `from` of the value to `to` of the cache.
  void copy(int64_t from, int64_t to, int64_t count) const {
    const auto size = static_cast<int64_t>(value.element_size());
    const auto* source = static_cast<const uint8_t*>(value.const_data_ptr()) + from * size;
    auto* target = static_cast<uint8_t*>(cache.mutable_data_ptr()) +
                   to * static_cast<int64_t>(cache.element_size());
    if (narrows(value, cache)) {
      kernels::optimized::narrow(cache.scalar_type(), reinterpret_cast<const float*>(source),
                                 target, count);
    } else {
      std::memcpy(target, source, static_cast<size_t>(count * size));
    }
  }
};

bool check_pair(const OpCall& call, const Tensor& value, const Tensor& cache) {
  if (!check_rank(call, "value", value, 4) || !check_rank(call, "cache", cache, 4)) {
    return false;
  }
  const bool fits = value.size(0) == cache.size(0) && value.size(2) == cache.size(2) &&
                    value.size(3) == cache.size(3);
  ET_KERNEL_CHECK_MSG(call.ctx, fits, InvalidArgument, false,
                      "%s: expected value and cache of the same batch, heads and depth, found %s "
                      "and %s",
                      call.op, ShapeText(value).text, ShapeText(cache).text);
  ET_KERNEL_CHECK_MSG(
      call.ctx, value.element_size() == cache.element_size() || narrows(value, cache),
      InvalidArgument, false,
      "%s: expected value and cache with elements of one size, or Float and Half or BFloat16, "
      "found "
      "%s and %s",
      call.op, runtime::toString(value.scalar_type()), runtime::toString(cache.scalar_type()));
  ET_KERNEL_CHECK_MSG(call.ctx, is_row_major(value) && is_row_major(cache), InvalidArgument, false,
                      "%s: expected value and cache in row-major order, found another", call.op);
  return true;
}

bool check_indices(const OpCall& call, const Tensor& value, const Tensor& cache,
                   const Tensor& indices) {
  if (!check_dtype(call, "indices", indices, ScalarType::Long) ||
      !check_rank(call, "indices", indices, 2)) {
    return false;
  }
  const bool fits = indices.size(0) == value.size(0) && indices.size(1) == value.size(1);
  ET_KERNEL_CHECK_MSG(call.ctx, fits && is_row_major(indices), InvalidArgument, false,
                      "%s: expected row-major indices [%lld, %lld], found %s", call.op,
                      static_cast<long long>(value.size(0)), static_cast<long long>(value.size(1)),
                      ShapeText(indices).text);
  const auto* rows = indices.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < static_cast<int64_t>(indices.numel()); ++i) {
    ET_KERNEL_CHECK_MSG(call.ctx, rows[i] >= 0 && rows[i] < cache.size(1), InvalidArgument, false,
                        "%s: expected indices in [0, %lld), found %lld", call.op,
                        static_cast<long long>(cache.size(1)), static_cast<long long>(rows[i]));
  }
  return true;
}

}  // namespace

bool check_cache_rows(const OpCall& call, const Tensor& value, const Tensor& cache, int64_t start) {
  if (!check_pair(call, value, cache)) {
    return false;
  }
  const int64_t rows = value.size(1), capacity = cache.size(1);
  ET_KERNEL_CHECK_MSG(call.ctx, start >= 0 && start < capacity && rows <= capacity - start,
                      InvalidArgument, false,
                      "%s: expected %lld rows from start_pos within the cache's %lld, found "
                      "start_pos %lld",
                      call.op, static_cast<long long>(rows), static_cast<long long>(capacity),
                      static_cast<long long>(start));
  return true;
}

void write_cache_rows(const Tensor& value, const Tensor& cache, int64_t start) {
  const CacheRows r(value, cache);
  const int64_t count = r.rows * r.row;
  if (count == 0) {
    return;
  }
  // Pieces of a batch's rows, which lie side by side.
  const int64_t piece = kBytesPerTask / static_cast<int64_t>(value.element_size());
  const int64_t pieces = (count - 1) / piece + 1;
  parallel_for(0, r.batch * pieces, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t batch = i / pieces, from = i % pieces * piece;
      r.copy(batch * count + from, (batch * r.capacity + start) * r.row + from,
             std::min(piece, count - from));
    }
  });
}

}  // namespace executorch::extension::llm

namespace torch::executor::native {

namespace llm = ::executorch::extension::llm;
using ::executorch::kernels::OpCall;

Tensor& update_cache_out(RuntimeContext& ctx, const Tensor& value, Tensor& cache,
                         const int64_t start_pos, Tensor& output) {
  if (llm::check_cache_rows({ctx, "update_cache.out"}, value, cache, start_pos)) {
    llm::write_cache_rows(value, cache, start_pos);
  }
  return output;
}

Tensor& update_cache_with_indices_out(RuntimeContext& ctx, const Tensor& value, Tensor& cache,
                                      const int64_t start_pos, const Tensor& indices,
                                      Tensor& output) {
  const OpCall call{ctx, "update_cache_with_indices.out"};
  ET_KERNEL_CHECK_MSG(ctx, start_pos >= 0, InvalidArgument, output,
                      "%s: expected start_pos of 0 or more, found %lld", call.op,
                      static_cast<long long>(start_pos));
  if (!llm::check_pair(call, value, cache) || !llm::check_indices(call, value, cache, indices)) {
    return output;
  }
  const llm::CacheRows r(value, cache);
  const auto* rows = indices.const_data_ptr<int64_t>();
  for (int64_t i = 0; r.row > 0 && i < r.batch * r.rows; ++i) {
    r.copy(i * r.row, (i / r.rows * r.capacity + rows[i]) * r.row, r.row);
  }
  return output;
}

}  // namespace torch::executor::native
