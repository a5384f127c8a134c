// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/c/parts/training.h>

#include <array>
#include <cstring>

#include <executorch/extension/c/module_object.h>
#include <executorch/extension/c/structs.h>
#include <executorch/extension/training/checkpoint/checkpoint.h>
#include <executorch/extension/training/module/training_module.h>
#include <executorch/extension/training/optimizer/adamw.h>
#include <executorch/extension/training/optimizer/sgd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // how experimental ones are marked

namespace executorch::extension::c {

using executorch::aten::Tensor;
using runtime::Error;
using runtime::Result;
using training::TrainingModule;

namespace {

using NamedTensors = std::map<std::string_view, Tensor>;

// An optimizer of any rule.
class Steps {
 public:
  virtual ~Steps() = default;
  virtual Error step(const NamedTensors& gradients) = 0;
  virtual std::map<std::string, Tensor> state() = 0;
};

template <typename Optimizer>
class StepsOf final : public Steps {
 public:
  StepsOf(const NamedTensors& parameters, typename Optimizer::Options options)
      : optimizer_(parameters, std::move(options)) {}
  Error step(const NamedTensors& gradients) override { return optimizer_.step(gradients); }
  std::map<std::string, Tensor> state() override { return optimizer_.state_dict(); }

 private:
  Optimizer optimizer_;
};

constexpr size_t kNumSettings = 5;
using Values = std::array<double, kNumSettings>;

// Each rule with its settings, in the order of its constructor, and what they are otherwise.
struct Rule {
  const char* name;
  std::array<const char*, kNumSettings> settings;
  Values defaults;
  std::unique_ptr<Steps> (*make)(const NamedTensors& parameters, const Values& values);
};
const Rule kRules[] = {
    {"sgd",
     {"lr", "momentum", "dampening", "weight_decay", "nesterov"},
     {1e-3, 0, 0, 0, 0},
     [](const NamedTensors& parameters, const Values& v) -> std::unique_ptr<Steps> {
       return std::make_unique<StepsOf<training::optimizer::SGD>>(
           parameters, training::optimizer::SGDOptions(v[0], v[1], v[2], v[3], v[4] != 0));
     }},
    {"adamw",
     {"lr", "beta1", "beta2", "eps", "weight_decay"},
     {1e-3, 0.9, 0.999, 1e-8, 1e-2},
     [](const NamedTensors& parameters, const Values& v) -> std::unique_ptr<Steps> {
       return std::make_unique<StepsOf<training::optimizer::AdamW>>(
           parameters, training::optimizer::AdamWOptions(v[0], v[1], v[2], v[3], v[4]));
     }},
};

Result<Values> read_settings(const Rule& rule, const ExecuTorchSetting* settings, size_t count) {
  ET_CHECK_OK_OR_RETURN_ERROR(check_array(settings, count, "settings"));
  Values values = rule.defaults;
  for (size_t i = 0; i < count; ++i) {
    const char* const name = settings[i].name == nullptr ? "NULL" : settings[i].name;
    size_t place = 0;
    while (place < kNumSettings && std::strcmp(rule.settings[place], name) != 0) {
      ++place;
    }
    ET_CHECK_OR_RETURN_ERROR(place < kNumSettings, InvalidArgument,
                             "%s: expected one of the settings %s, %s, %s, %s, %s, found %s",
                             rule.name, rule.settings[0], rule.settings[1], rule.settings[2],
                             rule.settings[3], rule.settings[4], name);
    values[place] = settings[i].value;
  }
  return values;
}

Result<const Rule*> find_rule(const char* kind) {
  ET_C_NOT_NULL(kind);
  for (const Rule& rule : kRules) {
    if (std::strcmp(rule.name, kind) == 0) {
      return &rule;
    }
  }
  ET_LOG(Error, "expected the kind of optimizer sgd or adamw, found %s", kind);
  return Error::InvalidArgument;
}

// Its tensors lie in the method's memory; it is used only while the method's state lives.
struct OptimizerObject final : Object {
  static constexpr Kind kKind = Kind::Optimizer;

