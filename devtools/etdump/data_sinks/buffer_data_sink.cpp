// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/devtools/etdump/data_sinks/buffer_data_sink.h>

#include <cstring>

#include <executorch/runtime/platform/log.h>

namespace executorch::etdump {

using runtime::Error;
using runtime::Result;
using runtime::Span;

Result<BufferDataSink> BufferDataSink::create(Span<uint8_t> buffer, size_t alignment) noexcept {
  ET_CHECK_OR_RETURN_ERROR(alignment > 0 && (alignment & (alignment - 1)) == 0, InvalidArgument,
                           "expected an alignment that is a power of two, got %zu", alignment);
  return BufferDataSink(buffer, alignment);
}

Result<BufferDataSink> BufferDataSink::create(void* ptr, size_t size, size_t alignment) noexcept {
  return create(Span<uint8_t>(static_cast<uint8_t*>(ptr), size), alignment);
}

Result<size_t> BufferDataSink::write(const void* ptr, size_t length) {
  if (length == 0) {
    return used_;
  }
  const auto address = reinterpret_cast<uintptr_t>(buffer_.data()) + used_;
  const size_t gap = static_cast<size_t>((alignment_ - address % alignment_) % alignment_);
  const size_t left = buffer_.size() - used_;
  if (gap > left || length > left - gap) {
    ET_LOG(Debug, "The debug buffer of %zu bytes has %zu left; a tensor needs %zu", buffer_.size(),
           left, length);
    return Error::OutOfResources;
  }
  std::memset(buffer_.data() + used_, 0, gap);
  std::memcpy(buffer_.data() + used_ + gap, ptr, length);
  const size_t offset = used_ + gap;
  used_ = offset + length;
  return offset;
}

}  // namespace executorch::etdump
