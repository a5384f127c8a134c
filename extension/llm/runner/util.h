// SPDX-License-Identifier: BSD-3-Clause
// Text in pieces, time and memory, errors of tokenizers, the position input of decoders.
#pragma once

#include <cctype>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <pytorch/tokenizers/tokenizer.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sys/resource.h>
#endif

#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/platform/compiler.h>

// The value of a tokenizer's Result; on failure logs the code and returns InvalidArgument from the
// enclosing function.
#define ET_UNWRAP_TOKENIZER(result__)                                       \
  ({                                                                        \
    auto tk_result__ = (result__);                                          \
    if (!tk_result__.ok()) {                                                \
      ET_LOG(Error, "Tokenizers error code %d",                             \
             static_cast<int>(static_cast<uint32_t>(tk_result__.error()))); \
      return ::executorch::runtime::Error::InvalidArgument;                 \
    }                                                                       \
    std::move(*tk_result__);                                                \
  })

// The same as a statement that declares a variable.
#define ET_ASSIGN_OR_RETURN_TOKENIZER(var__, result__) \
  ET_INTERNAL_ASSIGN_TOKENIZER(ET_INTERNAL_JOIN(tk_result_, __LINE__), var__, result__)
#define ET_INTERNAL_ASSIGN_TOKENIZER(name__, var__, result__)        \
  auto name__ = (result__);                                          \
  if (!name__.ok()) {                                                \
    ET_LOG(Error, "Tokenizers error code %d",                        \
           static_cast<int>(static_cast<uint32_t>(name__.error()))); \
    return ::executorch::runtime::Error::InvalidArgument;            \
  }                                                                  \
  auto var__ = std::move(*name__)

// Returns InvalidArgument unless a tokenizer's error is Ok; logs it, and the message if there is
// one: (error) or (error, format, ...).
#define ET_CHECK_TK_OK_OR_RETURN_ERROR(result__, ...)                                            \
  do {                                                                                           \
    const auto tk_error__ = (result__);                                                          \
    if (tk_error__ != ::tokenizers::Error::Ok) {                                                 \
      ET_LOG(Error, "Tokenizer error: %d", static_cast<int>(static_cast<uint32_t>(tk_error__))); \
      ET_INTERNAL_LOG_REST(tk_error__, ##__VA_ARGS__);                                           \
      return ::executorch::runtime::Error::InvalidArgument;                                      \
    }                                                                                            \
  } while (0)

namespace executorch::extension::llm {

// Prints a piece of text; nothing for null and empty ones, and for a single byte that is neither
// printable nor white space.
inline void safe_printf(const char* piece) {
  if (piece == nullptr || piece[0] == '\0') {
    return;
  }
  const auto first = static_cast<unsigned char>(piece[0]);
  if (piece[1] == '\0' && std::isprint(first) == 0 && std::isspace(first) == 0) {
    return;
  }
  std::printf("%s", piece);
}

namespace internal {

// Bytes of the character that a byte begins; 1 for a byte that begins none, 0 for one that goes on.
inline size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if ((byte & 0xC0) == 0x80) {
    return 0;
  }
  return byte >= 0xF0 && byte < 0xF8   ? 4
         : byte >= 0xE0 && byte < 0xF0 ? 3
         : byte >= 0xC0 && byte < 0xE0 ? 2
                                       : 1;
}

}  // namespace internal

// How many bytes of s come before a character that is not complete at its end.
inline size_t utf8_complete_prefix_len(const std::string& s) {
  size_t begin = s.size();
  for (size_t back = 0; back < 4 && begin > 0; ++back) {
    const size_t length = internal::utf8_length(s[--begin]);
    if (length > 0) {
      return begin + length <= s.size() ? s.size() : begin;
    }
  }
  return s.size();
}

// len, or less where that would split a character of s: where this character begins. Only bytes
// that go on: 0.
inline size_t utf8_safe_prefix_len(const std::string& s, size_t len) {
  size_t begin = len = std::min(len, s.size());
  while (begin > 0) {
    const size_t length = internal::utf8_length(s[--begin]);
    if (length > 0) {
      return begin + length <= len ? len : begin;
    }
  }
  return 0;
}

// How many bytes of text can be shown while one of `stops` may still begin in it. stop_hit tells
// whether one is there: then, the bytes before the earliest. Empty stops do not count.
inline size_t stop_safe_prefix_len(const std::string& text, const std::vector<std::string>& stops,
                                   bool& stop_hit) {
  size_t first = std::string::npos;
  size_t longest = 0;
  for (const std::string& stop : stops) {
    if (!stop.empty()) {
      first = std::min(first, text.find(stop));
      longest = std::max(longest, stop.size());
    }
  }
  stop_hit = first != std::string::npos;
  if (stop_hit) {
    return first;
  }
  if (longest == 0) {
    return text.size();
  }
  return text.size() < longest ? 0 : utf8_safe_prefix_len(text, text.size() - (longest - 1));
}

// A tokenizer's ids of a text, with so many begin and end tokens. InvalidArgument where it has
// none.
inline runtime::Result<std::vector<uint64_t>> ids_of(const ::tokenizers::Tokenizer& tokenizer,
                                                     const std::string& text, int32_t num_bos,
                                                     int32_t num_eos) {
  auto ids = tokenizer.encode(text, static_cast<int8_t>(num_bos), static_cast<int8_t>(num_eos));
  ET_CHECK_OR_RETURN_ERROR(ids.ok(), InvalidArgument,
                           "Failed to encode the prompt: tokenizer error %d",
                           static_cast<int>(static_cast<uint32_t>(ids.error())));
  return std::move(*ids);
}

// What a token adds to the text behind `previous`. InvalidArgument where the tokenizer has none.
inline runtime::Result<std::string> text_of(const ::tokenizers::Tokenizer& tokenizer,
                                            uint64_t previous, uint64_t token) {
  auto piece = tokenizer.decode(previous, token);
  ET_CHECK_OR_RETURN_ERROR(piece.ok(), InvalidArgument,
                           "The tokenizer has no text for token %" PRIu64
                           " (code %d): it does not fit the model",
                           token, static_cast<int>(static_cast<uint32_t>(piece.error())));
  return std::move(*piece);
}

// Of the wall clock.
inline long time_in_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<long>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

// The most memory that this process has had at once, in bytes; 0 where the system does not tell.
inline size_t get_rss_bytes() {
#if defined(__unix__) || defined(__APPLE__)
  struct rusage usage = {};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
#if defined(__APPLE__)
    return static_cast<size_t>(usage.ru_maxrss);
#else
    return static_cast<size_t>(usage.ru_maxrss) * 1024;
#endif
  }
#endif
  return 0;
}

