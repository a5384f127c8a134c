// SPDX-License-Identifier: BSD-3-Clause
// Image: pixels for a vision encoder.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// Owns its pixels: channel by channel, each row by row (CHW), bytes or floats.
class Image {
 public:
  Image() = default;
  Image(std::vector<uint8_t>&& data, int32_t width, int32_t height, int32_t channels)
      : data_(std::move(data)), width_(width), height_(height), channels_(channels) {}
  Image(std::vector<float>&& data, int32_t width, int32_t height, int32_t channels)
      : data_(std::move(data)), width_(width), height_(height), channels_(channels) {}

  int32_t width() const { return width_; }
  int32_t height() const { return height_; }
  int32_t channels() const { return channels_; }

  bool is_uint8() const { return std::holds_alternative<std::vector<uint8_t>>(data_); }
  bool is_float() const { return std::holds_alternative<std::vector<float>>(data_); }

  // Of the other kind: std::bad_variant_access.
  const std::vector<uint8_t>& get_uint8_data() const {
    return std::get<std::vector<uint8_t>>(data_);
  }
  std::vector<uint8_t>& get_uint8_data() { return std::get<std::vector<uint8_t>>(data_); }
  const std::vector<float>& get_float_data() const { return std::get<std::vector<float>>(data_); }
  std::vector<float>& get_float_data() { return std::get<std::vector<float>>(data_); }

  // {C, H, W}, with_batch: {1, C, H, W}; Float or Byte. Borrows the pixels, which the tensor must
  // not change. InvalidArgument if there are not as many as the sizes say.
  executorch::runtime::Result<executorch::extension::TensorPtr> toTensor(
      bool with_batch = false) const {
    const size_t count = is_float() ? get_float_data().size() : get_uint8_data().size();
    const int64_t expected = int64_t{width_} * height_ * channels_;
    ET_CHECK_OR_RETURN_ERROR(
        static_cast<int64_t>(count) == expected, InvalidArgument,
        "Expected %" PRId64 " values for an image of %d x %d with %d channels, got %zu", expected,
        static_cast<int>(width_), static_cast<int>(height_), static_cast<int>(channels_), count);
    std::vector<executorch::aten::SizesType> sizes = {channels_, height_, width_};
    if (with_batch) {
      sizes.insert(sizes.begin(), 1);
    }
    if (is_float()) {
      return executorch::extension::from_blob(const_cast<float*>(get_float_data().data()), sizes,
                                              executorch::aten::ScalarType::Float);
    }
    return executorch::extension::from_blob(const_cast<uint8_t*>(get_uint8_data().data()), sizes,
                                            executorch::aten::ScalarType::Byte);
  }

 private:
  std::variant<std::vector<uint8_t>, std::vector<float>> data_;
  int32_t width_ = 0;
  int32_t height_ = 0;
  int32_t channels_ = 0;
};

}  // namespace executorch::extension::llm

// The historic spelling.
namespace torch::executor {
using ::executorch::extension::llm::Image;
}  // namespace torch::executor
