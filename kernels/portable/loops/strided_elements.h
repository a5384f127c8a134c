// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing lines of elements (any dtype, any stride) as values of a compute type.
#pragma once

#include <cstdint>
#include <cstring>

#include <executorch/kernels/portable/loops/element_type.h>
#include <executorch/kernels/portable/loops/elementwise.h>

namespace executorch {
namespace kernels {

// The sum of term(0) ... term(n - 1), in eight lanes so that it vectorizes and rounds less.
template <typename C, typename Term>
C lane_sum(int64_t n, const Term& term) {
  constexpr int kLanes = 8;
  C lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) {
      lanes[k] += term(i + k);
    }
  }
  C sum = 0;
  for (; i < n; ++i) {
    sum += term(i);
  }
  for (int k = 0; k < kLanes; ++k) {
    sum += lanes[k];
  }
  return sum;
}

// Elements of a computable tensor read as C. Offsets and strides count elements.
template <typename C>
class StridedReader {
 public:
  explicit StridedReader(const Tensor& tensor)
      : data_(static_cast<const char*>(tensor.const_data_ptr())),
        element_size_(tensor.element_size()),
        load_(loader(tensor.scalar_type(), compute_type_v<C>)),
        direct_(is_stored_as(tensor.scalar_type(), compute_type_v<C>)) {}

  // Up to kChunk elements: the tensor's own memory when it can be, else `buffer`.
  const C* read(int64_t offset, int64_t stride, int64_t n, C* buffer) const {
    const char* from = data_ + offset * element_size_;
    if (direct_ && stride == 1) {
      return reinterpret_cast<const C*>(from);
    }
    load_(from, stride, n, buffer);
    return buffer;
  }
  // The tensor's own memory from an offset on, or null when elements have to be converted.
  const C* direct(int64_t offset) const {
    return direct_ ? reinterpret_cast<const C*>(data_) + offset : nullptr;
  }
  C at(int64_t offset) const {
    if (direct_) {
      return reinterpret_cast<const C*>(data_)[offset];
    }
    C value;
    load_(data_ + offset * element_size_, 1, 1, &value);
    return value;
  }

 private:
  const char* data_;
  int64_t element_size_;
  LoadRun load_;
  bool direct_;
};

template <typename C>
class StridedWriter {
 public:
  explicit StridedWriter(const Tensor& tensor)
      : data_(static_cast<char*>(tensor.mutable_data_ptr())),
        element_size_(tensor.element_size()),
        store_(storer(compute_type_v<C>, tensor.scalar_type())),
        direct_(is_stored_as(tensor.scalar_type(), compute_type_v<C>)) {}

  void write(int64_t offset, int64_t stride, int64_t n, const C* values) const {
    char* to = data_ + offset * element_size_;
    if (stride == 1) {
      store_(values, n, to);
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      store_(values + i, 1, to + i * stride * element_size_);
    }
  }
  void put(int64_t offset, C value) const {
    if (direct_) {
      reinterpret_cast<C*>(data_)[offset] = value;
    } else {
      store_(&value, 1, data_ + offset * element_size_);
    }
  }

 private:
  char* data_;
  int64_t element_size_;
  StoreRun store_;
  bool direct_;
};

}  // namespace kernels
}  // namespace executorch
