// SPDX-License-Identifier: BSD-3-Clause
// Elements of tensors and of a library's arrays, copied from one to the other: in any order of
// dimensions, with gaps, and of another dtype.
//
//   Elements array = Elements::row_major(memory, ScalarType::Int, tensor.sizes());
//   ET_CHECK_OK_OR_RETURN_ERROR(
//       copy_elements("MyBackend: input 0", Elements::of(tensor), array));
//
// Functions here are inline, so that a program without backends has nothing of them; they use no
// heap and keep no state.
#pragma once

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/dtype_dispatch.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// Memory of others. Strides are in elements; sizes are not negative.
struct Elements {
  void* data = nullptr;
  executorch::aten::ScalarType dtype = executorch::aten::ScalarType::Float;
  size_t rank = 0;
  int64_t sizes[runtime::kTensorDimensionLimit] = {};
  int64_t strides[runtime::kTensorDimensionLimit] = {};

  /// Dense, the last dimension innermost. At most kTensorDimensionLimit sizes.
  template <typename Sizes>
  static Elements row_major(void* data, executorch::aten::ScalarType dtype, const Sizes& sizes) {
    Elements made;
    made.data = data;
    made.dtype = dtype;
    made.rank = std::min<size_t>(sizes.size(), runtime::kTensorDimensionLimit);
    int64_t stride = 1;
    for (size_t i = made.rank; i > 0; --i) {
      made.sizes[i - 1] = static_cast<int64_t>(sizes[i - 1]);
      made.strides[i - 1] = stride;
      stride *= made.sizes[i - 1];
    }
    return made;
  }

  /// Of a tensor: its strides, or those that its dim order says if it was made without.
  static Elements of(const executorch::aten::Tensor& tensor) {
    Elements made =
        row_major(const_cast<void*>(tensor.const_data_ptr()), tensor.scalar_type(), tensor.sizes());
    if (tensor.strides().size() == made.rank) {
      std::copy(tensor.strides().begin(), tensor.strides().end(), made.strides);
      return made;
    }
    runtime::internal::DimOrderRoom room;
    const auto order = runtime::internal::dim_order_of(tensor, room);
    int64_t stride = 1;
    for (size_t i = order.size(); i > 0; --i) {
      const size_t dim = static_cast<size_t>(order[i - 1]) % runtime::kTensorDimensionLimit;
      made.strides[dim] = stride;
      stride *= made.sizes[dim];
    }
    return made;
  }

  size_t numel() const {
    size_t count = 1;
    for (size_t i = 0; i < rank; ++i) {
      count *= static_cast<size_t>(sizes[i]);
    }
    return count;
  }
  size_t nbytes() const { return numel() * runtime::elementSize(dtype); }

  /// Whether both are the same elements of the same memory.
  bool is_same_memory(const Elements& other) const {
    return data == other.data && dtype == other.dtype && rank == other.rank &&
           std::equal(sizes, sizes + rank, other.sizes) &&
           std::equal(strides, strides + rank, other.strides);
  }

  /// Whether it is as row_major() would make it; dimensions of one element have any stride.
  bool is_row_major() const {
    int64_t expected = 1;
    for (size_t i = rank; i > 0 && numel() > 0; --i) {
      if (sizes[i - 1] != 1 && strides[i - 1] != expected) {
        return false;
      }
      expected *= sizes[i - 1];
    }
    return true;
  }
};

/// Whether elements may become those of another dtype. No number is cut: copy_elements() refuses
/// one that the other dtype does not hold, but for the digits of floating point. Bool is whether an
/// element is not zero.
inline bool can_convert(executorch::aten::ScalarType from, executorch::aten::ScalarType to) {
  const auto is_known = [](executorch::aten::ScalarType dtype) {
    return runtime::dispatch_real_hb_bf16(dtype, [](auto) {});
  };
  return from == to || (is_known(from) && is_known(to));
}

