// SPDX-License-Identifier: BSD-3-Clause
// Serves ranges of memory that someone else keeps, without copying.
#pragma once

#include <cstring>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch::extension {

// The memory must outlive the loader and every buffer loaded from it. For a program it must be
// aligned to max_align_t.
class BufferDataLoader final : public executorch::runtime::DataLoader {
 public:
  BufferDataLoader(const void* data, size_t size)
      : data_(static_cast<const uint8_t*>(data)), size_(data == nullptr ? 0 : size) {}

  // Points into the memory. InvalidArgument outside of it.
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size,
      ET_UNUSED const DataLoader::SegmentInfo& segment_info) const override {
    ET_CHECK_OK_OR_RETURN_ERROR(check(offset, size));
    return executorch::runtime::FreeableBuffer(data_ + offset, size, nullptr);
  }

  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    ET_UNUSED const SegmentInfo& segment_info,
                                                    void* buffer) const override {
    ET_CHECK_OK_OR_RETURN_ERROR(check(offset, size));
    ET_CHECK_OR_RETURN_ERROR(buffer != nullptr || size == 0, InvalidArgument,
                             "Expected a buffer for %zu bytes", size);
    if (size > 0) {
      std::memcpy(buffer, data_ + offset, size);
    }
    return executorch::runtime::Error::Ok;
  }

  ET_NODISCARD executorch::runtime::Result<size_t> size() const override { return size_; }

 private:
  executorch::runtime::Error check(size_t offset, size_t size) const {
    ET_CHECK_OR_RETURN_ERROR(
        size <= size_ && offset <= size_ - size, InvalidArgument,
        "Expected a range inside the %zu bytes of the buffer, got %zu bytes at offset %zu", size_,
        size, offset);
    return executorch::runtime::Error::Ok;
  }

  const uint8_t* const data_;
  const size_t size_;
};

}  // namespace executorch::extension

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::BufferDataLoader;
}  // namespace torch::executor::util
