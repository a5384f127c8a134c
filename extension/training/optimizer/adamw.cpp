// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/training/optimizer/adamw.h>

#include <cmath>

namespace executorch::extension::training::optimizer {

std::vector<const char*> AdamWRule::buffers(const AdamWOptions& /*options*/) {
  return {"exp_avg", "exp_avg_sq"};
}

void AdamWRule::update(const AdamWOptions& options, ParameterState& state, float* parameter,
                       const float* gradient, size_t count) {
  const auto steps = static_cast<double>(state.steps());
  const auto kept = static_cast<float>(1 - options.lr() * options.weight_decay());
  const auto share = static_cast<float>(1 - options.beta1());
  const auto beta2 = static_cast<float>(options.beta2());
  const auto share2 = static_cast<float>(1 - options.beta2());
  const auto eps = static_cast<float>(options.eps());
  const auto rate = static_cast<float>(options.lr() / (1 - std::pow(options.beta1(), steps)));
  const auto correction = static_cast<float>(std::sqrt(1 - std::pow(options.beta2(), steps)));
  float* mean = state.buffer(0);
  float* square = state.buffer(1);
  for (size_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    mean[i] += share * (g - mean[i]);
    square[i] = beta2 * square[i] + share2 * g * g;
    parameter[i] = kept * parameter[i] - rate * mean[i] / (std::sqrt(square[i]) / correction + eps);
  }
}

}  // namespace executorch::extension::training::optimizer