namespace internal {

template <typename T>
constexpr bool kIsReduced =
    std::is_same_v<T, executorch::aten::Half> || std::is_same_v<T, executorch::aten::BFloat16>;
template <typename T>
constexpr bool kIsFloating = std::is_floating_point_v<T> || kIsReduced<T>;

/// False for a number that the integers of `To` do not have.
template <typename To, typename From>
bool convert_element(From value, To& out) {
  if constexpr (std::is_same_v<To, From>) {
    out = value;
  } else if constexpr (kIsReduced<From>) {
    return convert_element(static_cast<float>(value), out);
  } else if constexpr (std::is_same_v<To, bool>) {
    out = value != From{};
  } else if constexpr (kIsReduced<To>) {
    out = static_cast<To>(static_cast<float>(value));
  } else if constexpr (kIsFloating<To>) {
    out = static_cast<To>(value);
  } else if constexpr (kIsFloating<From>) {
    // Limits are powers of two, which floating point holds.
    constexpr auto kMin = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From kEnd = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;
    const bool is_held = value >= kMin && value < kEnd && value == std::trunc(value);
    out = is_held ? static_cast<To>(value) : To{};
    return is_held;
  } else {
    const auto wide = static_cast<int64_t>(value);
    out = static_cast<To>(value);
    return wide >= int64_t{std::numeric_limits<To>::min()} &&
           wide <= int64_t{std::numeric_limits<To>::max()};
  }
  return true;
}

/// What is in memory of a bool may be any byte.
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;

/// The number of the first element that is not held, or `count`.
template <typename From, typename To>
size_t copy_row(const Stored<From>* from, int64_t from_step, To* to, int64_t to_step,
                size_t count) {
  if constexpr (std::is_same_v<From, To>) {
    if (from_step == 1 && to_step == 1) {
      std::memcpy(to, from, count * sizeof(To));
      return count;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int64_t>(i);
    if (!convert_element(static_cast<From>(from[at * from_step]), to[at * to_step])) {
      return i;
    }
  }
  return count;
}

/// Both with the dimensions merged that are one in both memories; of equal sizes.
inline void merge_dimensions(Elements& one, Elements& other) {
  size_t rank = 0;
  for (size_t dim = 0; dim < one.rank; ++dim) {
    const int64_t size = one.sizes[dim];
    if (size == 1) {
      continue;
    }
    const bool is_one = rank > 0 && one.strides[rank - 1] == size * one.strides[dim] &&
                        other.strides[rank - 1] == size * other.strides[dim];
    rank += is_one ? 0 : 1;
    for (Elements* each : {&one, &other}) {
      each->sizes[rank - 1] = is_one ? each->sizes[rank - 1] * size : size;
      each->strides[rank - 1] = each->strides[dim];
    }
  }
  one.rank = rank;
  other.rank = rank;
}

template <typename From>
Error not_held(const char* where, size_t element, size_t num_bits, From found) {
  if constexpr (std::is_integral_v<From>) {
    ET_LOG(Error, "%s, element %zu: expected a number of %zu bits, found %" PRId64, where, element,
           num_bits, static_cast<int64_t>(found));
  } else if constexpr (kIsFloating<From>) {
    ET_LOG(Error, "%s, element %zu: expected a whole number of %zu bits, found %g", where, element,
           num_bits, static_cast<double>(static_cast<float>(found)));
  }
  return Error::InvalidArgument;
}

template <typename From, typename To>
Error copy_as(const char* where, const Elements& from, const Elements& to) {
  const auto* source = static_cast<const Stored<From>*>(from.data);
  auto* target = static_cast<To*>(to.data);
  const size_t last = from.rank > 0 ? from.rank - 1 : 0;
  const size_t row = from.rank > 0 ? static_cast<size_t>(from.sizes[last]) : 1;
  int64_t index[runtime::kTensorDimensionLimit] = {};
  for (size_t done = 0; done < from.numel(); done += row) {
    const size_t copied = copy_row<From>(source, from.strides[last], target, to.strides[last], row);
    if (copied != row) {
      return not_held(where, done + copied, sizeof(To) * 8,
                      source[static_cast<int64_t>(copied) * from.strides[last]]);
    }
    for (size_t dim = last; dim-- > 0;) {
      source += from.strides[dim];
      target += to.strides[dim];
      if (++index[dim] < from.sizes[dim]) {
        break;
      }
      source -= index[dim] * from.strides[dim];
      target -= index[dim] * to.strides[dim];
      index[dim] = 0;
    }
  }
  return Error::Ok;
}

}  // namespace internal

/// `where`: of what, for messages. InvalidArgument for other sizes, for dtypes that have no others
/// (can_convert()), and for a number that the integers of the other dtype do not have. Memory must
/// not overlap.
inline Error copy_elements(const char* where, Elements from, Elements to) {
  ET_CHECK_OR_RETURN_ERROR(
      from.rank == to.rank && std::equal(from.sizes, from.sizes + from.rank, to.sizes),
      InvalidArgument, "%s: expected %zu elements of %zu dimensions, found %zu of %zu", where,
      to.numel(), to.rank, from.numel(), from.rank);
  ET_CHECK_OR_RETURN_ERROR(can_convert(from.dtype, to.dtype), InvalidArgument,
                           "%s: expected a dtype that becomes %s, found %s", where,
                           runtime::toString(to.dtype), runtime::toString(from.dtype));
  if (from.numel() == 0) {
    return Error::Ok;
  }
  internal::merge_dimensions(from, to);
  Error error = Error::NotSupported;  // a dtype that this build leaves out
  if (from.dtype == to.dtype) {
    runtime::dispatch_by_element_size(from.dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      error = internal::copy_as<T, T>(where, from, to);
    });
    return error;
  }
  runtime::dispatch_real_hb_bf16(from.dtype, [&](auto from_tag) {
    runtime::dispatch_real_hb_bf16(to.dtype, [&](auto to_tag) {
      error = internal::copy_as<typename decltype(from_tag)::type, typename decltype(to_tag)::type>(
          where, from, to);
    });
  });
  return error;
}

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
