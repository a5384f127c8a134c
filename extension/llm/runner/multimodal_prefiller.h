// SPDX-License-Identifier: BSD-3-Clause
// MultimodalPrefiller: a piece of a prompt, of any kind, through its encoder and the decoder.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#include <executorch/extension/llm/runner/multimodal_decoder_runner.h>
#include <executorch/extension/llm/runner/multimodal_input.h>
#include <executorch/extension/module/module.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/result.h>

namespace executorch::extension::llm {

using ::executorch::runtime::Error;
using ::executorch::runtime::Result;
using ::tokenizers::Tokenizer;

// Threads: one at a time.
class MultimodalPrefiller {
 public:
  // Borrows all of them.
  explicit MultimodalPrefiller(Module* module, MultimodalDecoderRunner* decoder_runner,
                               Tokenizer* tokenizer, IOManager* io_manager)
      : module_(module),
        text_decoder_runner_(decoder_runner),
        tokenizer_(tokenizer),
        io_manager_(io_manager) {}
  virtual ~MultimodalPrefiller() = default;

  // Appends an input at start_pos, which moves on by the embeddings it has; the best next token.
  // bos and eos, counts of begin and end tokens, go around a text. Images go through
  // vision_encoder, audio through audio_encoder, in the type that it takes: Float or Byte as they
  // are, BFloat16 from floats. InvalidArgument for values of another type or a text that cannot be
  // encoded, NotSupported for an encoder of another type or raw audio, Internal if the audio
  // encoder fails.
  virtual Result<uint64_t> prefill(const MultimodalInput& input, int64_t& start_pos,
                                   int32_t bos = 0, int32_t eos = 0);

  // The methods of the program: token_embedding, text_decoder, and the encoders that it has.
  virtual Error load();
  virtual bool is_method_loaded();

  // The logits that the last prefill() sampled from are in the decoder's memory; this samples from
  // them again, with a temperature.
  uint64_t sample(float temperature) const;

 protected:
  Module* module_;
  MultimodalDecoderRunner* text_decoder_runner_;
  Tokenizer* tokenizer_;
  IOManager* io_manager_;

 private:
  bool has_method(const char* name);
  Result<uint64_t> feed_tokens(const std::vector<uint64_t>& tokens, int64_t& start_pos);
  Result<uint64_t> feed(const runtime::EValue& embeddings, int64_t& start_pos);
  Result<TensorPtr> in_type_of(const char* method, const TensorPtr& given);
  Result<runtime::EValue> encode_image(const Image& image);
  Result<runtime::EValue> encode_audio(const Audio& audio);

  std::optional<executorch::aten::Tensor> logits_;
};

}  // namespace executorch::extension::llm
