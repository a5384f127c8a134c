// SPDX-License-Identifier: BSD-3-Clause
// What the backend calls of NXP's Neutron driver, declared as its public interface has it: no
// header of the SDK is needed.
#pragma once

#include <stdint.h>

extern "C" {

/// 0: done. Else, from the lowest bit on: 3 bits of the component, 5 of the category, a code.
typedef int NeutronError;
typedef void* NeutronModelHandle;
typedef struct {
  const void* microcode;
  const void* weights;
  const void* kernels;
  uint32_t timeoutSeconds;
} NeutronModelConfig;
/// Behind the outputs: scratch, profile and debug.
typedef struct {
  const void** inputs;
  void** outputs;
  void* scratch;
  void* scratchWeights;
} NeutronDataConfig;

NeutronError neutronInit(void);
NeutronError neutronModelPrepare(const NeutronModelConfig* config, NeutronModelHandle* model);
NeutronError neutronRunBlocking(NeutronModelHandle model, const NeutronDataConfig* data);
NeutronError neutronModelUnprepare(NeutronModelHandle model);
}
