// SPDX-License-Identifier: BSD-3-Clause
// A program of an image encoder, an audio encoder, an embedding and a decoder, all arithmetic: each
// pixel or value is worth a token.
#pragma once

#include <string>

#include <executorch/extension/llm/runner/test/toy_decoder.h>

namespace executorch::extension::llm::toys {

struct ToyMultimodalOptions {
  bool has_vision = true;
  bool has_audio = true;
  bool takes_bytes = false;  // the image encoder
  std::vector<int64_t> eos_ids = {};
};

// The decoder of the toy on embeddings {1, n, 1}, which are tokens as floats. vision_encoder gives
// the four pixels of an image of 1 x 2 x 2, audio_encoder the values of audio of {1, 1, 3}.
std::string write_multimodal_toy(const std::string& name, const ToyMultimodalOptions& options = {});

}  // namespace executorch::extension::llm::toys
