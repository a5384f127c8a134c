// SPDX-License-Identifier: BSD-3-Clause
// A data loader over memory that counts what is read and still held, and can be told to fail.
#pragma once

#include <atomic>
#include <cstring>

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/executor/test/program_builder.h>

namespace executorch::runtime::testing {

// Borrows the file. Counters may be read at any time.
class MemoryLoader final : public DataLoader {
 public:
  explicit MemoryLoader(const AlignedFile& file) : file_(file) {}

  Result<FreeableBuffer> load(size_t offset, size_t size,
                              const SegmentInfo& /*info*/) const override {
    const Error error = start(offset, size);
    if (error != Error::Ok) {
      return error;
    }
    ++num_held;
    return FreeableBuffer(
        file_.data() + offset, size,
        [](void* context, void*, size_t) { --static_cast<const MemoryLoader*>(context)->num_held; },
        const_cast<MemoryLoader*>(this));
  }

  Error load_into(size_t offset, size_t size, const SegmentInfo& /*info*/,
                  void* buffer) const override {
    const Error error = start(offset, size);
    if (error == Error::Ok && size > 0) {
      std::memcpy(buffer, file_.data() + offset, size);
    }
    return error;
  }

  Result<size_t> size() const override { return file_.size(); }

  mutable std::atomic<int> num_held{0};
  mutable std::atomic<int> num_loads{0};
  mutable std::atomic<size_t> bytes_read{0};
  // The load with this number, counted from 0, fails.
  int failing_load = -1;

 private:
  Error start(size_t offset, size_t size) const {
    if (num_loads++ == failing_load) {
      return Error::AccessFailed;
    }
    if (offset > file_.size() || size > file_.size() - offset) {
      return Error::InvalidArgument;
    }
    bytes_read += size;
    return Error::Ok;
  }

  const AlignedFile& file_;
};

}  // namespace executorch::runtime::testing
