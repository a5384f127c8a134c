// SPDX-License-Identifier: BSD-3-Clause
// Several data maps as one.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>
#include <executorch/runtime/core/tensor_layout.h>

#define ET_MERGED_DATA_MAP_NAMESPACE ET_MODE_NAMESPACE(merged_data_map)

namespace executorch::extension::ET_MERGED_DATA_MAP_NAMESPACE {

// Borrows the maps, which must outlive it. Finds a key in constant time, however many maps there
// are.
class MergedDataMap final : public executorch::ET_RUNTIME_NAMESPACE::NamedDataMap {
 public:
  // Maps that are null or empty count for nothing. InvalidArgument if all are, or if a key is in
  // two of them.
  static executorch::runtime::Result<MergedDataMap> load(
      executorch::runtime::Span<const executorch::ET_RUNTIME_NAMESPACE::NamedDataMap*>
          named_data_maps);

  // Each: NotFound if no map has the key, else what the map returns.
  ET_NODISCARD executorch::runtime::Result<const executorch::ET_RUNTIME_NAMESPACE::TensorLayout>
  get_tensor_layout(std::string_view key) const override;
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> get_data(
      std::string_view key) const override;
  ET_NODISCARD executorch::runtime::Error load_data_into(std::string_view key, void* buffer,
                                                         size_t size) const override;

  ET_NODISCARD executorch::runtime::Result<uint32_t> get_num_keys() const override;

  // In the order of the maps, and of the keys in them.
  ET_NODISCARD executorch::runtime::Result<const char*> get_key(uint32_t index) const override;

  MergedDataMap(MergedDataMap&&) noexcept = default;
  ~MergedDataMap() override = default;

 private:
  using Map = executorch::ET_RUNTIME_NAMESPACE::NamedDataMap;

  MergedDataMap() = default;

  executorch::runtime::Error add(const Map& map);
  executorch::runtime::Result<const Map*> find(std::string_view key) const;

  std::vector<const char*> keys_;
  std::unordered_map<std::string_view, const Map*> owner_of_;
};

}  // namespace executorch::extension::ET_MERGED_DATA_MAP_NAMESPACE

namespace executorch::extension {
using ET_MERGED_DATA_MAP_NAMESPACE::MergedDataMap;
}  // namespace executorch::extension
