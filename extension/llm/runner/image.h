// SPDX-License-Identifier: BSD-3-Clause
// Image: pixels for a vision encoder.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <executorch/extension/llm/runner/bytes_or_floats.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

// Owns its pixels: channel by channel, each row by row (CHW), bytes or floats.
class Image : public BytesOrFloats {
 public:
  Image() = default;
  Image(std::vector<uint8_t>&& data, int32_t width, int32_t height, int32_t channels)
      : BytesOrFloats(std::move(data)), width_(width), height_(height), channels_(channels) {}
  Image(std::vector<float>&& data, int32_t width, int32_t height, int32_t channels)
      : BytesOrFloats(std::move(data)), width_(width), height_(height), channels_(channels) {}

  int32_t width() const { return width_; }
  int32_t height() const { return height_; }
  int32_t channels() const { return channels_; }

  // {C, H, W}, with_batch: {1, C, H, W}; Float or Byte. Borrows the pixels, which the tensor must
  // not change. InvalidArgument if there are not as many as the sizes say.
  executorch::runtime::Result<executorch::extension::TensorPtr> toTensor(
      bool with_batch = false) const {
    const size_t count = num_values();
    const int64_t expected = int64_t{width_} * height_ * channels_;
    ET_CHECK_OR_RETURN_ERROR(
        static_cast<int64_t>(count) == expected, InvalidArgument,
        "Expected %" PRId64 " values for an image of %d x %d with %d channels, got %zu", expected,
        static_cast<int>(width_), static_cast<int>(height_), static_cast<int>(channels_), count);
    return as_tensor({channels_, height_, width_}, with_batch);
  }

 private:
  int32_t width_ = 0;
  int32_t height_ = 0;
  int32_t channels_ = 0;
};

}  // namespace executorch::extension::llm

// The historic spelling.
namespace torch::executor {
using ::executorch::extension::llm::Image;
}  // namespace torch::executor
