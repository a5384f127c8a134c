// SPDX-License-Identifier: BSD-3-Clause
// DataLoader: where the bytes of a file come from.
#pragma once

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>

#include <cstddef>

namespace executorch {
namespace runtime {

/// Reads ranges of one file or buffer. Implementations must allow load() and load_into() from several threads at once, and check every
/// range (offset + size may be anything). A DataLoader must outlive the Program and everything loaded from it.
class DataLoader {
 public:
  /// What a range is for; loaders may place different kinds in different memory.
  struct SegmentInfo {
    enum class Type {
      Program, // the flatbuffer
      Constant, // constant tensors or named data
      Backend, // a delegate's payload; `descriptor` is the backend's id
      Mutable, // initial state of mutable tensors
      External, // tensors of a data file
    };

    Type segment_type;
    /// Index in the file's list of segments; meaningless for Program.
    size_t segment_index;
    const char* descriptor;

    SegmentInfo() = default;
    explicit SegmentInfo(
        Type segment_type_, size_t segment_index_ = 0, const char* descriptor_ = nullptr)
        : segment_type(segment_type_),
          segment_index(segment_index_),
          descriptor(descriptor_) {}
  };

  virtual ~DataLoader() = default;

  /// Bytes [offset, offset + size), owned by the returned buffer.
  ET_NODISCARD virtual Result<FreeableBuffer> load(
      size_t offset, size_t size, const SegmentInfo& segment_info) const = 0;

  /// Copies bytes [offset, offset + size) to `buffer`, which has room for them.
  ET_NODISCARD virtual Error load_into(
      size_t offset, size_t size, const SegmentInfo& segment_info, void* buffer) const {
    (void)offset;
    (void)size;
    (void)segment_info;
    (void)buffer;
    ET_LOG(Error, "this DataLoader has no load_into()");
    return Error::NotImplemented;
  }

  /// Bytes in the whole file.
  ET_NODISCARD virtual Result<size_t> size() const = 0;
};

} // namespace runtime
} // namespace executorch
