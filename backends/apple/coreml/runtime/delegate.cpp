// SPDX-License-Identifier: BSD-3-Clause
// The way of a model: bytes of the file, files in the cache's folder, compiled there, loaded. The
// way of a value: the program's memory where dtype and sizes are the model's, else a copy.
#include <executorch/backends/apple/coreml/runtime/delegate.h>
#include <executorch/backends/apple/coreml/runtime/json_member.h>
#include <executorch/runtime/backend/delegate_event.h>
#include <executorch/runtime/backend/files/folders.h>
#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <cinttypes>

namespace executorch::backends::coreml {

using runtime::DiskCache;
using runtime::Elements;
using runtime::Error;
using runtime::EValue;
using runtime::OperatorEvents;
using runtime::Result;
using runtime::Span;

namespace {

constexpr char kName[] = "CoreMLBackend";
constexpr int kFirstWithFunctions = 9;  // specification of models with several functions

constexpr runtime::PortRules kRules{runtime::can_convert, /*takes_strides=*/true,
                                    /*takes_scalars=*/false, /*takes_empty=*/false};

runtime::PortSizes sizes_of(const Feature& feature) {
  if (!feature.listed.empty()) {
    return runtime::PortSizes::listed(feature.listed);
  }
  if (!feature.ranges.empty()) {
    return runtime::PortSizes::ranges(feature.ranges);
  }
  return feature.sizes.empty() ? runtime::PortSizes() : runtime::PortSizes::fixed(feature.sizes);
}

/// Writes a compiled model to `path`.
Error compile(const CoreML& core_ml, const Payload& payload, const DiskCache& cache,
              const std::string& path) {
  std::string error;
  const std::string package = payload.is_compiled ? path : cache.temporary_path() + ".mlpackage";
  ET_LOG(Info, "Cache Miss: no compiled model with identifier=%s", payload.identifier.c_str());
  ET_LOG(Info, "%s",
         payload.is_compiled
             ? "The model in the pte file is pre-compiled.  Skipping compilation."
             : "The model in the pte file is not pre-compiled.  Compiling with a 5 min timeout.");
  if (!write_node(payload.nodes, payload.model, package, &error)) {
    ET_LOG(Error, "%s: %s", kName, error.c_str());
    runtime::remove_all(package);
    return Error::AccessFailed;
  }
  if (payload.is_compiled) {
    return Error::Ok;
  }
  const Error compiled = core_ml.compile(package, path);
  runtime::remove_all(package);
  return compiled;
}

/// With fewer processors where Core ML refuses those that were asked for: a model that the Neural
/// Engine does not take runs on others.
Result<std::unique_ptr<Model>> load(const CoreML& core_ml, const std::string& path,
                                    ComputeUnit unit, const std::string& function) {
  auto model = core_ml.load(path, unit, function);
  if (model.ok() || (unit != ComputeUnit::kAll && unit != ComputeUnit::kCpuAndNe)) {
    return model;
  }
  const ComputeUnit less =
      unit == ComputeUnit::kAll ? ComputeUnit::kCpuAndGpu : ComputeUnit::kCpuOnly;
  auto with_less = core_ml.load(path, less, function);
  if (with_less.ok()) {
    ET_LOG(Error, "%s: does not load with compute_unit %s: runs with %s", kName, name_of(unit),
           name_of(less));
    return with_less;
  }
  return model;
}

/// The first that loads a specification; versions 19 to 25 do not exist.
int ios_of(int specification) {
  return specification < 10 ? specification + 9 : specification + 16;
}

const Feature* find(const std::vector<Feature>& features, const std::string& name) {
  const auto found = std::find_if(features.begin(), features.end(),
                                  [&](const Feature& each) { return each.name == name; });
  return found == features.end() ? nullptr : &*found;
}

}  // namespace

Result<std::unique_ptr<Delegate>> Delegate::create(const CoreML& core_ml, const Payload& payload,
                                                   const Settings& settings, bool prewarms,
                                                   std::shared_ptr<DiskCache> cache) {
  const int needed =
      std::max(settings.specification, payload.function.empty() ? 0 : kFirstWithFunctions);
  const int latest = core_ml.latest_specification();
  ET_CHECK_OR_RETURN_ERROR(
      needed <= latest, DelegateInvalidCompatibility,
      "%s: the model needs a system with specification %d (iOS %d), this one has %d (iOS %d): "
      "export with an earlier minimum_deployment_target",
      kName, needed, ios_of(needed), latest, ios_of(latest));
  bool is_made = false;
  const auto make = [&](const std::string& path) {
    is_made = true;
    return compile(core_ml, payload, *cache, path);
  };
  std::unique_ptr<Delegate> delegate;
  for (int attempt = 0; attempt < 2 && delegate == nullptr && !is_made; ++attempt) {
    DiskCache::Entry entry = ET_UNWRAP(cache->get(payload.identifier, make));
    if (!is_made) {
      ET_LOG(Info, "Cache Hit: Successfully retrieved compiled model with identifier=%s",
             payload.identifier.c_str());
    }
    auto model = load(core_ml, entry.path(), settings.compute_unit, payload.function);
    if (model.ok()) {
      delegate.reset(new (std::nothrow) Delegate(std::move(*model), std::move(entry)));
      ET_CHECK_OR_RETURN_ERROR(delegate != nullptr, MemoryAllocationFailed, "%s: no memory", kName);
    } else {
      // What is kept may be corrupted: it is compiled again, once.
      cache->remove(std::move(entry));
    }
  }
  ET_CHECK_OR_RETURN_ERROR(delegate != nullptr, InvalidProgram,
                           "%s: model %s does not load (function \"%s\", compute_unit %s)", kName,
                           payload.identifier.c_str(), payload.function.c_str(),
                           name_of(settings.compute_unit));
  ET_CHECK_OK_OR_RETURN_ERROR(delegate->bind(payload));
  if (prewarms && delegate->prewarm() != Error::Ok) {
    ET_LOG(Info, "%s: the first run of model %s will be slow: it does not run with zeros", kName,
           payload.identifier.c_str());
  }
  return delegate;
}

Delegate::Delegate(std::unique_ptr<Model> model, DiskCache::Entry entry)
    : entry_(std::move(entry)), model_(std::move(model)), ports_(kName, kRules) {}

Error Delegate::bind(const Payload& payload) {
  const Description& found = model_->description();
  const auto bind_all = [](const char* kind, const std::vector<std::string>& names,
                           const std::vector<Feature>& features, std::vector<runtime::Port>* out) {
    ET_CHECK_OR_RETURN_ERROR(names.size() == features.size(), InvalidProgram,
                             "%s: expected a model of %zu %ss, found %zu", kName, names.size(),
                             kind, features.size());
    for (const std::string& name : names) {
      const Feature* feature = find(features, name);
      ET_CHECK_OR_RETURN_ERROR(feature != nullptr, InvalidProgram,
                               "%s: expected a model with %s \"%s\", found none", kName, kind,
                               name.c_str());
      ET_CHECK_OR_RETURN_ERROR(feature->sizes.size() <= runtime::kTensorDimensionLimit,
                               InvalidProgram, "%s: %s \"%s\" has %zu dimensions, at most %zu",
                               kName, kind, name.c_str(), feature->sizes.size(),
                               runtime::kTensorDimensionLimit);
      out->push_back({feature->name, feature->dtype, sizes_of(*feature)});
    }
    return Error::Ok;
  };
  ET_CHECK_OK_OR_RETURN_ERROR(bind_all("input", payload.inputs, found.inputs, &ports_.inputs));
  return bind_all("output", payload.outputs, found.outputs, &ports_.outputs);
}

Error Delegate::prewarm() {
  const Description& description = model_->description();
  std::vector<NamedElements> inputs;
  std::vector<std::vector<uint8_t>> zeros;
  for (const Feature& feature : description.inputs) {
    Elements elements = Elements::row_major(nullptr, feature.dtype, feature.sizes);
    zeros.emplace_back(elements.nbytes());
    elements.data = zeros.back().data();
    inputs.push_back({feature.name.c_str(), elements});
  }
  std::vector<NamedElements> outputs;
  for (const Feature& feature : description.outputs) {
    outputs.push_back({feature.name.c_str(), {}});
  }
  ET_CHECK_OK_OR_RETURN_ERROR(
      model_->predict(inputs, outputs, [](size_t, const Elements&) { return Error::Ok; }));
  return description.has_state ? model_->reset_state() : Error::Ok;
}

Error Delegate::execute(Span<EValue*> args, runtime::EventTracer* tracer) {
  ET_CHECK_OK_OR_RETURN_ERROR(ports_.check_count(args));
  const Span<EValue*> values(args.data() + ports_.inputs.size(), ports_.outputs.size());
  std::vector<NamedElements> inputs;
  std::vector<NamedElements> outputs;
  for (size_t i = 0; i < ports_.inputs.size(); ++i) {
    const Elements elements = ET_UNWRAP(ports_.prepare_input(i, *args[i]));
    inputs.push_back({ports_.inputs[i].name.c_str(), elements});
  }
  for (size_t i = 0; i < ports_.outputs.size(); ++i) {
    const Elements elements = ET_UNWRAP(ports_.prepare_output(i, *values[i]));
    outputs.push_back({ports_.outputs[i].name.c_str(), elements});
  }
  const et_timestamp_t start = tracer != nullptr ? et_pal_current_ticks() : 0;
  ET_CHECK_OK_OR_RETURN_ERROR(predict(inputs, std::move(outputs), values));
  report(tracer, start, tracer != nullptr ? et_pal_current_ticks() : 0);
  return Error::Ok;
}

Error Delegate::predict(const std::vector<NamedElements>& inputs,
                        std::vector<NamedElements> outputs, Span<EValue*> values) {
  const auto forget_memory = [&] {
    for (NamedElements& each : outputs) {
      each.elements.data = nullptr;
    }
  };
  bool has_memory = takes_memory_ && std::any_of(outputs.begin(), outputs.end(), [](const auto& o) {
                      return o.elements.data != nullptr;
                    });
  if (!takes_memory_) {
    forget_memory();
  }
  for (;; has_memory = false) {
    size_t num_taken = 0;
    Error taking = Error::Ok;
    const Error predicted =
        model_->predict(inputs, outputs, [&](size_t index, const Elements& result) {
          taking = Error::Internal;
          if (index < outputs.size()) {
            const Elements& given = outputs[index].elements;
            const bool is_given = given.data != nullptr && result.data == given.data;
            taking = ports_.store_output(index, is_given ? given : result, *values[index]);
          }
          ++num_taken;
          return taking;
        });
    ET_CHECK_OK_OR_RETURN_ERROR(taking);
    if (predicted == Error::Ok) {
      ET_CHECK_OR_RETURN_ERROR(num_taken == outputs.size(), DelegateInvalidHandle,
                               "%s: expected %zu outputs, found %zu", kName, outputs.size(),
                               num_taken);
      return Error::Ok;
    }
    ET_CHECK_OR_RETURN_ERROR(has_memory, DelegateInvalidHandle,
                             "%s: the prediction failed (error %" PRIu32 ")", kName,
                             static_cast<uint32_t>(predicted));
    // Some models do not write to memory that they are given: never again with this one.
    takes_memory_ = false;
    forget_memory();
  }
}

/// Core ML tells what operations should cost of a prediction, not how long they took: the time that
/// all took is shared out so.
void Delegate::report(runtime::EventTracer* tracer, uint64_t start, uint64_t end) {
  if (!OperatorEvents::are_wanted(tracer)) {
    return;
  }
  if (!plan_.has_value()) {
    plan_.emplace();
    if (model_->plan(&*plan_) != Error::Ok) {
      plan_->clear();
    }
  }
  double total = 0;
  for (const PlannedOperation& each : *plan_) {
    total += each.cost;
  }
  OperatorEvents events(tracer, start, total > 0 ? static_cast<double>(end - start) / total : 0);
  for (const PlannedOperation& each : *plan_) {
    const std::string name = (each.outputs.empty() ? "" : each.outputs.front()) + ":" + each.kind;
    const std::string text = coreml::text_of(Json{{"outputNames", each.outputs},
                                                  {"operatorName", each.kind},
                                                  {"estimatedCost", each.cost},
                                                  {"preferredComputeUnit", each.preferred},
                                                  {"supportedComputeUnits", each.supported}});
    events.add(name.c_str(), each.cost, text.data(), text.size());
  }
}

}  // namespace executorch::backends::coreml
