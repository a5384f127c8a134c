// SPDX-License-Identifier: BSD-3-Clause
// Named blobs of a program file, and the union of them with a user's data map, as delegates see
// them.
#pragma once

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

// Forward declarations, so that this header needs no generated code.
namespace executorch_flatbuffer {
struct DataSegment;
struct NamedData;
}  // namespace executorch_flatbuffer

namespace flatbuffers {
template <typename T>
struct Offset;
template <typename T, typename SizeT>
class Vector;
using FlatbufferNamedData = Vector<Offset<executorch_flatbuffer::NamedData>, uint32_t>;
using FlatbufferDataSegment = Vector<Offset<executorch_flatbuffer::DataSegment>, uint32_t>;
}  // namespace flatbuffers

namespace executorch::runtime::internal {

// The named data of one program. Borrows the loader and the program data. Safe for concurrent use.
class PteDataMap final : public NamedDataMap {
 public:
  // Neither list may be null.
  PteDataMap(DataLoader* loader, size_t segment_base_offset,
             const flatbuffers::FlatbufferNamedData* named_data,
             const flatbuffers::FlatbufferDataSegment* segments)
      : loader_(loader),
        segment_base_offset_(segment_base_offset),
        named_data_(named_data),
        segments_(segments) {}

  // InvalidArgument for a null.
  static Result<PteDataMap> create(DataLoader* loader, size_t segment_base_offset,
                                   const flatbuffers::FlatbufferNamedData* named_data,
                                   const flatbuffers::FlatbufferDataSegment* segments) {
    ET_CHECK_OR_RETURN_ERROR(loader != nullptr && named_data != nullptr && segments != nullptr,
                             InvalidArgument, "expected a loader, named data and segments");
    return PteDataMap(loader, segment_base_offset, named_data, segments);
  }

  // Program files do not store layouts: always NotImplemented.
  ET_NODISCARD Result<const TensorLayout> get_tensor_layout(std::string_view key) const override;

  // Loads the whole segment of the key. NotFound if there is no such key, else what the loader
  // returns.
  ET_NODISCARD Result<FreeableBuffer> get_data(std::string_view key) const override;

  // Always NotImplemented.
  ET_NODISCARD Error load_data_into(std::string_view key, void* buffer, size_t size) const override;

  ET_NODISCARD Result<uint32_t> get_num_keys() const override;

  // Valid as long as the program. InvalidArgument if index is out of range.
  ET_NODISCARD Result<const char*> get_key(uint32_t index) const override;

 private:
  DataLoader* loader_;
  size_t segment_base_offset_;
  const flatbuffers::FlatbufferNamedData* named_data_;
  const flatbuffers::FlatbufferDataSegment* segments_;
};

// Looks a key up in `first`, then in `second`. Borrows both, which must not be null.
class MergedDataMap final : public NamedDataMap {
 public:
  MergedDataMap(const NamedDataMap* first, const NamedDataMap* second)
      : first_(first), second_(second) {}

  // As the constructor, but InvalidArgument for a null and for a key that both have.
  static Result<MergedDataMap> load(const NamedDataMap* first, const NamedDataMap* second);

  ET_NODISCARD Result<const TensorLayout> get_tensor_layout(std::string_view key) const override;
  ET_NODISCARD Result<FreeableBuffer> get_data(std::string_view key) const override;

  // Always NotImplemented.
  ET_NODISCARD Error load_data_into(std::string_view key, void* buffer, size_t size) const override;

  ET_NODISCARD Result<uint32_t> get_num_keys() const override;

  // Keys of `first` come before those of `second`.
  ET_NODISCARD Result<const char*> get_key(uint32_t index) const override;

 private:
  const NamedDataMap* first_;
  const NamedDataMap* second_;
};

}  // namespace executorch::runtime::internal
