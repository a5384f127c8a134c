// SPDX-License-Identifier: BSD-3-Clause
// BufferDataSink: the bytes of recorded tensors in a buffer of the user's.
#pragma once

#include <cstdint>

#include <executorch/devtools/etdump/data_sinks/data_sink_base.h>
#include <executorch/runtime/core/span.h>

namespace executorch::etdump {

class BufferDataSink final : public DataSinkBase {
 public:
  /// `buffer` is not owned and must outlive the sink. Each tensor begins at an address that is a
  /// multiple of `alignment`. InvalidArgument when `alignment` is no power of two.
  static runtime::Result<BufferDataSink> create(runtime::Span<uint8_t> buffer,
                                                size_t alignment = 64) noexcept;
  static runtime::Result<BufferDataSink> create(void* ptr, size_t size,
                                                size_t alignment = 64) noexcept;

  BufferDataSink() = default;
  BufferDataSink(const BufferDataSink&) = delete;
  BufferDataSink& operator=(const BufferDataSink&) = delete;
  BufferDataSink(BufferDataSink&&) = default;
  BufferDataSink& operator=(BufferDataSink&&) = default;
  ~BufferDataSink() override = default;

  /// OutOfResources when the buffer is too small. No bytes: the offset where the next would begin.
  runtime::Result<size_t> write(const void* ptr, size_t length) override;

  size_t get_used_bytes() const override { return used_; }

 private:
  BufferDataSink(runtime::Span<uint8_t> buffer, size_t alignment)
      : buffer_(buffer), alignment_(alignment) {}

  runtime::Span<uint8_t> buffer_{};
  size_t used_ = 0;
  size_t alignment_ = 1;
};

}  // namespace executorch::etdump
