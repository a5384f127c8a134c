// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/flat_tensor/flat_tensor_data_map.h>

#include <cstddef>
#include <cstdint>

#include <executorch/extension/flat_tensor/serialize/flat_tensor_generated.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_functions.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/platform/log.h>

namespace executorch::extension {

using executorch::aten::ScalarType;
using executorch::runtime::DataLoader;
using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::TensorLayout;

namespace {

bool add_overflows(uint64_t a, uint64_t b, uint64_t limit) {
  return a > limit || b > limit - a;
}

bool is_valid_type(int8_t type) {
  return type >= 0 && type < static_cast<int8_t>(ScalarType::Undefined);
}

// An absent vector is an empty one: a tensor without dimensions has neither sizes nor dim order.
template <typename T>
Span<const T> to_span(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? Span<const T>() : Span<const T>(vector->data(), vector->size());
}

Result<const TensorLayout> make_layout(const flat_tensor_flatbuffer::TensorLayout& layout) {
  const auto type = static_cast<int8_t>(layout.scalar_type());
  ET_CHECK_OR_RETURN_ERROR(is_valid_type(type), InvalidExternalData, "There is no element type %d",
                           type);
  return TensorLayout::create(to_span(layout.sizes()), to_span(layout.dim_order()),
                              static_cast<ScalarType>(type));
}

// The file's first bytes, read as a header.
Result<FlatTensorHeader> load_header(DataLoader* loader, size_t file_size) {
  ET_CHECK_OR_RETURN_ERROR(file_size >= FlatTensorHeader::kNumHeadBytes, InvalidExternalData,
                           "Expected a data file of at least %zu bytes, got %zu",
                           FlatTensorHeader::kNumHeadBytes, file_size);
  Result<FreeableBuffer> head =
      loader->load(0, FlatTensorHeader::kNumHeadBytes,
                   DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External));
  ET_CHECK_OK_OR_RETURN_ERROR(head.error());
  Result<FlatTensorHeader> header = FlatTensorHeader::Parse(head->data(), head->size());
  ET_CHECK_OR_RETURN_ERROR(header.ok(), InvalidExternalData,
                           "The file has no header of a .ptd data file");
  return header;
}

// The bytes up to the end of the flatbuffer, which is verified.
Result<FreeableBuffer> load_contents(DataLoader* loader, const FlatTensorHeader& header,
                                     size_t file_size) {
  ET_CHECK_OR_RETURN_ERROR(
      !add_overflows(header.flatbuffer_offset, header.flatbuffer_size, file_size),
      InvalidExternalData, "The table of contents ends behind the %zu bytes of the data file",
      file_size);
  Result<FreeableBuffer> contents =
      loader->load(0, static_cast<size_t>(header.flatbuffer_offset + header.flatbuffer_size),
                   DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::External));
  ET_CHECK_OK_OR_RETURN_ERROR(contents.error());
  ET_CHECK_OR_RETURN_ERROR(
      reinterpret_cast<uintptr_t>(contents->data()) % alignof(std::max_align_t) == 0,
      InvalidArgument, "Expected memory of the loader aligned to %zu bytes",
      alignof(std::max_align_t));
  ET_CHECK_OR_RETURN_ERROR(
      contents->size() >= 8 &&
          flat_tensor_flatbuffer::FlatTensorBufferHasIdentifier(contents->data()),
      InvalidExternalData, "The file is not marked as %s",
      flat_tensor_flatbuffer::FlatTensorIdentifier());
  flatbuffers::Verifier verifier(static_cast<const uint8_t*>(contents->data()), contents->size());
  ET_CHECK_OR_RETURN_ERROR(flat_tensor_flatbuffer::VerifyFlatTensorBuffer(verifier),
                           InvalidExternalData,
                           "The table of contents of the data file is corrupted");
  return contents;
}

}  // namespace

Result<FlatTensorDataMap> FlatTensorDataMap::load(DataLoader* loader) {
  ET_CHECK_OR_RETURN_ERROR(loader != nullptr, InvalidArgument, "Expected a loader, got none");
  const size_t file_size = ET_UNWRAP(loader->size());
  const FlatTensorHeader header = ET_UNWRAP(load_header(loader, file_size));
  Result<FreeableBuffer> contents = load_contents(loader, header, file_size);
  ET_CHECK_OK_OR_RETURN_ERROR(contents.error());
  const auto* flat_tensor = flat_tensor_flatbuffer::GetFlatTensor(contents->data());
  FlatTensorDataMap map(header, std::move(contents.get()), flat_tensor, loader);
  ET_CHECK_OK_OR_RETURN_ERROR(map.verify_and_index(file_size));
  return Result<FlatTensorDataMap>(std::move(map));
}

