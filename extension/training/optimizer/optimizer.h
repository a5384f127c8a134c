// SPDX-License-Identifier: BSD-3-Clause
// What all optimizers share: groups of parameters, checks, state. A rule is the rest:
//
//   struct Rule {
//     using Options = ...;                                              // copied with clone()
//     static std::vector<const char*> buffers(const Options& options);  // their names
//     // The update of one parameter of `count` elements; state.steps() counts this one already.
//     static void update(const Options& options, ParameterState& state, float* parameter,
//                        const float* gradient, size_t count);
//   };
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <executorch/extension/training/optimizer/param_group.h>
#include <executorch/extension/training/optimizer/parameter_state.h>
#include <executorch/runtime/core/error.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::extension::training::optimizer {

// For one thread at a time. Parameters are written in place, gradients only read.
template <typename Rule>
class Optimizer {
 public:
  using Options = typename Rule::Options;
  using Group = ParamGroup<Options>;
  using NamedTensors = typename Group::NamedTensors;

  // Groups are copied; those without options get the defaults.
  explicit Optimizer(const std::vector<Group>& param_groups, Options defaults)
      : defaults_(std::move(defaults)) {
    for (const Group& group : param_groups) {
      add_param_group(group);
    }
  }
  explicit Optimizer(const NamedTensors& named_parameters, Options defaults)
      : Optimizer(std::vector<Group>{Group(named_parameters)}, std::move(defaults)) {}

  void add_param_group(const Group& param_group) {
    groups_.push_back({param_group, {}});
    if (!param_group.has_options()) {
      groups_.back().group.set_options(defaults_.clone());
    }
  }

  // Updates every parameter that has a gradient of its name; other gradients are ignored.
  // InvalidArgument, before anything is written: a parameter or gradient that is not Float or has
  // no memory, or the two differ in sizes or order of dimensions.
  [[nodiscard]] runtime::Error step(const NamedTensors& named_gradients) {
    for (const Member& member : groups_) {
      for (const auto& [name, parameter] : member.group.named_parameters()) {
        const auto gradient = named_gradients.find(name);
        if (gradient != named_gradients.end()) {
          ET_CHECK_OK_OR_RETURN_ERROR(check_gradient(name, parameter, gradient->second));
        }
      }
    }
    for (Member& member : groups_) {
      for (const auto& [name, parameter] : member.group.named_parameters()) {
        const auto gradient = named_gradients.find(name);
        if (gradient != named_gradients.end()) {
          ParameterState& state = state_of(member, name, parameter);
          ++state.steps();
          Rule::update(member.group.options(), state, parameter.template mutable_data_ptr<float>(),
                       gradient->second.template const_data_ptr<float>(),
                       static_cast<size_t>(parameter.numel()));
        }
      }
    }
    return runtime::Error::Ok;
  }

  // All that the next step depends on besides parameters and options, by the names of PyTorch's
  // flattened state dicts: "state.<parameter>.step", "state.<parameter>.<buffer>". The tensors
  // share the optimizer's memory: writing them (load_checkpoint) restores it.
  std::map<std::string, executorch::aten::Tensor> state_dict() {
    std::map<std::string, executorch::aten::Tensor> result;
    for (Member& member : groups_) {
      for (const auto& [name, parameter] : member.group.named_parameters()) {
        state_of(member, name, parameter).list(name, result);
      }
    }
    return result;
  }

 private:
  struct Member {
    Group group;
    std::map<std::string_view, ParameterState> states;  // made when first needed
  };

  static ParameterState& state_of(Member& member, std::string_view name,
                                  const executorch::aten::Tensor& parameter) {
    return member.states.try_emplace(name, parameter, Rule::buffers(member.group.options()))
        .first->second;
  }

  Options defaults_;
  std::vector<Member> groups_;
};

}  // namespace executorch::extension::training::optimizer
