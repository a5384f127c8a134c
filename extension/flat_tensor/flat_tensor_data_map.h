// SPDX-License-Identifier: BSD-3-Clause
// The tensors and blobs of a .ptd data file, by name.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include <executorch/extension/flat_tensor/serialize/flat_tensor_header.h>
#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/tensor_layout.h>

namespace flat_tensor_flatbuffer {
struct FlatTensor;
struct NamedData;
}  // namespace flat_tensor_flatbuffer

namespace executorch::extension {

// Everything in the table of contents is verified when the file is loaded; data is read when it is
// asked for. Immutable and safe for concurrent use. Keys and layouts point into the map.
class FlatTensorDataMap final : public executorch::ET_RUNTIME_NAMESPACE::NamedDataMap {
 public:
  // The loader must outlive the map.
  //   InvalidExternalData  not a data file, or corrupted: the message says where
  //   InvalidArgument      the loader's memory is not aligned to max_align_t
  //   else                 what the loader returns
  static executorch::runtime::Result<FlatTensorDataMap> load(
      executorch::runtime::DataLoader* loader);

  // NotFound if there is no such key or what it names is no tensor.
  ET_NODISCARD executorch::runtime::Result<const executorch::ET_RUNTIME_NAMESPACE::TensorLayout>
  get_tensor_layout(std::string_view key) const override;

  // NotFound if there is no such key.
  ET_NODISCARD executorch::runtime::Result<executorch::runtime::FreeableBuffer> get_data(
      std::string_view key) const override;

  // Reads the first `size` bytes. InvalidArgument if the tensor (or blob) has fewer.
  ET_NODISCARD executorch::runtime::Error load_data_into(std::string_view key, void* buffer,
                                                         size_t size) const override;

  ET_NODISCARD executorch::runtime::Result<uint32_t> get_num_keys() const override;

  // In the order of the file.
  ET_NODISCARD executorch::runtime::Result<const char*> get_key(uint32_t index) const override;

  FlatTensorDataMap(FlatTensorDataMap&&) noexcept = default;
  ~FlatTensorDataMap() override = default;

 private:
  FlatTensorDataMap(const FlatTensorHeader& header, executorch::runtime::FreeableBuffer&& contents,
                    const flat_tensor_flatbuffer::FlatTensor* flat_tensor,
                    executorch::runtime::DataLoader* loader)
      : header_(header),
        contents_(std::move(contents)),
        flat_tensor_(flat_tensor),
        loader_(loader) {}

  executorch::runtime::Error verify_and_index(size_t file_size);
  executorch::runtime::Error verify_segments(size_t file_size) const;
  executorch::runtime::Result<const flat_tensor_flatbuffer::NamedData*> find(
      std::string_view key) const;

  FlatTensorHeader header_;
  executorch::runtime::FreeableBuffer contents_;
  const flat_tensor_flatbuffer::FlatTensor* flat_tensor_;  // in contents_
  executorch::runtime::DataLoader* loader_;
  std::unordered_map<std::string_view, uint32_t> index_;  // key -> number in named_data
};

}  // namespace executorch::extension
