// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/training/optimizer/sgd.h>

namespace executorch::extension::training::optimizer {

std::vector<const char*> SGDRule::buffers(const SGDOptions& options) {
  return options.momentum() == 0 ? std::vector<const char*>{}
                                 : std::vector<const char*>{"momentum_buffer"};
}

void SGDRule::update(const SGDOptions& options, ParameterState& state, float* parameter,
                     const float* gradient, size_t count) {
  const auto lr = static_cast<float>(options.lr());
  const auto decay = static_cast<float>(options.weight_decay());
  const auto momentum = static_cast<float>(options.momentum());
  const auto share = static_cast<float>(1 - options.dampening());
  const bool is_first = state.steps() == 1;
  float* buffer = options.momentum() == 0 ? nullptr : state.buffer(0);
  for (size_t i = 0; i < count; ++i) {
    float g = gradient[i];
    if (decay != 0) {  // 0 * infinity is no 0
      g += decay * parameter[i];
    }
    if (buffer != nullptr) {
      buffer[i] = is_first ? g : momentum * buffer[i] + share * g;
      g = options.nesterov() ? g + momentum * buffer[i] : buffer[i];
    }
    parameter[i] -= lr * g;
  }
}

}  // namespace executorch::extension::training::optimizer
