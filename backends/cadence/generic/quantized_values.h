// SPDX-License-Identifier: BSD-3-Clause
// What kernels ask of their tensors before they write, and how they read and store values.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include <executorch/runtime/kernel/kernel_includes.h>

namespace executorch::backends::cadence {

// A kernel's first line: fails with InvalidArgument, a text of what was expected, and `out` as it
// is.
#define CADENCE_CHECK(condition, ...) \
  ET_KERNEL_CHECK_MSG(context, condition, InvalidArgument, out, __VA_ARGS__)

using aten::ArrayRef;
using aten::ScalarType;
using aten::SizesType;
using aten::Tensor;
using runtime::KernelRuntimeContext;
using runtime::kTensorDimensionLimit;

// Dimensions of size 1 may stand anywhere: they move nothing.
inline bool is_contiguous(const Tensor& tensor) {
  return runtime::is_dim_order_by(tensor.sizes().data(), tensor.dim_order().data(),
                                  static_cast<size_t>(tensor.dim()),
                                  [](uint8_t dimension) { return dimension; });
}

inline bool take_size(Tensor& out, ArrayRef<SizesType> sizes) {
  return runtime::resize_tensor(out, sizes) == runtime::Error::Ok && is_contiguous(out);
}

inline bool take_size_of(Tensor& out, const Tensor& other) {
  return is_contiguous(other) && take_size(out, other.sizes());
}

// Sizes of a result, as they are worked out.
struct Sizes {
  SizesType values[kTensorDimensionLimit];
  size_t count = 0;

  void add(int64_t size) { values[count++] = static_cast<SizesType>(size); }
  void add_leading(const Tensor& tensor, ssize_t rank) {
    for (ssize_t i = 0; i < rank; ++i) {
      add(tensor.size(i));
    }
  }
  bool take(Tensor& out) const { return take_size(out, {values, count}); }
};

inline int32_t int32(int64_t value) {
  return static_cast<int32_t>(value);
}

// value * factor in steps from `zero_point`, ties to even, within the limits; NaN is the least.
// Limits are double: float has not those of int32.
struct Quantizer {
  float factor, zero_point;
  double least, largest;

  template <typename T>
  T operator()(float value) const {
    const double steps = std::nearbyint(value * factor) + zero_point;
    const double bounded = steps < largest ? steps : largest;
    return static_cast<T>(bounded > least ? bounded : least);
  }

  // All values of a dtype.
  template <typename T>
  static Quantizer of_factor(float factor, int64_t zero_point) {
    return {factor, static_cast<float>(zero_point), std::numeric_limits<T>::min(),
            std::numeric_limits<T>::max()};
  }
  template <typename T>
  static Quantizer of_scale(double scale, int64_t zero_point) {
    return of_factor<T>(1.0f / static_cast<float>(scale), zero_point);
  }
};

// What stored values stand for.
struct Scaled {
  float scale;
  int64_t zero_point;

  template <typename T>
  float operator()(T stored) const {
    return static_cast<float>(stored - zero_point) * scale;
  }
};

// multiplier * 2^(shift - 31).
inline float scale_of(int64_t multiplier, int64_t shift) {
  return static_cast<float>(
      std::ldexp(static_cast<double>(multiplier), static_cast<int>(shift) - 31));
}

// ---- Numbers that come as tensors: one for all, or one for each place ----

inline bool is_integers(const Tensor& tensor) {
  const ScalarType dtype = tensor.scalar_type();
  return dtype == ScalarType::Int || dtype == ScalarType::Long || dtype == ScalarType::Char ||
         dtype == ScalarType::Byte || dtype == ScalarType::Short;
}

inline bool has_integers(const Tensor& tensor, ssize_t count) {
  return is_integers(tensor) && (tensor.numel() == 1 || tensor.numel() == count);
}

inline bool has_number(const Tensor& tensor) {
  return tensor.scalar_type() == ScalarType::Float && tensor.numel() >= 1;
}

inline int64_t integer_at(const Tensor& tensor, ssize_t place) {
  const ssize_t i = tensor.numel() == 1 ? 0 : place;
  switch (tensor.scalar_type()) {
    case ScalarType::Int:
      return tensor.const_data_ptr<int32_t>()[i];
    case ScalarType::Long:
      return tensor.const_data_ptr<int64_t>()[i];
    case ScalarType::Short:
      return tensor.const_data_ptr<int16_t>()[i];
    case ScalarType::Byte:
      return tensor.const_data_ptr<uint8_t>()[i];
    default:
      return tensor.const_data_ptr<int8_t>()[i];
  }
}

inline float number_of(const Tensor& tensor) {
  return tensor.const_data_ptr<float>()[0];
}

// ---- Types ----

// Calls `run` with a value of the type of the dtype; false of a dtype that kernels have not.
template <typename Run>
bool with_integer_type(ScalarType dtype, Run&& run) {
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

// Also of those that only quantizing has.
template <typename Run>
bool with_wide_type(ScalarType dtype, Run&& run) {
  switch (dtype) {
    case ScalarType::UInt16:
      run(uint16_t{});
      return true;
    case ScalarType::Int:
      run(int32_t{});
      return true;
    default:
      return with_integer_type(dtype, run);
  }
}

// Of an input and its weights, which have its dtype, or are int8 beside int16.
template <typename Run>
bool with_types_of_weights(const Tensor& input, const Tensor& weight, Run&& run) {
  if (input.scalar_type() == ScalarType::Short && weight.scalar_type() == ScalarType::Char) {
    run(int16_t{}, int8_t{});
    return true;
  }
  return input.scalar_type() == weight.scalar_type() &&
         with_integer_type(input.scalar_type(), [&](auto type) { run(type, type); });
}

}  // namespace executorch::backends::cadence