// The second input of a decoder, which tells where its tokens stand: of one element, the first
// position; of more, the positions of all seq_len tokens, which cache_positions_vec holds then.
// Borrows start_pos or cache_positions_vec. Errors of Module::method_meta().
inline runtime::Result<TensorPtr> populate_start_pos_or_cache_position(
    Module* module, int64_t& start_pos, std::vector<int64_t>& cache_positions_vec, int seq_len,
    const char* method_name = "forward") {
  const auto meta = ET_UNWRAP(module->method_meta(method_name));
  const auto info = ET_UNWRAP(meta.input_tensor_meta(1));
  const auto sizes = info.sizes();
  if (sizes.size() == 0 || sizes[0] <= 1) {
    return from_blob(&start_pos, {1}, aten::ScalarType::Long);
  }
  cache_positions_vec.resize(static_cast<size_t>(seq_len));
  for (size_t i = 0; i < cache_positions_vec.size(); ++i) {
    cache_positions_vec[i] = start_pos + static_cast<int64_t>(i);
  }
  return from_blob(cache_positions_vec.data(), {seq_len}, aten::ScalarType::Long);
}

// A copy, rounded to the nearest. InvalidArgument unless it is a tensor of Float.
inline runtime::Result<TensorPtr> convert_to_bfloat16(const TensorPtr& src_tensor) {
  ET_CHECK_OR_RETURN_ERROR(src_tensor->scalar_type() == aten::ScalarType::Float, InvalidArgument,
                           "Expected a tensor of Float to convert to BFloat16, got dtype %hhd",
                           static_cast<int8_t>(src_tensor->scalar_type()));
  const auto* from = src_tensor->const_data_ptr<float>();
  const std::vector<aten::SizesType> sizes(src_tensor->sizes().begin(), src_tensor->sizes().end());
  TensorPtr result = empty(sizes, aten::ScalarType::BFloat16);
  auto* to = result->mutable_data_ptr<aten::BFloat16>();
  for (ssize_t i = 0; i < src_tensor->numel(); ++i) {
    to[i] = static_cast<aten::BFloat16>(from[i]);
  }
  return result;
}

}  // namespace executorch::extension::llm

// The historic spellings.
namespace torch::executor::util {
using ::executorch::extension::llm::get_rss_bytes;
using ::executorch::extension::llm::safe_printf;
using ::executorch::extension::llm::time_in_ms;
}  // namespace torch::executor::util
