// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/named_data_map/merged_data_map.h>

#include <executorch/runtime/platform/log.h>

namespace executorch::extension::ET_MERGED_DATA_MAP_NAMESPACE {

using executorch::ET_RUNTIME_NAMESPACE::NamedDataMap;
using executorch::ET_RUNTIME_NAMESPACE::TensorLayout;
using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;
using executorch::runtime::Span;

Result<MergedDataMap> MergedDataMap::load(Span<const NamedDataMap*> named_data_maps) {
  MergedDataMap merged;
  for (const NamedDataMap* map : named_data_maps) {
    if (map != nullptr) {
      ET_CHECK_OK_OR_RETURN_ERROR(merged.add(*map));
    }
  }
  ET_CHECK_OR_RETURN_ERROR(!merged.keys_.empty(), InvalidArgument,
                           "Expected a data map with at least one key");
  return Result<MergedDataMap>(std::move(merged));
}

Error MergedDataMap::add(const NamedDataMap& map) {
  const uint32_t count = ET_UNWRAP(map.get_num_keys());
  for (uint32_t i = 0; i < count; ++i) {
    const char* key = ET_UNWRAP(map.get_key(i));
    ET_CHECK_OR_RETURN_ERROR(owner_of_.emplace(key, &map).second, InvalidArgument,
                             "%s is in more than one data file, or twice in one", key);
    keys_.push_back(key);
  }
  return Error::Ok;
}

Result<const NamedDataMap*> MergedDataMap::find(std::string_view key) const {
  const auto found = owner_of_.find(key);
  if (found == owner_of_.end()) {
    return Error::NotFound;
  }
  return found->second;
}

Result<const TensorLayout> MergedDataMap::get_tensor_layout(std::string_view key) const {
  return ET_UNWRAP(find(key))
  ->get_tensor_layout(key);
}

Result<FreeableBuffer> MergedDataMap::get_data(std::string_view key) const {
  return ET_UNWRAP(find(key))
  ->get_data(key);
}

Error MergedDataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  return ET_UNWRAP(find(key))
  ->load_data_into(key, buffer, size);
}

Result<uint32_t> MergedDataMap::get_num_keys() const {
  return static_cast<uint32_t>(keys_.size());
}

Result<const char*> MergedDataMap::get_key(uint32_t index) const {
  ET_CHECK_OR_RETURN_ERROR(index < keys_.size(), InvalidArgument,
                           "Expected an index below %zu, got %u", keys_.size(),
                           static_cast<unsigned>(index));
  return keys_[index];
}

}  // namespace executorch::extension::ET_MERGED_DATA_MAP_NAMESPACE
