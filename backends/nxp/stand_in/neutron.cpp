// SPDX-License-Identifier: BSD-3-Clause
// In the place of NXP's driver, for tests. The weights of a model are text: the sizes of its inputs
// and outputs in bytes, and of its scratch, profile, debugging and weights, "4 4 > 4 | 16 8 0 0".
// An output's byte i is the sum of byte i of all inputs times (i + 1); all other memory is
// overwritten.
#include <executorch/backends/nxp/runtime/neutron.h>
#include <executorch/backends/test/stand_in_calls.h>

#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using executorch::backends::test::StandInCalls;

namespace {

struct Model {
  std::vector<size_t> sizes[3];
};

StandInCalls calls;
int models = 0;

template <typename... Arguments>
NeutronError done(const char* function, const Arguments&... arguments) {
  return calls.done(function, arguments...);
}

}  // namespace

extern "C" {

/// Calls since the last one of this; from now on `fails` gives `status`.
const char* neutron_stand_in_calls(const char* fails, int status) {
  return calls.take(fails, status);
}

int neutron_stand_in_models() {
  return models;
}
}

NeutronError neutronInit() {
  return done("neutronInit");
}

NeutronError neutronModelPrepare(const NeutronModelConfig* config, NeutronModelHandle* handle) {
  const NeutronError status = done("neutronModelPrepare", config->timeoutSeconds);
  if (status != 0) {
    return status;
  }
  auto made = std::make_unique<Model>();
  std::istringstream words(static_cast<const char*>(config->weights));
  int kind = 0;
  for (std::string word; words >> word;) {
    if (word == ">" || word == "|") {
      ++kind;
    } else {
      made->sizes[kind].push_back(std::stoul(word));
    }
  }
  ++models;
  *handle = made.release();
  return 0;
}

NeutronError neutronRunBlocking(NeutronModelHandle handle, const NeutronDataConfig* data) {
  const Model& model = *static_cast<Model*>(handle);
  const auto& [inputs, outputs, more] = model.sizes;
  void* const* behind = data->outputs + outputs.size();
  void* const own[] = {data->scratch, behind[1], behind[2], data->scratchWeights};
  for (size_t i = 0; i < 4; ++i) {
    const bool is_aligned = reinterpret_cast<uintptr_t>(own[i]) % 16 == 0;
    if ((own[i] == nullptr) != (more[i] == 0) || !is_aligned || behind[0] != data->scratch) {
      return 0x103;
    }
    if (more[i] > 0) {
      std::memset(own[i], 0x5A, more[i]);
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto* out = static_cast<uint8_t*>(data->outputs[i]);
    for (size_t k = 0; k < outputs[i]; ++k) {
      size_t sum = 0;
      for (size_t j = 0; j < inputs.size(); ++j) {
        sum += k < inputs[j] ? static_cast<const uint8_t*>(data->inputs[j])[k] : 0;
      }
      out[k] = static_cast<uint8_t>(sum * (k + 1));
    }
  }
  return done("neutronRunBlocking");
}

NeutronError neutronModelUnprepare(NeutronModelHandle handle) {
  delete static_cast<Model*>(handle);
  --models;
  return done("neutronModelUnprepare");
}
