// SPDX-License-Identifier: BSD-3-Clause
// Parameters that an optimizer updates with the same options.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/platform/assert.h>

namespace executorch::extension::training::optimizer {

// Tensors are handles: their memory belongs to whoever made them and must outlive the optimizer, as
// must the names. Copies have options of their own.
template <typename Options>
class ParamGroup {
 public:
  using NamedTensors = std::map<std::string_view, executorch::aten::Tensor>;

  // Implicit, as documented: a map stands for a group with the optimizer's default options.
  ParamGroup(const NamedTensors& named_parameters) : named_parameters_(named_parameters) {}
  ParamGroup(const NamedTensors& named_parameters, std::unique_ptr<Options> options)
      : named_parameters_(named_parameters), options_(std::move(options)) {}
  ParamGroup(const ParamGroup& other)
      : named_parameters_(other.named_parameters_),
        options_(other.has_options() ? other.options().clone() : nullptr) {}
  ParamGroup& operator=(const ParamGroup& other) {
    ParamGroup copy(other);
    std::swap(named_parameters_, copy.named_parameters_);
    std::swap(options_, copy.options_);
    return *this;
  }

  bool has_options() const { return options_ != nullptr; }

  // Aborts without options; the groups of an optimizer always have them.
  Options& options() {
    ET_CHECK_MSG(has_options(), "This group has no options: set_options() gives it some");
    return *options_;
  }
  const Options& options() const { return const_cast<ParamGroup*>(this)->options(); }
  void set_options(std::unique_ptr<Options> options) { options_ = std::move(options); }

  const NamedTensors& named_parameters() const { return named_parameters_; }

 private:
  NamedTensors named_parameters_;
  std::unique_ptr<Options> options_;
};

}  // namespace executorch::extension::training::optimizer
