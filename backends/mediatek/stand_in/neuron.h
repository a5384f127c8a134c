// SPDX-License-Identifier: BSD-3-Clause
// Names of MediaTek's public documents that the backend calls, with numbers of our own, for builds
// without NeuronAdapter.h: these run with the library of this folder alone.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

typedef struct NeuronModel NeuronModel;
typedef struct NeuronCompilation NeuronCompilation;
typedef struct NeuronExecution NeuronExecution;
typedef int32_t NeuronOperationType;
typedef struct {
  int32_t type;
  uint32_t dimensionCount;
  const uint32_t* dimensions;
  float scale;
  int32_t zeroPoint;
} NeuronOperandType;
typedef struct {
  uint8_t major;
  uint8_t minor;
  uint8_t patch;
} NeuronRuntimeVersion;

enum { NEURON_NO_ERROR = 0, NEURON_BAD_DATA = 4 };
enum { NEURON_FLOAT32 = 100 };
enum { NEURON_PREFER_TURBO_BOOST = 101 };
enum { NEURON_PRIORITY_HIGH = 102 };

int Neuron_getVersion(NeuronRuntimeVersion* version);
int NeuronModel_create(NeuronModel** model);
void NeuronModel_free(NeuronModel* model);
int NeuronModel_finish(NeuronModel* model);
int NeuronModel_addOperand(NeuronModel* model, const NeuronOperandType* type);
int NeuronModel_setOperandValue(NeuronModel* model, int32_t index, const void* buffer,
                                size_t length);
int NeuronModel_getExtensionOperandType(NeuronModel* model, const char* extension, uint16_t code,
                                        int32_t* type);
int NeuronModel_getExtensionOperationType(NeuronModel* model, const char* extension, uint16_t code,
                                          int32_t* type);
int NeuronModel_addOperation(NeuronModel* model, NeuronOperationType type, uint32_t num_inputs,
                             const uint32_t* inputs, uint32_t num_outputs, const uint32_t* outputs);
int NeuronModel_identifyInputsAndOutputs(NeuronModel* model, uint32_t num_inputs,
                                         const uint32_t* inputs, uint32_t num_outputs,
                                         const uint32_t* outputs);
int NeuronCompilation_createWithOptions(NeuronModel* model, NeuronCompilation** compilation,
                                        const char* options);
void NeuronCompilation_free(NeuronCompilation* compilation);
int NeuronCompilation_setPreference(NeuronCompilation* compilation, int32_t preference);
int NeuronCompilation_setPriority(NeuronCompilation* compilation, int priority);
int NeuronCompilation_finish(NeuronCompilation* compilation);
int NeuronCompilation_getInputPaddedSize(NeuronCompilation* compilation, int32_t index,
                                         size_t* size);
int NeuronCompilation_getOutputPaddedSize(NeuronCompilation* compilation, int32_t index,
                                          size_t* size);
int NeuronExecution_create(NeuronCompilation* compilation, NeuronExecution** execution);
void NeuronExecution_free(NeuronExecution* execution);
int NeuronExecution_setInput(NeuronExecution* execution, int32_t index,
                             const NeuronOperandType* type, const void* buffer, size_t length);
int NeuronExecution_setOutput(NeuronExecution* execution, int32_t index,
                              const NeuronOperandType* type, void* buffer, size_t length);
int NeuronExecution_compute(NeuronExecution* execution);

/// Tells it from MediaTek's library.
int executorch_neuron_stand_in(void);
/// Calls since the last one of this, one a line with what they were given; `fails`: the function
/// that fails from now on, empty for none.
const char* neuron_stand_in_calls(const char* fails);
/// Of models, compilations and executions that nobody has freed.
int neuron_stand_in_objects(void);
}
