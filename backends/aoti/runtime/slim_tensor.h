// SPDX-License-Identifier: BSD-3-Clause
// SlimTensor: what a library of AOTInductor's calls a tensor: sizes and strides over counted
// memory. A handle of the C interface (shims.h) is a pointer to one, which its holder deletes.
#pragma once

#include <executorch/backends/aoti/runtime/device.h>
#include <executorch/runtime/backend/element_copy.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace executorch::backends::aoti {

/// Memory, its own or another's. Freed with the last tensor over it; counts are atomic.
class Storage final {
 public:
  /// Queued, as Device has it. MemoryAllocationFailed; NotFound for a device that is not here.
  static runtime::Result<std::shared_ptr<Storage>> allocate(size_t num_bytes, Place place);
  /// The caller's, which outlives all tensors over it.
  static std::shared_ptr<Storage> borrow(void* data, size_t num_bytes, Place place);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  size_t num_bytes() const { return num_bytes_; }
  Place place() const { return place_; }

 private:
  Storage(void* data, size_t num_bytes, Place place, Device* owner)
      : data_(data), num_bytes_(num_bytes), place_(place), owner_(owner) {}

  void* data_;
  size_t num_bytes_;
  Place place_;
  Device* owner_;  // null: the caller's
};

class SlimTensor final {
 public:
  using Numbers = runtime::Span<const int64_t>;
  struct Shape {
    Numbers sizes;
    Numbers strides = {};  // in elements; empty: dense, the last dimension innermost
    int64_t offset = 0;    // in elements
    executorch::aten::ScalarType dtype = executorch::aten::ScalarType::Float;
  };

  /// InvalidArgument for sizes that are negative, more than 16 dimensions, and what would reach
  /// outside of the memory.
  static runtime::Result<std::unique_ptr<SlimTensor>> over(std::shared_ptr<Storage> storage,
                                                           const Shape& shape);
  /// Over memory of its own; what is in it is not defined.
  static runtime::Result<std::unique_ptr<SlimTensor>> empty(const Shape& shape, Place place);
  /// Over the caller's memory.
  static runtime::Result<std::unique_ptr<SlimTensor>> borrow(void* data, const Shape& shape,
                                                             Place place);

  size_t dim() const { return sizes_.size(); }
  Numbers sizes() const { return {sizes_.data(), sizes_.size()}; }
  Numbers strides() const { return {strides_.data(), strides_.size()}; }
  int64_t* sizes_data() { return sizes_.data(); }
  int64_t* strides_data() { return strides_.data(); }
  int64_t offset() const { return offset_; }
  int64_t numel() const { return numel_; }
  executorch::aten::ScalarType dtype() const { return dtype_; }
  Place place() const { return storage_->place(); }
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  /// Of its first element.
  void* data() const;

  /// A view of it; of a device other than the CPU, not to be read.
  runtime::Elements elements() const;
  bool is_contiguous() const { return elements().is_row_major(); }

 private:
  SlimTensor() = default;

  std::shared_ptr<Storage> storage_;
  std::vector<int64_t> sizes_, strides_;
  int64_t offset_ = 0, numel_ = 1;
  executorch::aten::ScalarType dtype_ = executorch::aten::ScalarType::Float;
};

/// Copies all elements, between any strides and devices; on one device without a way over the host
/// when their strides are the same. InvalidArgument for another number of elements or dtype; what
/// the device says.
runtime::Error copy_tensor(const SlimTensor& from, const SlimTensor& to);

}  // namespace executorch::backends::aoti
