// SPDX-License-Identifier: BSD-3-Clause
// In the place of MediaTek's library, for tests. The last line of a model are the sizes of its
// inputs and outputs in bytes, "4 4 > 4"; an output's byte i is the sum of byte i of all inputs.
#include <executorch/backends/mediatek/stand_in/neuron.h>
#include <executorch/backends/test/stand_in_calls.h>

#include <sstream>
#include <string>
#include <vector>

struct NeuronModel {
  int operands = 0;
  std::string bytes;
};
struct NeuronCompilation {
  std::vector<size_t> sizes[2];
};
struct NeuronExecution {
  NeuronCompilation* compilation;
  std::vector<const uint8_t*> inputs;
  std::vector<uint8_t*> outputs;
};

using executorch::backends::test::StandInCalls;

namespace {

StandInCalls calls;
int objects = 0;

template <typename... Arguments>
int done(const char* function, const Arguments&... arguments) {
  return calls.done(function, arguments...);
}

std::string text_of(uint32_t count, const uint32_t* values) {
  std::string text = "[";
  for (uint32_t i = 0; i < count; ++i) {
    text += (i > 0 ? " " : "") + std::to_string(values[i]);
  }
  return text + "]";
}

template <typename Kind>
int made(int status, Kind** out) {
  *out = status == NEURON_NO_ERROR ? new Kind() : nullptr;
  objects += status == NEURON_NO_ERROR;
  return status;
}

template <typename Kind>
void freed(Kind* object) {
  objects -= object != nullptr;
  delete object;
}

int size_of(const char* function, const std::vector<size_t>& sizes, int32_t index, size_t* size) {
  *size = static_cast<size_t>(index) < sizes.size() ? sizes[static_cast<size_t>(index)] : 0;
  return done(function, index);
}

}  // namespace

int executorch_neuron_stand_in() {
  return 1;
}

const char* neuron_stand_in_calls(const char* fails) {
  return calls.take(fails, NEURON_BAD_DATA);
}

int neuron_stand_in_objects() {
  return objects;
}

int Neuron_getVersion(NeuronRuntimeVersion* version) {
  *version = {7, 2, 4};
  return NEURON_NO_ERROR;
}

int NeuronModel_create(NeuronModel** model) {
  return made(done("NeuronModel_create"), model);
}

void NeuronModel_free(NeuronModel* model) {
  freed(model);
}

int NeuronModel_finish(NeuronModel*) {
  return done("NeuronModel_finish");
}

int NeuronModel_addOperand(NeuronModel* model, const NeuronOperandType* type) {
  ++model->operands;
  return done("NeuronModel_addOperand", type->type, type->dimensionCount);
}

int NeuronModel_setOperandValue(NeuronModel* model, int32_t index, const void* buffer,
                                size_t length) {
  model->bytes.assign(static_cast<const char*>(buffer), length);
  return done("NeuronModel_setOperandValue", index, length);
}

int NeuronModel_getExtensionOperandType(NeuronModel*, const char* extension, uint16_t code,
                                        int32_t* type) {
  *type = 200;
  return done("NeuronModel_getExtensionOperandType", extension, code);
}

int NeuronModel_getExtensionOperationType(NeuronModel*, const char* extension, uint16_t code,
                                          int32_t* type) {
  *type = 201;
  return done("NeuronModel_getExtensionOperationType", extension, code);
}

int NeuronModel_addOperation(NeuronModel*, NeuronOperationType type, uint32_t num_inputs,
                             const uint32_t* inputs, uint32_t num_outputs,
                             const uint32_t* outputs) {
  return done("NeuronModel_addOperation", type, text_of(num_inputs, inputs),
              text_of(num_outputs, outputs));
}

int NeuronModel_identifyInputsAndOutputs(NeuronModel*, uint32_t num_inputs, const uint32_t* inputs,
                                         uint32_t num_outputs, const uint32_t* outputs) {
  return done("NeuronModel_identifyInputsAndOutputs", text_of(num_inputs, inputs),
              text_of(num_outputs, outputs));
}

int NeuronCompilation_createWithOptions(NeuronModel* model, NeuronCompilation** compilation,
                                        const char* options) {
  const int status = made(done("NeuronCompilation_createWithOptions", options), compilation);
  std::istringstream words(model->bytes.substr(model->bytes.rfind('\n') + 1));
  int side = 0;
  for (std::string word; *compilation != nullptr && words >> word;) {
    if (word == ">") {
      side = 1;
    } else {
      (*compilation)->sizes[side].push_back(std::stoul(word));
    }
  }
  return status;
}

void NeuronCompilation_free(NeuronCompilation* compilation) {
  freed(compilation);
}

int NeuronCompilation_setPreference(NeuronCompilation*, int32_t preference) {
  return done("NeuronCompilation_setPreference", preference);
}

int NeuronCompilation_setPriority(NeuronCompilation*, int priority) {
  return done("NeuronCompilation_setPriority", priority);
}

int NeuronCompilation_finish(NeuronCompilation*) {
  return done("NeuronCompilation_finish");
}

int NeuronCompilation_getInputPaddedSize(NeuronCompilation* compilation, int32_t index,
                                         size_t* size) {
  return size_of("NeuronCompilation_getInputPaddedSize", compilation->sizes[0], index, size);
}

int NeuronCompilation_getOutputPaddedSize(NeuronCompilation* compilation, int32_t index,
                                          size_t* size) {
  return size_of("NeuronCompilation_getOutputPaddedSize", compilation->sizes[1], index, size);
}

int NeuronExecution_create(NeuronCompilation* compilation, NeuronExecution** execution) {
  const int status = made(done("NeuronExecution_create"), execution);
  if (*execution != nullptr) {
    (*execution)->compilation = compilation;
    (*execution)->inputs.resize(compilation->sizes[0].size());
    (*execution)->outputs.resize(compilation->sizes[1].size());
  }
  return status;
}

void NeuronExecution_free(NeuronExecution* execution) {
  freed(execution);
}

int NeuronExecution_setInput(NeuronExecution* execution, int32_t index, const NeuronOperandType*,
                             const void* buffer, size_t length) {
  execution->inputs.at(static_cast<size_t>(index)) = static_cast<const uint8_t*>(buffer);
  return done("NeuronExecution_setInput", index, length);
}

int NeuronExecution_setOutput(NeuronExecution* execution, int32_t index, const NeuronOperandType*,
                              void* buffer, size_t length) {
  execution->outputs.at(static_cast<size_t>(index)) = static_cast<uint8_t*>(buffer);
  return done("NeuronExecution_setOutput", index, length);
}

int NeuronExecution_compute(NeuronExecution* execution) {
  const auto& sizes = execution->compilation->sizes;
  for (size_t i = 0; i < sizes[1].size(); ++i) {
    for (size_t k = 0; k < sizes[1][i]; ++k) {
      uint8_t sum = 0;
      for (size_t j = 0; j < sizes[0].size(); ++j) {
        sum = static_cast<uint8_t>(sum + (k < sizes[0][j] ? execution->inputs[j][k] : 0));
      }
      execution->outputs[i][k] = sum;
    }
  }
  return done("NeuronExecution_compute");
}
