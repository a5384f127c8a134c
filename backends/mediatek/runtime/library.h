// SPDX-License-Identifier: BSD-3-Clause
// MediaTek's library: found and loaded when it is first used.
#pragma once

#include <executorch/backends/mediatek/runtime/neuron.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/result.h>

#include <string>
#include <vector>

namespace executorch::backends::neuron {

// clang-format off: it does not settle on lines here
#define NEURON_FUNCTIONS(X)                \
  X(NeuronModel_create)                    \
  X(NeuronModel_free)                      \
  X(NeuronModel_finish)                    \
  X(NeuronModel_addOperand)                \
  X(NeuronModel_setOperandValue)           \
  X(NeuronModel_getExtensionOperandType)   \
  X(NeuronModel_getExtensionOperationType) \
  X(NeuronModel_addOperation)              \
  X(NeuronModel_identifyInputsAndOutputs)  \
  X(NeuronCompilation_createWithOptions)   \
  X(NeuronCompilation_free)                \
  X(NeuronCompilation_setPreference)       \
  X(NeuronCompilation_setPriority)         \
  X(NeuronCompilation_finish)              \
  X(NeuronCompilation_getInputPaddedSize)  \
  X(NeuronCompilation_getOutputPaddedSize) \
  X(NeuronExecution_create)                \
  X(NeuronExecution_free)                  \
  X(NeuronExecution_setInput)              \
  X(NeuronExecution_setOutput)             \
  X(NeuronExecution_compute)
// clang-format on

/// `library`: its name and version, for messages.
struct Api {
#define NEURON_MEMBER(function) decltype(&::function) function = nullptr;
  NEURON_FUNCTIONS(NEURON_MEMBER)
#undef NEURON_MEMBER
  std::string library;
};

/// The first of `names` that loads. NotFound, with all names in the log, when none does, or one
/// lacks functions; NotSupported for a stand-in in a build for MediaTek's library, and the other
/// way round.
runtime::Result<Api> load_library(const std::vector<std::string>& names);

/// That of the device, loaded once; after an error it is looked for again. Threads: any.
runtime::Result<const Api*> find_library();

/// Ok, or `error`, with the function's and the library's name in the log.
runtime::Error check_status(const Api& api, int status, const char* function, runtime::Error error);

}  // namespace executorch::backends::neuron
