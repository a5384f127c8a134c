// SPDX-License-Identifier: BSD-3-Clause
// Weights have 16 bits, and as many of them behind the point as the largest of an axis allows; each
// axis rounds its sums to bytes. PyTorch computes the same numbers.
#include <executorch/kernels/portable/resize/resize_bytes.h>

#include <algorithm>
#include <cmath>

#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/temporary.h>
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
  return static_cast<T*>(try_temporary(call, bytes, alignof(T)));
}

// Weight k of a filter, as a whole number of 2^-precision.
int16_t weight_of(const Triangle& filter, int64_t k, int precision) {
  const double weight = filter.total > 0 ? filter.weight(k) / filter.total : 0.0;
  return static_cast<int16_t>(0.5 + weight * static_cast<double>(1 << precision));
}

// The precision is known even where there is no memory for the weights.
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
  for (int64_t i = 0; i < axis.out; ++i) {
    const Triangle filter = triangle(axis, i);
    filters.taps[i] = {filter.first, filter.count, next};
    for (int64_t k = 0; k < filter.count; ++k) {
      *next++ = weight_of(filter, k, filters.precision);
    }
  }
  return true;
}

// What a filter makes of `count` bytes: weight(k) times byte(k), rounded.
template <typename Weight, typename Byte>
uint8_t filtered(int64_t count, int precision, const Weight& weight, const Byte& byte) {
  int32_t sum = precision > 0 ? 1 << (precision - 1) : 0;
  for (int64_t k = 0; k < count; ++k) {
    sum += weight(k) * byte(k);
  }
  return static_cast<uint8_t>(std::min<int32_t>(std::max<int32_t>(sum >> precision, 0), 255));
}

// The same of bytes that lie `stride` apart.
uint8_t filtered(const Tap& tap, int precision, const uint8_t* from, int64_t stride) {
  const uint8_t* at = from + tap.first * stride;
  return filtered(
      tap.count, precision, [&](int64_t k) { return tap.weights[k]; },
      [&](int64_t k) { return at[k * stride]; });
}

// Calls body(bytes of a plane, where they go).
template <typename Body>
void for_each_plane(const StridedView& from, const StridedView& to, const Body& body) {
  for (int64_t plane = 0; plane < to.sizes[0] * to.sizes[1]; ++plane) {
    const int64_t n = plane / to.sizes[1], c = plane % to.sizes[1];
    body(reinterpret_cast<const uint8_t*>(from.data) + n * from.strides[0] + c * from.strides[1],
         reinterpret_cast<uint8_t*>(to.data) + n * to.strides[0] + c * to.strides[1]);
  }
}

// Without memory: weights are computed, and rows filtered across, wherever they are needed.
void resize_in_place(const StridedView& from, const StridedView& to, const Axis& rows,
                     const Axis& columns, int down, int across) {
  for_each_plane(from, to, [&](const uint8_t* source, uint8_t* result) {
    for (int64_t row = 0; row < rows.out; ++row) {
      const Triangle vertical = triangle(rows, row);
      for (int64_t i = 0; i < columns.out; ++i) {
        const Triangle horizontal = triangle(columns, i);
        const uint8_t* const corner =
            source + vertical.first * from.strides[2] + horizontal.first * from.strides[3];
        const auto across_row = [&](int64_t k) {
          const uint8_t* const line = corner + k * from.strides[2];
          return filtered(
              horizontal.count, across, [&](int64_t m) { return weight_of(horizontal, m, across); },
              [&](int64_t m) { return line[m * from.strides[3]]; });
        };
        result[row * to.strides[2] + i * to.strides[3]] = filtered(
            vertical.count, down, [&](int64_t k) { return weight_of(vertical, k, down); },
            across_row);
      }
    }
  });
}

}  // namespace

void resize_bytes(const OpCall& call, const Tensor& in, const Axis& rows, const Axis& columns,
                  const Tensor& out) {
  Filters down{};
  Filters across{};
  const StridedView from = StridedView::of(in);
  const StridedView to = StridedView::of(out);
  const bool has_rows = make_filters(call, rows, down);
  const bool has_columns = make_filters(call, columns, across);
  uint8_t* const wide =
      has_rows && has_columns ? allocate<uint8_t>(call, rows.in * columns.out) : nullptr;
  if (wide == nullptr) {
    return resize_in_place(from, to, rows, columns, down.precision, across.precision);
  }
  const int64_t grain = std::max<int64_t>(1, (1 << 12) / columns.out);
  const auto for_each_row = [&](int64_t count, const auto& body) {
    ::executorch::extension::parallel_for(0, count, grain, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        body(row);
      }
    });
  };
  for_each_plane(from, to, [&](const uint8_t* source, uint8_t* result) {
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
  });
}

}  // namespace kernels
}  // namespace executorch
