// SPDX-License-Identifier: BSD-3-Clause
// Dim orders: the dimensions of a tensor from the outermost to the innermost in memory, and the
// strides they stand for. Templates because tests and other tensor types use wider integers; T of
// sizes, dim order and strides are deduced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <c10/util/irange.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/util/tensor_dimension_limit.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Whether `dim_order` is 0, 1, ..., dims - 1.
template <typename DimOrderType>
inline bool is_contiguous_dim_order(const DimOrderType* dim_order, const size_t dims) {
  for (size_t i = 0; i < dims; ++i) {
    if (static_cast<size_t>(dim_order[i]) != i) {
      return false;
    }
  }
  return true;
}

/// Whether dimensions stand in memory by their places, place_of(dimension), but for those of one
/// element, which may stand anywhere.
template <typename SizesType, typename DimOrderType, typename PlaceOf>
bool is_dim_order_by(const SizesType* sizes, const DimOrderType* dim_order, const size_t dims,
                     const PlaceOf& place_of) {
  int last = -1;
  for (size_t i = 0; i < dims; ++i) {
    if (sizes[dim_order[i]] == 1) {
      continue;
    }
    const int place = static_cast<int>(place_of(dim_order[i]));
    if (place < last) {
      return false;
    }
    last = place;
  }
  return true;
}

/// Whether `dim_order` is channels last: 0, 2, 3, 1 or 0, 2, 3, 4, 1.
template <typename DimOrderType>
bool is_channels_last_dim_order(const DimOrderType* dim_order, const size_t dims) {
  if (dims != 4 && dims != 5) {
    return false;
  }
  for (size_t i = 1; i + 1 < dims; ++i) {
    if (static_cast<size_t>(dim_order[i]) != i + 1) {
      return false;
    }
  }
  return dim_order[0] == 0 && dim_order[dims - 1] == 1;
}

/// Whether `dim_order` is a permutation of 0 ... dims - 1, and dims at most kTensorDimensionLimit.
template <typename DimOrderType>
bool is_valid_dim_order(const DimOrderType* dim_order, const size_t dims) {
  if (dims > kTensorDimensionLimit) {
    return false;
  }
  uint32_t seen = 0;
  for (size_t i = 0; i < dims; ++i) {
    const size_t dim = static_cast<size_t>(dim_order[i]);
    if (dim >= dims || (seen >> dim & 1u) != 0) {
      return false;
    }
    seen |= 1u << dim;
  }
  return true;
}

/// Strides of a dense tensor; a size of 0 counts as 1. The dim order must be valid and the strides
/// fit.
template <typename SizesType, typename DimOrderType, typename StridesType>
inline void dim_order_to_stride_nocheck(const SizesType* sizes, const DimOrderType* dim_order,
                                        const size_t dims, StridesType* strides) {
  StridesType stride = 1;
  for (size_t i = dims; i-- > 0;) {
    const size_t dim = static_cast<size_t>(dim_order[i]);
    strides[dim] = stride;
    if (i > 0 && sizes[dim] != 0) {
      stride = static_cast<StridesType>(stride * sizes[dim]);
    }
  }
}

/// As above; InvalidArgument, with `strides` untouched, when the dim order is no permutation, a
/// size is negative, or a stride does not fit its type.
template <typename SizesType, typename DimOrderType, typename StridesType>
ET_NODISCARD inline Error dim_order_to_stride(const SizesType* sizes, const DimOrderType* dim_order,
                                              const size_t dims, StridesType* strides) {
  ET_CHECK_OR_RETURN_ERROR(is_valid_dim_order(dim_order, dims), InvalidArgument,
                           "dim order of %zu dimensions is not a permutation", dims);
  constexpr uint64_t kMax = static_cast<uint64_t>(std::numeric_limits<StridesType>::max());
  uint64_t stride = 1;
  for (size_t i = dims; i-- > 0;) {
    const auto size = sizes[static_cast<size_t>(dim_order[i])];
    ET_CHECK_OR_RETURN_ERROR(size >= 0, InvalidArgument, "dimension %zu has a negative size", i);
    // The outermost size is in no stride.
    if (i > 0 && size != 0) {
      ET_CHECK_OR_RETURN_ERROR(stride <= kMax / static_cast<uint64_t>(size), InvalidArgument,
                               "a stride of the tensor exceeds its integer type");
      stride *= static_cast<uint64_t>(size);
    }
  }
  dim_order_to_stride_nocheck(sizes, dim_order, dims, strides);
  return Error::Ok;
}

namespace internal {

/// A dimension and its stride; greater is the one with the larger stride.
template <typename StridesType, typename DimOrderType>
struct StrideDimOrder {
  StridesType stride;
  DimOrderType dim_order;

  StrideDimOrder() = default;
  StrideDimOrder(StridesType stride, DimOrderType dim_order)
      : stride(stride), dim_order(dim_order) {}
  bool operator>(const StrideDimOrder& other) const { return stride > other.stride; }
};

/// Sorts in descending order with the last element as the pivot. Not stable: files and callers know
/// this order of equal strides.
template <typename ValueType>
struct Sorter {
  void quick_sort(ValueType arr[], int32_t low, int32_t high) {
    if (low >= high) {
      return;
    }
    int32_t place = low;
    for (int32_t i = low; i < high; ++i) {
      if (!(arr[high] > arr[i])) {
        swap(arr[place++], arr[i]);
      }
    }
    swap(arr[place], arr[high]);
    quick_sort(arr, low, place - 1);
    quick_sort(arr, place + 1, high);
  }

 private:
  static void swap(ValueType& a, ValueType& b) {
    const ValueType held = a;
    a = b;
    b = held;
  }
};

}  // namespace internal

/// The dimensions by descending stride. Equal strides keep their order unless a smaller one is
/// jumped over: {1, 1, 2} gives {2, 1, 0}. MemoryAllocationFailed without room, NotSupported for
/// more than kTensorDimensionLimit dimensions, InvalidArgument for a stride of 0.
template <typename StridesType, typename DimOrderType>
ET_NODISCARD inline Error stride_to_dim_order(const StridesType* strides, const size_t dims,
                                              DimOrderType* dim_order) {
  ET_CHECK_OR_RETURN_ERROR(dim_order != nullptr || dims == 0, MemoryAllocationFailed,
                           "no room for a dim order of %zu dimensions", dims);
  ET_CHECK_OR_RETURN_ERROR(dims <= kTensorDimensionLimit, NotSupported,
                           "%zu dimensions, at most %zu", dims, kTensorDimensionLimit);
  using Pair = internal::StrideDimOrder<StridesType, DimOrderType>;
  Pair pairs[kTensorDimensionLimit];
  for (size_t i = 0; i < dims; ++i) {
    ET_CHECK_OR_RETURN_ERROR(strides[i] != 0, InvalidArgument, "the stride of dimension %zu is 0",
                             i);
    pairs[i] = Pair(strides[i], static_cast<DimOrderType>(i));
  }
  internal::Sorter<Pair>().quick_sort(pairs, 0, static_cast<int32_t>(dims) - 1);
  for (size_t i = 0; i < dims; ++i) {
    dim_order[i] = pairs[i].dim_order;
  }
  return Error::Ok;
}

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::dim_order_to_stride;
using ::executorch::runtime::dim_order_to_stride_nocheck;
using ::executorch::runtime::is_channels_last_dim_order;
using ::executorch::runtime::is_contiguous_dim_order;
using ::executorch::runtime::stride_to_dim_order;
}  // namespace torch::executor
