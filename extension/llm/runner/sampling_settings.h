// SPDX-License-Identifier: BSD-3-Clause
// How answers are sampled: one row for each setting, read by the runners, by llama_main's flags,
// and by Python's configuration, chat and server.
#pragma once

#include <cstddef>
#include <string_view>

#include <executorch/extension/llm/runner/irunner.h>
#include <executorch/extension/module/module.h>

namespace executorch::extension::llm {

struct SamplingSetting {
  const char* name;  // of the configuration, of generation_config.json, of requests and of flags
  double low;        // what it may be
  double high;
  bool is_integer;
  const char* help;
  double (*get)(const GenerationConfig& config);
  bool (*is_given)(const GenerationConfig& config);
  void (*set)(GenerationConfig* config, double value);  // one that it takes

  // Whether it may be that: within its bounds, and whole where it is.
  bool takes(double value) const;
};

inline constexpr size_t kNumSamplingSettings = 7;
extern const SamplingSetting kSamplingSettings[kNumSamplingSettings];

// Those of generation_config.json, given: numbers that are possible; nothing of what is no JSON
// object.
GenerationConfig sampling_of(std::string_view generation_config);

// sampling_of() what the program carries (export.tokenizer_in_program); nothing given where it
// carries none.
GenerationConfig sampling_of_program(Module& module);

// Settings that were not given are as those of `otherwise`, given or not.
GenerationConfig with_defaults(GenerationConfig config, const GenerationConfig& otherwise);

}  // namespace executorch::extension::llm
