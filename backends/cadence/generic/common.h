// SPDX-License-Identifier: BSD-3-Clause
// What kernels ask of their tensors before they write, and how they store.
#pragma once

#include <cmath>
#include <limits>

#include <executorch/runtime/kernel/kernel_includes.h>

namespace executorch::backends::cadence {

// A kernel's first line: fails with InvalidArgument, a text of what was expected, and `out` as it
// is.
#define CADENCE_CHECK(condition, ...) \
  ET_KERNEL_CHECK_MSG(context, condition, InvalidArgument, out, __VA_ARGS__)

using aten::ScalarType;
using aten::Tensor;
using runtime::KernelRuntimeContext;

inline bool is_contiguous(const Tensor& tensor) {
  const auto rank = static_cast<size_t>(tensor.dim());
  return runtime::is_contiguous_dim_order(tensor.dim_order().data(), rank);
}

inline bool take_size(Tensor& out, aten::ArrayRef<aten::SizesType> sizes) {
  return runtime::resize_tensor(out, sizes) == runtime::Error::Ok && is_contiguous(out);
}

// value * factor in steps from `zero_point`, ties to even, within the limits; NaN is the least.
struct Storing {
  float factor, zero_point, least, largest;

  template <typename T>
  T operator()(float value) const {
    const float steps = std::nearbyint(value * factor) + zero_point;
    const float bounded = steps < largest ? steps : largest;
    return static_cast<T>(bounded > least ? bounded : least);
  }

  // All values of a dtype.
  template <typename T>
  static Storing whole(float factor, int64_t zero_point) {
    return {factor, static_cast<float>(zero_point), std::numeric_limits<T>::min(),
            std::numeric_limits<T>::max()};
  }
};

// multiplier * 2^(shift - 31).
inline float scale_of(int64_t multiplier, int64_t shift) {
  return static_cast<float>(
      std::ldexp(static_cast<double>(multiplier), static_cast<int>(shift) - 31));
}

// Calls `run` with a value of the type of the dtype; false of a dtype that kernels have not.
template <typename Run>
bool with_stored_type(ScalarType dtype, Run&& run) {
  switch (dtype) {
    case ScalarType::Char:
      run(int8_t{});
      return true;
    case ScalarType::Byte:
      run(uint8_t{});
      return true;
    case ScalarType::Short:
      run(int16_t{});
      return true;
    default:
      return false;
  }
}

}  // namespace executorch::backends::cadence
