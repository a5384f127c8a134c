// SPDX-License-Identifier: BSD-3-Clause
// FreeableBuffer: read-only bytes with a function that gives them back.
#pragma once

#include <cstddef>
#include <cstdint>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Owns access to `size` bytes until Free() or destruction, which call the free function once.
/// Movable; a moved-from buffer is empty, of the same kind. Besides a pointer the data may be a
/// 64-bit integer, for memory of another processor or a file handle that does not fit a pointer.
class FreeableBuffer final {
 public:
  using FreeFn = void (*)(void* context, void* data, size_t size);
  using FreeUInt64Fn = void (*)(void* context, uint64_t data, size_t size);

  FreeableBuffer() = default;
  /// `free_fn` may be null: nothing to give back. `free_fn_context` is passed to it.
  FreeableBuffer(const void* data, size_t size, FreeFn free_fn, void* free_fn_context = nullptr)
      : free_fn_(free_fn), free_fn_context_(free_fn_context), data_(data), size_(size) {}
  explicit FreeableBuffer(const uint64_t data_uint64, size_t size, FreeUInt64Fn free_fn,
                          void* free_fn_context = nullptr)
      : free_uint64_fn_(free_fn),
        free_fn_context_(free_fn_context),
        data_uint64_(data_uint64),
        size_(size),
        is_uint64_(true) {}

  FreeableBuffer(FreeableBuffer&& rhs) noexcept { take(rhs); }
  FreeableBuffer& operator=(FreeableBuffer&& rhs) noexcept {
    if (this != &rhs) {
      Free();
      take(rhs);
    }
    return *this;
  }
  FreeableBuffer(const FreeableBuffer&) = delete;
  FreeableBuffer& operator=(const FreeableBuffer&) = delete;
  ~FreeableBuffer() { Free(); }

  /// Gives the data back unless it is null (or 0); the buffer is empty afterwards. Calling it again
  /// has no effect.
  void Free() {
    if (is_uint64_) {
      if (data_uint64_ != 0 && free_uint64_fn_ != nullptr) {
        free_uint64_fn_(free_fn_context_, data_uint64_, size_);
      }
    } else if (data_ != nullptr && free_fn_ != nullptr) {
      free_fn_(free_fn_context_, const_cast<void*>(data_), size_);
    }
    clear();
  }

  /// Bytes; 0 after Free().
  size_t size() const { return size_; }

  /// The bytes, null after Free(). The buffer must hold a pointer.
  const void* data() const {
    ET_CHECK_MSG(!is_uint64_, "the buffer holds a 64-bit integer, not a pointer");
    return data_;
  }
  /// As data(), but InvalidType when the buffer holds an integer.
  Result<const void*> data_safe() const {
    ET_CHECK_OR_RETURN_ERROR(!is_uint64_, InvalidType,
                             "the buffer holds a 64-bit integer, not a pointer");
    return data_;
  }
  /// The integer; InvalidType when the buffer holds a pointer.
  Result<uint64_t> data_uint64_type() const {
    ET_CHECK_OR_RETURN_ERROR(is_uint64_, InvalidType,
                             "the buffer holds a pointer, not a 64-bit integer");
    return data_uint64_;
  }

 private:
  void take(FreeableBuffer& rhs) {
    is_uint64_ = rhs.is_uint64_;
    if (is_uint64_) {
      free_uint64_fn_ = rhs.free_uint64_fn_;
      data_uint64_ = rhs.data_uint64_;
    } else {
      free_fn_ = rhs.free_fn_;
      data_ = rhs.data_;
    }
    free_fn_context_ = rhs.free_fn_context_;
    size_ = rhs.size_;
    rhs.clear();
  }
  // No data any more, of the same kind.
  void clear() {
    if (is_uint64_) {
      data_uint64_ = 0;
    } else {
      data_ = nullptr;
    }
    size_ = 0;
  }

  union {
    FreeFn free_fn_ = nullptr;
    FreeUInt64Fn free_uint64_fn_;
  };
  void* free_fn_context_ = nullptr;
  union {
    const void* data_ = nullptr;
    uint64_t data_uint64_;
  };
  size_t size_ = 0;
  bool is_uint64_ = false;
};

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::FreeableBuffer;
}  // namespace torch::executor
