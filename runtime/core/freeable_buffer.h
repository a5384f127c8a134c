// SPDX-License-Identifier: BSD-3-Clause
// FreeableBuffer: bytes that can be given back early.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>

#include <cstddef>
#include <cstdint>

namespace executorch {
namespace runtime {

/// Holds `size` bytes at `data` and a function that releases them, called once: by Free() or by the destructor. Move-only. Data may be
/// named by a 64-bit address that is no pointer of this process (a device's); such a buffer has data_uint64_type() only.
class FreeableBuffer final {
 public:
  using FreeFn = void (*)(void* context, void* data, size_t size);
  using FreeUInt64Fn = void (*)(void* context, uint64_t data_uint64, size_t size);

  FreeableBuffer() = default;

  FreeableBuffer(
      const void* data, size_t size, FreeFn free_fn, void* free_fn_context = nullptr)
      : data_(data), size_(size), free_fn_(free_fn), context_(free_fn_context) {}

  explicit FreeableBuffer(
      const uint64_t data_uint64,
      size_t size,
      FreeUInt64Fn free_fn,
      void* free_fn_context = nullptr)
      : address_(data_uint64),
        is_address_(true),
        size_(size),
        free_address_fn_(free_fn),
        context_(free_fn_context) {}

  FreeableBuffer(FreeableBuffer&& rhs) noexcept
      : data_(rhs.data_),
        address_(rhs.address_),
        is_address_(rhs.is_address_),
        size_(rhs.size_),
        free_fn_(rhs.free_fn_),
        free_address_fn_(rhs.free_address_fn_),
        context_(rhs.context_) {
    rhs.forget();
  }

  ~FreeableBuffer() {
    Free();
  }

  FreeableBuffer(const FreeableBuffer&) = delete;
  FreeableBuffer& operator=(const FreeableBuffer&) = delete;
  FreeableBuffer& operator=(FreeableBuffer&&) noexcept = delete;

  /// Releases the bytes now; harmless when already released.
  void Free() {
    if (is_address_ && free_address_fn_ != nullptr && address_ != 0) {
      free_address_fn_(context_, address_, size_);
    } else if (!is_address_ && free_fn_ != nullptr && data_ != nullptr) {
      free_fn_(context_, const_cast<void*>(data_), size_);
    }
    forget();
  }

  size_t size() const {
    return size_;
  }

  /// The bytes, or null after Free(). The buffer must hold a pointer.
  const void* data() const {
    ET_CHECK_MSG(!is_address_, "the buffer holds a 64-bit address, not a pointer");
    return data_;
  }

  Result<const void*> data_safe() const {
    ET_CHECK_OR_RETURN_ERROR(
        !is_address_, InvalidType, "expected a pointer, found a 64-bit address");
    return data_;
  }

  Result<uint64_t> data_uint64_type() const {
    ET_CHECK_OR_RETURN_ERROR(
        is_address_, InvalidType, "expected a 64-bit address, found a pointer");
    return address_;
  }

 private:
  void forget() {
    data_ = nullptr;
    address_ = 0;
    size_ = 0;
    free_fn_ = nullptr;
    free_address_fn_ = nullptr;
  }

  const void* data_ = nullptr;
  uint64_t address_ = 0;
  bool is_address_ = false;
  size_t size_ = 0;
  FreeFn free_fn_ = nullptr;
  FreeUInt64Fn free_address_fn_ = nullptr;
  void* context_ = nullptr;
};

} // namespace runtime
} // namespace executorch
