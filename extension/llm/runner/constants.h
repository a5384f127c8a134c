// SPDX-License-Identifier: BSD-3-Clause
// Names in programs of language models: methods and named data; what all runners reserve.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace executorch::extension::llm {

// Constants of a program, each a method without inputs. See get_llm_metadata().
inline constexpr auto kEnableDynamicShape = "enable_dynamic_shape";
inline constexpr auto kBosId = "get_bos_id";
inline constexpr auto kEosIds = "get_eos_ids";
inline constexpr auto kMaxSeqLen = "get_max_seq_len";
inline constexpr auto kMaxContextLen = "get_max_context_len";
inline constexpr auto kVocabSize = "get_vocab_size";
inline constexpr auto kUseKVCache = "use_kv_cache";
inline constexpr auto kUseSDPAWithKVCache = "use_sdpa_with_kv_cache";
// Whether each layer's cache has a row for every position of the context: then one can go back. A
// window or a state that is carried along cannot.
inline constexpr auto kKeepsAllPositions = "keeps_all_positions";
// How many texts a call can go on with (export.max_sessions); see SharedDecoder.
inline constexpr auto kMaxSessions = "get_max_sessions";

// Of the runner, not of a program: which file it runs. See file_fingerprint().
inline constexpr auto kFingerprint = "fingerprint";

// One of these in what get_llm_metadata() gives.
inline int64_t constant_of(const std::unordered_map<std::string, int64_t>& metadata,
                           const char* name, int64_t otherwise) {
  const auto found = metadata.find(name);
  return found == metadata.end() ? otherwise : found->second;
}

// Before the names of files that a program carries as named data: tokenizer, settings.
inline constexpr auto kCompanions = "llm/";

// What calls need beside planned memory is kept for the next call up to this size.
inline constexpr uint32_t kTemporaryBytes = 10 * 1024 * 1024;

// The parts of a program that takes images or sound.
inline constexpr auto kAudioEncoderMethod = "audio_encoder";
inline constexpr auto kVisionEncoderMethod = "vision_encoder";
inline constexpr auto kTokenEmbeddingMethod = "token_embedding";
inline constexpr auto kTextModelMethod = "text_decoder";

}  // namespace executorch::extension::llm