  ExecuTorchModule module = 0;
  std::string method;
  std::weak_ptr<const bool> is_method_loaded;
  std::unique_ptr<Steps> steps;
};

Result<TrainingModule*> training_of(ModuleObject& object) {
  ET_CHECK_OR_RETURN_ERROR(object.is_for_training, InvalidState,
                           "expected a module that was loaded with is_for_training");
  return static_cast<TrainingModule*>(object.module.get());
}

Result<NamedTensors> tensors_of(ModuleObject& object, const std::string& method, int32_t which) {
  TrainingModule* const module = ET_UNWRAP(training_of(object));
  switch (which) {
    case EXECUTORCH_PARAMETERS:
      return NamedTensors(ET_UNWRAP(module->named_parameters(method)));
    case EXECUTORCH_GRADIENTS:
      return NamedTensors(ET_UNWRAP(module->named_gradients(method)));
    case EXECUTORCH_STATE:
      return NamedTensors(ET_UNWRAP(module->named_attributes(method)));
    default:
      ET_LOG(Error, "expected parameters, gradients or state (0 to %d), found %d", EXECUTORCH_STATE,
             which);
      return Error::InvalidArgument;
  }
}

// body(optimizer, parameters, module) with module and optimizer for itself.
template <typename Body>
ExecuTorchStatus with_optimizer(const char* call, ExecuTorchOptimizer optimizer,
                                Body&& body) noexcept {
  return guard(call, [&]() -> Error {
    const auto pin = ET_UNWRAP(Pin<OptimizerObject>::take(optimizer, Use::Exclusive));
    const auto module = ET_UNWRAP(Pin<ModuleObject>::take(pin->module, Use::Exclusive),
                                  "the optimizer's module is not to be had");
    ET_CHECK_OR_RETURN_ERROR(!pin->is_method_loaded.expired(), InvalidState,
                             "method %s of the optimizer was unloaded", pin->method.c_str());
    return body(*pin, *module);
  });
}

}  // namespace

Result<std::unique_ptr<Module>> make_training_module(
    std::unique_ptr<runtime::DataLoader> program,
    std::unique_ptr<runtime::MemoryAllocator> memory_allocator,
    std::unique_ptr<runtime::MemoryAllocator> temp_allocator,
    std::unique_ptr<runtime::EventTracer> event_tracer, std::unique_ptr<runtime::DataLoader> data) {
  return std::unique_ptr<Module>(std::make_unique<TrainingModule>(
      std::move(program), std::move(memory_allocator), std::move(temp_allocator),
      std::move(event_tracer), std::move(data)));
}

ExecuTorchStatus train_step(ExecuTorchModule module, const char* method,
                            const ExecuTorchValue* inputs, size_t num_inputs,
                            ExecuTorchValue* outputs, size_t num_outputs,
                            size_t* out_count) noexcept {
  return guard("train_step", [&]() -> Error {
    ET_C_NOT_NULL(out_count);
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    TrainingModule* const trained = ET_UNWRAP(training_of(*pin));
    MethodRecord* const record = ET_UNWRAP(pin->record(method));
    ET_CHECK_OK_OR_RETURN_ERROR(check_array(inputs, num_inputs, "inputs"));
    ET_CHECK_OK_OR_RETURN_ERROR(check_array(outputs, num_outputs, "outputs"));
    for (size_t i = 0; i < num_inputs; ++i) {
      ET_CHECK_OR_RETURN_ERROR(inputs[i].name == nullptr, NotSupported,
                               "expected inputs by place, found the name %s", inputs[i].name);
    }
    const auto run = [&](const std::vector<runtime::EValue>& values) {
      return trained->execute_forward_backward(record->name, values);
    };
    *out_count =
        ET_UNWRAP(call_method(*pin, *record, {inputs, num_inputs}, {outputs, num_outputs}, run));
    return Error::Ok;
  });
}

ExecuTorchStatus trained_tensor(ExecuTorchModule module, const char* method, int32_t which,
                                size_t index, const char** out_name,
                                ExecuTorchTensor* out_tensor) noexcept {
  return guard("trained_tensor", [&]() -> Error {
    ET_C_NOT_NULL(out_name);
    ET_C_NOT_NULL(out_tensor);
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    const std::string its_method = name_of_method(method);
    const NamedTensors tensors = ET_UNWRAP(tensors_of(*pin, its_method, which));
    ET_CHECK_OK_OR_RETURN_ERROR(check_below(tensors.size(), index, "tensor"));
    const auto& [name, tensor] = *std::next(tensors.begin(), static_cast<ptrdiff_t>(index));
    MethodState& state = ET_UNWRAP(pin->record(method))
    ->started();
    const auto lent = state.trained.try_emplace({which, std::string(name)}).first;
    *out_tensor = ET_UNWRAP(lent->second.lend(tensor));
    *out_name = lent->first.second.c_str();
    return Error::Ok;
  });
}

ExecuTorchStatus optimizer_new(ExecuTorchModule module, const char* method, const char* kind,
                               const ExecuTorchSetting* settings, size_t num_settings,
                               ExecuTorchOptimizer* out_optimizer) noexcept {
  return guard("optimizer_new", [&]() -> Error {
    ET_C_NOT_NULL(out_optimizer);
    const auto pin = ET_UNWRAP(Pin<ModuleObject>::take(module, Use::Exclusive));
    const Rule* const rule = ET_UNWRAP(find_rule(kind));
    const Values values = ET_UNWRAP(read_settings(*rule, settings, num_settings));
    const std::string name = name_of_method(method);
    auto object = std::make_unique<OptimizerObject>();
    object->module = module;
    object->method = name;
    object->steps = rule->make(ET_UNWRAP(tensors_of(*pin, name, EXECUTORCH_PARAMETERS)), values);
    object->is_method_loaded = ET_UNWRAP(pin->record(method))
    ->started().life;
    const Handle handle = add(Kind::Optimizer, std::move(object));
    ET_CHECK_OR_RETURN_ERROR(handle != 0, MemoryAllocationFailed,
                             "there is no place for another handle: release some");
    *out_optimizer = handle;
    return Error::Ok;
  });
}

ExecuTorchStatus optimizer_step(ExecuTorchOptimizer optimizer) noexcept {
  return with_optimizer("optimizer_step", optimizer,
                        [](OptimizerObject& object, ModuleObject& module) -> Error {
                          return object.steps->step(
                              ET_UNWRAP(tensors_of(module, object.method, EXECUTORCH_GRADIENTS)));
                        });
}

ExecuTorchStatus checkpoint_save(ExecuTorchOptimizer optimizer, const char* path) noexcept {
  return with_optimizer(
      "checkpoint_save", optimizer, [&](OptimizerObject& object, ModuleObject& module) -> Error {
        ET_C_NOT_NULL(path);
        return training::save_checkpoint(
            path, ET_UNWRAP(tensors_of(module, object.method, EXECUTORCH_PARAMETERS)),
            object.steps->state());
      });
}

ExecuTorchStatus checkpoint_load(ExecuTorchOptimizer optimizer, const char* path) noexcept {
  return with_optimizer(
      "checkpoint_load", optimizer, [&](OptimizerObject& object, ModuleObject& module) -> Error {
        ET_C_NOT_NULL(path);
        return training::load_checkpoint(
            path, ET_UNWRAP(tensors_of(module, object.method, EXECUTORCH_PARAMETERS)),
            object.steps->state());
      });
}

}  // namespace executorch::extension::c
