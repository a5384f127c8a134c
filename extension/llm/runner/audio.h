// SPDX-License-Identifier: BSD-3-Clause
// Audio: features for an audio encoder. RawAudio: samples before any processing.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <executorch/extension/llm/runner/bytes_or_floats.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension::llm {

// Owns {batch_size, n_bins, n_frames} values, such as a mel spectrogram, bytes or floats.
class Audio : public BytesOrFloats {
 public:
  Audio() = default;
  // Aborts unless there are as many values as the sizes say.
  Audio(std::vector<uint8_t>&& data, int32_t batch_size, int32_t n_bins, int32_t n_frames)
      : BytesOrFloats(std::move(data)),
        batch_size_(batch_size),
        n_bins_(n_bins),
        n_frames_(n_frames) {
    check_size();
  }
  Audio(std::vector<float>&& data, int32_t batch_size, int32_t n_bins, int32_t n_frames)
      : BytesOrFloats(std::move(data)),
        batch_size_(batch_size),
        n_bins_(n_bins),
        n_frames_(n_frames) {
    check_size();
  }

  int32_t get_batch_size() const { return batch_size_; }
  int32_t get_n_bins() const { return n_bins_; }
  int32_t get_n_frames() const { return n_frames_; }

  // {batch, bins, frames}, with_batch: with a leading 1; Float or Byte. Borrows the values, which
  // the tensor must not change.
  executorch::runtime::Result<executorch::extension::TensorPtr> toTensor(
      bool with_batch = false) const {
    return as_tensor({batch_size_, n_bins_, n_frames_}, with_batch);
  }

 private:
  void check_size() const {
    const size_t count = num_values();
    const int64_t expected = int64_t{batch_size_} * n_bins_ * n_frames_;
    ET_CHECK_MSG(static_cast<int64_t>(count) == expected,
                 "Expected %" PRId64 " values for audio of %d x %d x %d, got %zu", expected,
                 static_cast<int>(batch_size_), static_cast<int>(n_bins_),
                 static_cast<int>(n_frames_), count);
  }

  int32_t batch_size_ = 0;
  int32_t n_bins_ = 0;
  int32_t n_frames_ = 0;
};

struct RawAudio {
  std::vector<uint8_t> data;
  int32_t batch_size;
  int32_t n_channels;
  int32_t n_samples;
};

}  // namespace executorch::extension::llm

// The historic spelling.
namespace torch::executor {
using ::executorch::extension::llm::Audio;
}  // namespace torch::executor
