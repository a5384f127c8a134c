// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/sampling_settings.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include <executorch/extension/llm/runner/constants.h>

#include <nlohmann/json.hpp>

namespace executorch::extension::llm {

namespace {

template <typename T>
T number_of(Setting<T> GenerationConfig::*);

template <auto kField>
constexpr SamplingSetting row(const char* name, double low, double high, const char* help) {
  using T = decltype(number_of(kField));
  return {name,
          low,
          high,
          std::is_integral_v<T>,
          help,
          [](const GenerationConfig& config) { return static_cast<double>(T(config.*kField)); },
          [](const GenerationConfig& config) { return (config.*kField).is_given(); },
          [](GenerationConfig* config, double value) { config->*kField = static_cast<T>(value); }};
}

constexpr double kMaxTokens = std::numeric_limits<int32_t>::max();

}  // namespace

const SamplingSetting kSamplingSettings[kNumSamplingSettings] = {
    row<&GenerationConfig::temperature>("temperature", 0, kMaxTemperature,
                                        "0 takes the best token each time; up to 2 others are "
                                        "drawn the more. Default, of this as of "
                                        "all below: the program's, or 0.8."),
    row<&GenerationConfig::top_k>("top_k", 0, kMaxTokens,
                                  "Only the k best tokens are possible; 0: any."),
    row<&GenerationConfig::top_p>(
        "top_p", 1e-9, 1,
        "Only the best tokens whose probabilities exceed this sum; 1: any. Or 0.9."),
    row<&GenerationConfig::min_p>(
        "min_p", 0, 1, "Only tokens at least so many times as probable as the best; 0: any."),
    row<&GenerationConfig::repetition_penalty>(
        "repetition_penalty", 0.01, 100,
        "Tokens that were in the prompt or answer are so many times less likely; 1: off."),
    row<&GenerationConfig::frequency_penalty>(
        "frequency_penalty", -2, 2, "Taken from a token's logit each time the answer has it."),
    row<&GenerationConfig::presence_penalty>("presence_penalty", -2, 2,
                                             "Taken from a token's logit once the answer has it."),
};

bool SamplingSetting::takes(double value) const {
  return value >= low && value <= high && (!is_integer || std::trunc(value) == value);
}

GenerationConfig sampling_of(std::string_view generation_config) {
  GenerationConfig config;
  const auto root = nlohmann::json::parse(generation_config, nullptr, false);
  for (const SamplingSetting& setting : kSamplingSettings) {
    const auto found = root.is_object() ? root.find(setting.name) : root.end();
    if (found == root.end() || !found->is_number()) {
      continue;
    }
    const auto value = found->get<double>();
    if (setting.takes(value)) {
      setting.set(&config, value);
    }
  }
  return config;
}

GenerationConfig sampling_of_program(Module& module) {
  if (module.load() != runtime::Error::Ok) {
    return {};
  }
  const auto data = module.program()->get_named_data_map();
  if (!data.ok() || *data == nullptr) {
    return {};
  }
  const auto held = (*data)->get_data(std::string(kCompanions) + "generation_config.json");
  return held.ok() ? sampling_of({static_cast<const char*>(held->data()), held->size()})
                   : GenerationConfig{};
}

GenerationConfig with_defaults(GenerationConfig config, const GenerationConfig& otherwise) {
  for (const SamplingSetting& setting : kSamplingSettings) {
    if (!setting.is_given(config) && setting.is_given(otherwise)) {
      setting.set(&config, setting.get(otherwise));
    }
  }
  return config;
}

}  // namespace executorch::extension::llm
