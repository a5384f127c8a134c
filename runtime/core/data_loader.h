// SPDX-License-Identifier: BSD-3-Clause
// DataLoader: where the bytes of a program or data file come from. Users may write their own.
#pragma once

#include <cstddef>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

namespace executorch {
namespace runtime {

/// Must outlive every Program made with it and every buffer it returned. load() and load_into() are
/// called by several threads at the same time when Programs are shared between threads.
class DataLoader {
 public:
  /// What is about to be loaded, so that a loader may choose where to put it.
  struct SegmentInfo {
    enum class Type {
      Program,   ///< The program's own data.
      Constant,  ///< Constant tensors.
      Backend,   ///< A delegate's data.
      Mutable,   ///< Initial values of mutable tensors.
      External,  ///< Named data from a data file.
    };

    SegmentInfo() = default;
    explicit SegmentInfo(Type segment_type_, size_t segment_index_ = 0,
                         const char* descriptor_ = nullptr)
        : segment_type(segment_type_), segment_index(segment_index_), descriptor(descriptor_) {}

    Type segment_type = Type::Program;
    /// Index in the program's segment list; meaningless for Type::Program.
    size_t segment_index = 0;
    /// For Type::Backend the backend's name; else null.
    const char* descriptor = nullptr;
  };

  virtual ~DataLoader() = default;

  /// `size` bytes from `offset` on. The range must lie within the data: InvalidArgument otherwise.
  ET_NODISCARD virtual Result<FreeableBuffer> load(size_t offset, size_t size,
                                                   const SegmentInfo& segment_info) const = 0;

  /// As load(), copying into `buffer` of at least `size` bytes. NotImplemented unless overridden.
  ET_NODISCARD virtual Error load_into(ET_UNUSED size_t offset, ET_UNUSED size_t size,
                                       ET_UNUSED const SegmentInfo& segment_info,
                                       ET_UNUSED void* buffer) const {
    ET_LOG(Error, "this data loader cannot load into a buffer of the caller");
    return Error::NotImplemented;
  }

  /// Bytes of the whole data.
  ET_NODISCARD virtual Result<size_t> size() const = 0;
};

}  // namespace runtime
}  // namespace executorch

// The historic spellings.
namespace torch::executor {
using ::executorch::runtime::DataLoader;
}  // namespace torch::executor
