// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/runtime/platform/runtime.h>

#include <executorch/examples/raspberry_pi/pico2/network.h>
#include "model.h"

uint32_t network_load() {
  executorch::runtime::runtime_init();
  model_init();
  return 0;
}

float* network_input() {
  return static_cast<float*>(model_input(0));
}

uint32_t network_run(const float*& scores) {
  const int error = model_run();
  scores = static_cast<const float*>(model_output(0));
  return static_cast<uint32_t>(error);
}
