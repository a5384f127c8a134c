# SPDX-License-Identifier: BSD-3-Clause
# The backend's option. It is built against NeuronAdapter.h of MediaTek's SDK; with tests and without that, for a stand-in.
define_backend_option(EXECUTORCH_BUILD_NEURON "MediaTek's backend, for NeuronAdapter.h in backends/mediatek/runtime/include/api; with tests and without it, for a stand-in"
  DEFAULT ${EXECUTORCH_BUILD_TESTS})
set(neuron_include "${CMAKE_CURRENT_LIST_DIR}/runtime/include")
if(EXECUTORCH_BUILD_NEURON AND NOT EXECUTORCH_BUILD_TESTS AND NOT EXISTS "${neuron_include}/api/NeuronAdapter.h")
  message(FATAL_ERROR "EXECUTORCH_BUILD_NEURON=ON: expected NeuronAdapter.h of MediaTek's NeuroPilot Express SDK in "
    "${neuron_include}/api, found none: copy it there")
endif()
