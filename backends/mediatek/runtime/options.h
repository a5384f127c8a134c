// SPDX-License-Identifier: BSD-3-Clause
// What compile specs tell the runtime; all others are for the compiler.
#pragma once

#include <executorch/runtime/backend/compile_options.h>

#include <string>

namespace executorch::backends::neuron {

struct NeuronOptions {
  bool high_address = false;
  bool import_forever = false;
  /// The named data with weights that models share; empty for none.
  std::string shared_weights;

  /// What NeuronCompilation_createWithOptions is told.
  std::string text() const {
    std::string keys = high_address ? " \"high_addr\": true" : "";
    if (import_forever) {
      keys += std::string(keys.empty() ? "" : ",") + " \"import_forever\": true";
    }
    return keys.empty() ? "" : "--apusys-config \"{" + keys + " }\"";
  }
};

inline constexpr runtime::Option<NeuronOptions> kNeuronOptions[] = {
    {"platform-config", runtime::kForTheCompiler},
    {"HighAddr", runtime::read_option<&NeuronOptions::high_address>},
    {"ImportForever", runtime::read_option<&NeuronOptions::import_forever>},
    {"ExtractSharedBlobKey", runtime::read_option<&NeuronOptions::shared_weights>},
};

inline constexpr runtime::OptionTable<NeuronOptions> kNeuronTable{
    "NeuropilotBackend", kNeuronOptions,
    [](const runtime::GivenOption&, NeuronOptions&) { return runtime::Error::Ok; }};

}  // namespace executorch::backends::neuron
