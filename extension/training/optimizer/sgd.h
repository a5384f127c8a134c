// SPDX-License-Identifier: BSD-3-Clause
// Stochastic gradient descent with momentum, weight decay and Nesterov's variant, as
// torch.optim.SGD.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include <executorch/extension/training/optimizer/optimizer.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::extension::training::optimizer {

// The momentum buffer of one parameter.
class SGDParamState {
 public:
  explicit SGDParamState(executorch::aten::Tensor& momentum_buffer)
      : momentum_buffer_(momentum_buffer) {}
  executorch::aten::Tensor& momentum_buffer() { return momentum_buffer_; }

 private:
  executorch::aten::Tensor momentum_buffer_;
};

class SGDOptions {
 public:
  explicit SGDOptions(double lr, double momentum = 0, double dampening = 0, double weight_decay = 0,
                      bool nesterov = false)
      : lr_(lr),
        momentum_(momentum),
        dampening_(dampening),
        weight_decay_(weight_decay),
        nesterov_(nesterov) {}

  std::unique_ptr<SGDOptions> clone() const { return std::make_unique<SGDOptions>(*this); }
  double lr() const { return lr_; }
  double momentum() const { return momentum_; }
  double dampening() const { return dampening_; }
  double weight_decay() const { return weight_decay_; }
  bool nesterov() const { return nesterov_; }

 private:
  double lr_;
  double momentum_;
  double dampening_;
  double weight_decay_;
  bool nesterov_;
};

using SGDParamGroup = ParamGroup<SGDOptions>;

// g += weight_decay * p
// b  = momentum * b + (1 - dampening) * g     (the first time: b = g)
// p -= lr * (nesterov ? g + momentum * b : b)
struct SGDRule {
  using Options = SGDOptions;
  static std::vector<const char*> buffers(const SGDOptions& options);
  static void update(const SGDOptions& options, ParameterState& state, float* parameter,
                     const float* gradient, size_t count);
};

class SGD : public Optimizer<SGDRule> {
 public:
  using Optimizer::Optimizer;
};

}  // namespace executorch::extension::training::optimizer
