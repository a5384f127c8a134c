// SPDX-License-Identifier: BSD-3-Clause
// Adam with decoupled weight decay (Loshchilov and Hutter, 2019), as torch.optim.AdamW.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <executorch/extension/training/optimizer/optimizer.h>

namespace executorch::extension::training::optimizer {

class AdamWOptions {
 public:
  explicit AdamWOptions(double lr = 1e-3, double beta1 = 0.9, double beta2 = 0.999,
                        double eps = 1e-8, double weight_decay = 1e-2)
      : lr_(lr), beta1_(beta1), beta2_(beta2), eps_(eps), weight_decay_(weight_decay) {}

  std::unique_ptr<AdamWOptions> clone() const { return std::make_unique<AdamWOptions>(*this); }
  double lr() const { return lr_; }
  double beta1() const { return beta1_; }
  double beta2() const { return beta2_; }
  double eps() const { return eps_; }
  double weight_decay() const { return weight_decay_; }

 private:
  double lr_;
  double beta1_;
  double beta2_;
  double eps_;
  double weight_decay_;
};

using AdamWParamGroup = ParamGroup<AdamWOptions>;

// t counts the steps of the parameter from 1.
//   p *= 1 - lr * weight_decay
//   m += (1 - beta1) * (g - m);  v = beta2 * v + (1 - beta2) * g^2
//   p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
struct AdamWRule {
  using Options = AdamWOptions;
  static std::vector<const char*> buffers(const AdamWOptions& options);
  static void update(const AdamWOptions& options, ParameterState& state, float* parameter,
                     const float* gradient, size_t count);
};

class AdamW : public Optimizer<AdamWRule> {
 public:
  using Optimizer::Optimizer;
};

}  // namespace executorch::extension::training::optimizer
