// SPDX-License-Identifier: BSD-3-Clause
// Weights have 16 bits, and as many of them behind the point as the largest of an axis allows; each
// axis rounds its sums to bytes. PyTorch computes the same numbers.
#include <executorch/kernels/portable/resize/resize_bytes.h>

#include <algorithm>
#include <cmath>

#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace executorch {
namespace kernels {

namespace {

struct Tap {
  int64_t first;
  int64_t count;
  const int16_t* weights;
};

// The filters of all positions of an axis.
struct Filters {
  Tap* taps;
  int precision;  // bits behind the point
};

int precision_of(double largest) {
  int bits = 0;
  while (bits < 22 && static_cast<int>(0.5 + largest * (1 << (bits + 1))) < (1 << 15)) {
    ++bits;
  }
  return bits;
}

template <typename T>
T* allocate(const OpCall& call, int64_t count) {
  const size_t bytes = static_cast<size_t>(std::max<int64_t>(count, 1)) * sizeof(T);
  const auto memory = call.ctx.allocate_temp(bytes, alignof(T));
  ET_KERNEL_CHECK_MSG(call.ctx, memory.ok(), MemoryAllocationFailed, nullptr,
                      "%s: no temporary memory for %zu bytes of a resized image", call.op, bytes);
  return static_cast<T*>(memory.get());
}

bool make_filters(const OpCall& call, const Axis& axis, Filters& filters) {
  int64_t weights = 0;
  double largest = 0;
  for (int64_t i = 0; i < axis.out; ++i) {
    const Triangle filter = triangle(axis, i);
    weights += filter.count;
    for (int64_t k = 0; k < filter.count && filter.total > 0; ++k) {
      largest = std::max(largest, filter.weight(k) / filter.total);
    }
  }
  filters.precision = precision_of(largest);
  filters.taps = allocate<Tap>(call, axis.out);
  int16_t* next = filters.taps == nullptr ? nullptr : allocate<int16_t>(call, weights);
  if (next == nullptr) {
    return false;
  }
  const double one = static_cast<double>(1 << filters.precision);
  for (int64_t i = 0; i < axis.out; ++i) {
    const Triangle filter = triangle(axis, i);
    filters.taps[i] = {filter.first, filter.count, next};
    for (int64_t k = 0; k < filter.count; ++k) {
      const double weight = filter.total > 0 ? filter.weight(k) / filter.total : 0.0;
      *next++ = static_cast<int16_t>(0.5 + weight * one);
    }
  }
  return true;
}

// What the filter makes of the bytes that lie `stride` apart.
uint8_t filtered(const Tap& tap, int precision, const uint8_t* from, int64_t stride) {
  int32_t sum = precision > 0 ? 1 << (precision - 1) : 0;
  const uint8_t* at = from + tap.first * stride;
  for (int64_t k = 0; k < tap.count; ++k) {
    sum += tap.weights[k] * at[k * stride];
  }
  return static_cast<uint8_t>(std::min<int32_t>(std::max<int32_t>(sum >> precision, 0), 255));
}

}  // namespace

bool resize_bytes(const OpCall& call, const Tensor& in, const Axis& rows, const Axis& columns,
                  const Tensor& out) {
  Filters down{};
  Filters across{};
  if (!make_filters(call, rows, down) || !make_filters(call, columns, across)) {
    return false;
  }
  uint8_t* const wide = allocate<uint8_t>(call, rows.in * columns.out);
  if (wide == nullptr) {
    return false;
  }
  const StridedView from = StridedView::of(in);
  const StridedView to = StridedView::of(out);
  const int64_t grain = std::max<int64_t>(1, (1 << 12) / columns.out);
  const auto for_each_row = [&](int64_t count, const auto& body) {
    ::executorch::extension::parallel_for(0, count, grain, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        body(row);
      }
    });
  };
  for (int64_t plane = 0; plane < to.sizes[0] * to.sizes[1]; ++plane) {
    const int64_t n = plane / to.sizes[1], c = plane % to.sizes[1];
    const auto* source =
        reinterpret_cast<const uint8_t*>(from.data) + n * from.strides[0] + c * from.strides[1];
    auto* result = reinterpret_cast<uint8_t*>(to.data) + n * to.strides[0] + c * to.strides[1];
    for_each_row(rows.in, [&](int64_t row) {
      for (int64_t i = 0; i < columns.out; ++i) {
        wide[row * columns.out + i] = filtered(across.taps[i], across.precision,
                                               source + row * from.strides[2], from.strides[3]);
      }
    });
    for_each_row(rows.out, [&](int64_t row) {
      for (int64_t i = 0; i < columns.out; ++i) {
        result[row * to.strides[2] + i * to.strides[3]] =
            filtered(down.taps[row], down.precision, wide + i, columns.out);
      }
    });
  }
  return true;
}

}  // namespace kernels
}  // namespace executorch