Error FlatTensorDataMap::verify_segments(size_t file_size) const {
  ET_CHECK_OR_RETURN_ERROR(
      !add_overflows(header_.segment_base_offset, header_.segment_data_size, file_size),
      InvalidExternalData, "The data ends behind the %zu bytes of the data file", file_size);
  const auto* segments = flat_tensor_->segments();
  for (uint32_t i = 0; i < segments->size(); ++i) {
    const flat_tensor_flatbuffer::DataSegment* segment = segments->Get(i);
    ET_CHECK_OR_RETURN_ERROR(
        !add_overflows(segment->offset(), segment->size(), header_.segment_data_size),
        InvalidExternalData, "Segment %u of the data file ends behind its data",
        static_cast<unsigned>(i));
  }
  return Error::Ok;
}

Error FlatTensorDataMap::verify_and_index(size_t file_size) {
  ET_CHECK_OR_RETURN_ERROR(
      flat_tensor_->segments() != nullptr && flat_tensor_->named_data() != nullptr,
      InvalidExternalData, "The data file has no list of segments or of names");
  ET_CHECK_OK_OR_RETURN_ERROR(verify_segments(file_size));
  const auto* entries = flat_tensor_->named_data();
  // Entries may share one table, which would make the index larger than the file.
  ET_CHECK_OR_RETURN_ERROR(entries->size() <= contents_.size() / sizeof(uint32_t),
                           InvalidExternalData,
                           "The data file lists more names than it has room for");
  index_.reserve(entries->size());
  for (uint32_t i = 0; i < entries->size(); ++i) {
    const flat_tensor_flatbuffer::NamedData* entry = entries->Get(i);
    ET_CHECK_OR_RETURN_ERROR(
        entry->key() != nullptr && entry->segment_index() < flat_tensor_->segments()->size(),
        InvalidExternalData, "Entry %u of the data file has no name or no data",
        static_cast<unsigned>(i));
    const std::string_view key = entry->key()->string_view();
    ET_CHECK_OR_RETURN_ERROR(
        key.find('\0') == std::string_view::npos && index_.emplace(key, i).second,
        InvalidExternalData, "Entry %u of the data file repeats the name %s or ends it early",
        static_cast<unsigned>(i), entry->key()->c_str());
    if (entry->tensor_layout() != nullptr) {
      const Result<const TensorLayout> layout = make_layout(*entry->tensor_layout());
      const uint64_t size = flat_tensor_->segments()->Get(entry->segment_index())->size();
      ET_CHECK_OR_RETURN_ERROR(
          layout.ok() && layout->nbytes() <= size, InvalidExternalData,
          "The data file's tensor %s has an impossible layout or fewer bytes than it says",
          entry->key()->c_str());
    }
  }
  return Error::Ok;
}

Result<const flat_tensor_flatbuffer::NamedData*> FlatTensorDataMap::find(
    std::string_view key) const {
  const auto found = index_.find(key);
  if (found == index_.end()) {
    return Error::NotFound;
  }
  return flat_tensor_->named_data()->Get(found->second);
}

Result<const TensorLayout> FlatTensorDataMap::get_tensor_layout(std::string_view key) const {
  const auto* entry = ET_UNWRAP(find(key));
  ET_CHECK_OR_RETURN_ERROR(entry->tensor_layout() != nullptr, NotFound,
                           "%s is a blob: it has no tensor layout", entry->key()->c_str());
  return make_layout(*entry->tensor_layout());
}

Result<FreeableBuffer> FlatTensorDataMap::get_data(std::string_view key) const {
  const auto* entry = ET_UNWRAP(find(key));
  const auto* segment = flat_tensor_->segments()->Get(entry->segment_index());
  return loader_->load(
      static_cast<size_t>(header_.segment_base_offset + segment->offset()),
      static_cast<size_t>(segment->size()),
      DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Constant, entry->segment_index()));
}

Error FlatTensorDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  const auto* entry = ET_UNWRAP(find(key));
  const auto* segment = flat_tensor_->segments()->Get(entry->segment_index());
  size_t available = static_cast<size_t>(segment->size());
  if (entry->tensor_layout() != nullptr) {
    const Result<const TensorLayout> layout = make_layout(*entry->tensor_layout());
    ET_CHECK_OK_OR_RETURN_ERROR(layout.error());
    available = layout->nbytes();
  }
  ET_CHECK_OR_RETURN_ERROR(size <= available, InvalidArgument,
                           "Expected at most %zu bytes of %s to be asked for, got %zu", available,
                           entry->key()->c_str(), size);
  return loader_->load_into(
      static_cast<size_t>(header_.segment_base_offset + segment->offset()), size,
      DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Mutable, 0), buffer);
}

Result<uint32_t> FlatTensorDataMap::get_num_keys() const {
  return flat_tensor_->named_data()->size();
}

Result<const char*> FlatTensorDataMap::get_key(uint32_t index) const {
  ET_CHECK_OR_RETURN_ERROR(index < flat_tensor_->named_data()->size(), InvalidArgument,
                           "Expected an index below %u, got %u",
                           static_cast<unsigned>(flat_tensor_->named_data()->size()),
                           static_cast<unsigned>(index));
  return flat_tensor_->named_data()->Get(index)->key()->c_str();
}

}  // namespace executorch::extension
