// SPDX-License-Identifier: BSD-3-Clause
// Tokenizers for src/tokenizers.mjs. What is returned by pointer is the caller's, to be freed;
// null: it failed, and the log says why.
#include <pytorch/tokenizers/hf_tokenizer.h>
#include <pytorch/tokenizers/llama2c_tokenizer.h>
#include <pytorch/tokenizers/sentencepiece.h>
#include <pytorch/tokenizers/tekken.h>
#include <pytorch/tokenizers/tiktoken.h>

#include <cstdlib>
#include <cstring>

namespace {

using tokenizers::Tokenizer;

template <typename Kind>
Tokenizer* make() {
  return new Kind();
}

// In the order of KINDS in tokenizers.mjs.
constexpr Tokenizer* (*kMakers[])() = {
    make<tokenizers::HFTokenizer>,      make<tokenizers::Tiktoken>, make<tokenizers::SPTokenizer>,
    make<tokenizers::Llama2cTokenizer>, make<tokenizers::Tekken>,
};

template <typename Values>
void* copy_of(const Values& values, uint32_t* out_count) {
  *out_count = static_cast<uint32_t>(values.size());
  const size_t size = values.size() * sizeof(values[0]);
  void* const result = std::malloc(size + 1);  // of nothing, too
  if (result != nullptr) {
    std::memcpy(result, values.data(), size);
  }
  return result;
}

}  // namespace

extern "C" {

Tokenizer* executorch_wasm_tokenizer_new(uint32_t kind) {
  return kMakers[kind]();
}

void executorch_wasm_tokenizer_delete(Tokenizer* tokenizer) {
  delete tokenizer;
}

bool executorch_wasm_tokenizer_load(Tokenizer* tokenizer, const char* path) {
  return tokenizer->load(path) == tokenizers::Error::Ok;
}

/// Size of the vocabulary, ids of the first and the last token of a text, 1 where one is loaded.
void executorch_wasm_tokenizer_facts(const Tokenizer* tokenizer, uint64_t* out_facts) {
  out_facts[0] = static_cast<uint64_t>(tokenizer->vocab_size());
  out_facts[1] = tokenizer->bos_tok();
  out_facts[2] = tokenizer->eos_tok();
  out_facts[3] = tokenizer->is_loaded() ? 1 : 0;
}

void* executorch_wasm_tokenizer_encode(const Tokenizer* tokenizer, const char* text, size_t size,
                                       int32_t bos, int32_t eos, uint32_t* out_count) {
  const auto ids = tokenizer->encode(std::string(text, size), static_cast<int8_t>(bos),
                                     static_cast<int8_t>(eos));
  return ids.ok() ? copy_of(*ids, out_count) : nullptr;
}

void* executorch_wasm_tokenizer_decode(const Tokenizer* tokenizer, uint64_t previous,
                                       uint64_t current, uint32_t* out_size) {
  const auto piece = tokenizer->decode(previous, current);
  return piece.ok() ? copy_of(*piece, out_size) : nullptr;
}

}  // extern "C"
