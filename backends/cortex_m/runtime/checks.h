// SPDX-License-Identifier: BSD-3-Clause
// What kernels ask of their tensors before they write, and images as they see them.
#pragma once

#include <executorch/runtime/kernel/kernel_includes.h>

namespace executorch::backends::cortex_m {

// A kernel's first line: fails with InvalidArgument, a text of what was expected, and `out` as it
// is.
#define CORTEX_M_CHECK(condition, ...) \
  ET_KERNEL_CHECK_MSG(context, condition, InvalidArgument, out, __VA_ARGS__)

using aten::ScalarType;
using aten::Tensor;
using runtime::KernelRuntimeContext;

inline bool is_int8(const Tensor& tensor) {
  return tensor.scalar_type() == ScalarType::Char;
}

// An image in memory: pixels in rows, the channels of a pixel side by side.
struct Image {
  int32_t batch = 0, height = 0, width = 0, channels = 0;

  explicit Image(const Tensor& tensor)
      : batch(static_cast<int32_t>(tensor.size(0))),
        height(static_cast<int32_t>(tensor.size(2))),
        width(static_cast<int32_t>(tensor.size(3))),
        channels(static_cast<int32_t>(tensor.size(1))) {}

  int32_t pixel(int32_t image, int32_t row, int32_t column) const {
    return ((image * height + row) * width + column) * channels;
  }
};

// Whether it is int8 with four dimensions, the channels last in memory; dimensions of one element
// may stand anywhere in the dim order.
inline bool is_image(const Tensor& tensor) {
  if (!is_int8(tensor) || tensor.dim() != 4) {
    return false;
  }
  constexpr int kPlaces[4] = {0, 3, 1, 2};
  return runtime::is_dim_order_by(tensor.sizes().data(), tensor.dim_order().data(), 4,
                                  [&](uint8_t dimension) { return kPlaces[dimension]; });
}

inline bool is_contiguous(const Tensor& tensor) {
  const auto rank = static_cast<size_t>(tensor.dim());
  return runtime::is_contiguous_dim_order(tensor.dim_order().data(), rank);
}

// Whether the same element of two tensors of one size lies at the same place: dimensions of one
// element may stand anywhere in the dim order.
inline bool have_same_dim_order(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim()) {
    return false;
  }
  const auto rank = static_cast<size_t>(a.dim());
  const auto next = [rank](const Tensor& tensor, size_t place) {
    while (place < rank && tensor.size(static_cast<ssize_t>(tensor.dim_order()[place])) == 1) {
      ++place;
    }
    return place;
  };
  size_t i = next(a, 0), j = next(b, 0);
  for (; i < rank && j < rank; i = next(a, i + 1), j = next(b, j + 1)) {
    if (a.dim_order()[i] != b.dim_order()[j]) {
      return false;
    }
  }
  return i >= rank && j >= rank;
}

// Whether results may be limited to them.
inline bool are_limits(int64_t least, int64_t largest) {
  return -128 <= least && least <= largest && largest <= 127;
}

inline bool is_offset(int64_t offset) {
  return -128 <= offset && offset <= 128;
}

// What stands in brackets behind a name of two dimensions: height and width.
struct Pair {
  int32_t height = 0, width = 0;

  explicit Pair(aten::ArrayRef<int64_t> values)
      : height(static_cast<int32_t>(values[0])), width(static_cast<int32_t>(values[1])) {}
};

// Whether there are two numbers, none of them below `least` or beyond 32767.
inline bool is_pair(aten::ArrayRef<int64_t> values, int64_t least) {
  return values.size() == 2 && values[0] >= least && values[1] >= least && values[0] < 32768 &&
         values[1] < 32768;
}

}  // namespace executorch::backends::cortex_m
