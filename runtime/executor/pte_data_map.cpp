// SPDX-License-Identifier: BSD-3-Clause
// Named data of a program, alone and merged with a user's data map.
#include <executorch/runtime/executor/pte_data_map.h>

#include <cinttypes>

#include <executorch/runtime/platform/log.h>
#include <executorch/schema/program_generated.h>

namespace executorch::runtime::internal {

Result<const TensorLayout> PteDataMap::get_tensor_layout(std::string_view) const {
  return Error::NotImplemented;
}

Error PteDataMap::load_data_into(std::string_view, void*, size_t) const {
  return Error::NotImplemented;
}

Result<FreeableBuffer> PteDataMap::get_data(std::string_view key) const {
  for (uint32_t i = 0; i < named_data_->size(); ++i) {
    const executorch_flatbuffer::NamedData* entry = named_data_->Get(i);
    if (entry->key() == nullptr || key != entry->key()->c_str()) {
      continue;
    }
    const uint32_t index = entry->segment_index();
    ET_CHECK_OR_RETURN_ERROR(index < segments_->size(), InvalidArgument,
                             "Named data %" PRIu32 " is in segment %" PRIu32 " of %" PRIu32, i,
                             static_cast<uint32_t>(index),
                             static_cast<uint32_t>(segments_->size()));
    const executorch_flatbuffer::DataSegment* segment = segments_->Get(index);
    return loader_->load(segment_base_offset_ + segment->offset(), segment->size(),
                         DataLoader::SegmentInfo(DataLoader::SegmentInfo::Type::Constant, index));
  }
  return Error::NotFound;
}

Result<uint32_t> PteDataMap::get_num_keys() const {
  return named_data_->size();
}

Result<const char*> PteDataMap::get_key(uint32_t index) const {
  ET_CHECK_OR_RETURN_ERROR(index < named_data_->size() && named_data_->Get(index)->key() != nullptr,
                           InvalidArgument, "Named data %" PRIu32 " of %" PRIu32 " does not exist",
                           static_cast<uint32_t>(index),
                           static_cast<uint32_t>(named_data_->size()));
  return named_data_->Get(index)->key()->c_str();
}

Result<const TensorLayout> MergedDataMap::get_tensor_layout(std::string_view key) const {
  Result<const TensorLayout> layout = first_->get_tensor_layout(key);
  if (layout.error() == Error::NotFound) {
    return second_->get_tensor_layout(key);
  }
  return layout;
}

Result<FreeableBuffer> MergedDataMap::get_data(std::string_view key) const {
  Result<FreeableBuffer> data = first_->get_data(key);
  if (data.error() == Error::NotFound) {
    return second_->get_data(key);
  }
  return data;
}

Error MergedDataMap::load_data_into(std::string_view, void*, size_t) const {
  return Error::NotImplemented;
}

Result<uint32_t> MergedDataMap::get_num_keys() const {
  const uint32_t first = ET_UNWRAP(first_->get_num_keys());
  const uint32_t second = ET_UNWRAP(second_->get_num_keys());
  return first + second;
}

Result<const char*> MergedDataMap::get_key(uint32_t index) const {
  const uint32_t first = ET_UNWRAP(first_->get_num_keys());
  return index < first ? first_->get_key(index) : second_->get_key(index - first);
}

Result<MergedDataMap> MergedDataMap::load(const NamedDataMap* first, const NamedDataMap* second) {
  ET_CHECK_OR_RETURN_ERROR(first != nullptr && second != nullptr, InvalidArgument,
                           "expected two maps of named data");
  const uint32_t num_keys = ET_UNWRAP(first->get_num_keys());
  for (uint32_t i = 0; i < num_keys; ++i) {
    const char* const key = ET_UNWRAP(first->get_key(i));
    const Error error = second->get_tensor_layout(key).error();
    ET_CHECK_OR_RETURN_ERROR(error == Error::NotFound || error == Error::NotImplemented,
                             InvalidArgument, "both maps have the key %s", key);
  }
  return MergedDataMap(first, second);
}

}  // namespace executorch::runtime::internal
