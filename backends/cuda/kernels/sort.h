// SPDX-License-Identifier: BSD-3-Clause
// A stable sort by merging runs, as one thread of a GPU does its share: each pass doubles the
// length of the runs, and each element finds its place by a search in the run beside its own.
#pragma once

#include <executorch/backends/cuda/kernels/plain_matmul.h>

namespace executorch::backends::cuda {

/// Rows of `length` elements that are `inner` apart. Places are null in the first pass, in which
/// each element is a run.
struct SortPass {
  const void* in_values;
  const int64_t* in_places;
  void* out_values;
  int64_t* out_places;
  int64_t rows, length, inner, run;
  bool is_descending;
};

inline constexpr int kSortThreads = 256;

/// How an element of a dtype is stored and compared.
template <typename T>
struct Plain {
  using Stored = T;
  CUDA_KERNEL_FN static T key(T value) { return value; }
};
struct Half {
  using Stored = uint16_t;
  CUDA_KERNEL_FN static float key(uint16_t bits) { return float_of_float16(bits); }
};
struct BFloat16 {
  using Stored = uint16_t;
  CUDA_KERNEL_FN static float key(uint16_t bits) { return float_of_bfloat16(bits); }
};

// clang-format off: it does not settle on lines here
// name in the kernel, PyTorch's number of the dtype, type
#define CUDA_SORT_TYPES(X)   \
  X(u8, 0, Plain<uint8_t>)   \
  X(i8, 1, Plain<int8_t>)    \
  X(i16, 2, Plain<int16_t>)  \
  X(i32, 3, Plain<int32_t>)  \
  X(i64, 4, Plain<int64_t>)  \
  X(f16, 5, Half)            \
  X(f32, 6, Plain<float>)    \
  X(f64, 7, Plain<double>)   \
  X(bool, 11, Plain<uint8_t>) \
  X(bf16, 15, BFloat16)
// clang-format on

/// NaN is greater than all numbers, as PyTorch has it.
template <typename Key>
CUDA_KERNEL_FN bool is_less(Key a, Key b) {
  return a < b || (b != b && a == a);
}

/// Moves the element of thread `index`.
template <typename Type>
CUDA_KERNEL_FN void merge_element(const SortPass& a, int64_t index) {
  if (index >= a.rows * a.length) {
    return;
  }
  const auto* values = static_cast<const typename Type::Stored*>(a.in_values);
  const int64_t row = index / a.length, i = index % a.length,
                base = row / a.inner * a.length * a.inner + row % a.inner;
  const auto key_at = [&](int64_t at) { return Type::key(values[base + at * a.inner]); };
  const int64_t start = i / (2 * a.run) * (2 * a.run),
                middle = start + a.run < a.length ? start + a.run : a.length,
                end = start + 2 * a.run < a.length ? start + 2 * a.run : a.length;
  const bool is_left = i < middle;
  const auto own = key_at(i);
  // Of the other run, those that come first: of equal ones the left run's.
  int64_t low = is_left ? middle : start, high = is_left ? end : middle;
  const int64_t other = low;
  while (low < high) {
    const int64_t probe = low + (high - low) / 2;
    const auto key = key_at(probe);
    const bool is_before = a.is_descending ? is_less(own, key) : is_less(key, own);
    const bool is_behind = a.is_descending ? is_less(key, own) : is_less(own, key);
    if (is_left ? is_before : !is_behind) {
      low = probe + 1;
    } else {
      high = probe;
    }
  }
  const int64_t place = base + ((is_left ? i : start + i - middle) + low - other) * a.inner;
  static_cast<typename Type::Stored*>(a.out_values)[place] = values[base + i * a.inner];
  a.out_places[place] = a.in_places == nullptr ? i : a.in_places[base + i * a.inner];
}

}  // namespace executorch::backends::cuda
