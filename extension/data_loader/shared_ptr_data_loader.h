// SPDX-License-Identifier: BSD-3-Clause
// Serves ranges of shared memory, without copying, and keeps the memory alive as long as the loader
// lives.
#pragma once

#include <memory>

#include <executorch/extension/data_loader/buffer_data_loader.h>

namespace executorch::extension {

// Buffers loaded from it must not outlive the last owner of the memory.
class SharedPtrDataLoader final : public executorch::runtime::DataLoader {
 public:
  SharedPtrDataLoader(std::shared_ptr<void> data, size_t size)
      : data_(std::move(data)), view_(data_.get(), size) {}

  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size,
      ET_UNUSED const DataLoader::SegmentInfo& segment_info) const override {
    return view_.load(offset, size, segment_info);
  }

  ET_NODISCARD executorch::runtime::Error load_into(size_t offset, size_t size,
                                                    ET_UNUSED const SegmentInfo& segment_info,
                                                    void* buffer) const override {
    return view_.load_into(offset, size, segment_info, buffer);
  }

  ET_NODISCARD executorch::runtime::Result<size_t> size() const override { return view_.size(); }

 private:
  const std::shared_ptr<void> data_;
  const BufferDataLoader view_;
};

}  // namespace executorch::extension

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::SharedPtrDataLoader;
}  // namespace torch::executor::util
