// SPDX-License-Identifier: BSD-3-Clause
// The values of an image or of audio.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <executorch/extension/tensor/tensor.h>

namespace executorch::extension::llm {

// Owns values of one of two kinds.
class BytesOrFloats {
 public:
  bool is_uint8() const { return std::holds_alternative<std::vector<uint8_t>>(data_); }
  bool is_float() const { return std::holds_alternative<std::vector<float>>(data_); }

  // Of the other kind: std::bad_variant_access.
  const std::vector<uint8_t>& get_uint8_data() const {
    return std::get<std::vector<uint8_t>>(data_);
  }
  std::vector<uint8_t>& get_uint8_data() { return std::get<std::vector<uint8_t>>(data_); }
  const std::vector<float>& get_float_data() const { return std::get<std::vector<float>>(data_); }
  std::vector<float>& get_float_data() { return std::get<std::vector<float>>(data_); }

 protected:
  BytesOrFloats() = default;
  explicit BytesOrFloats(std::vector<uint8_t>&& data) : data_(std::move(data)) {}
  explicit BytesOrFloats(std::vector<float>&& data) : data_(std::move(data)) {}

  size_t num_values() const {
    return is_float() ? get_float_data().size() : get_uint8_data().size();
  }

  // Of Float or Byte; with_batch: with a leading 1. Borrows the values, which the tensor must not
  // change; there are as many as the sizes say.
  TensorPtr as_tensor(std::vector<executorch::aten::SizesType> sizes, bool with_batch) const {
    if (with_batch) {
      sizes.insert(sizes.begin(), 1);
    }
    if (is_float()) {
      return from_blob(const_cast<float*>(get_float_data().data()), std::move(sizes),
                       executorch::aten::ScalarType::Float);
    }
    return from_blob(const_cast<uint8_t*>(get_uint8_data().data()), std::move(sizes),
                     executorch::aten::ScalarType::Byte);
  }

 private:
  std::variant<std::vector<uint8_t>, std::vector<float>> data_;
};

}  // namespace executorch::extension::llm
