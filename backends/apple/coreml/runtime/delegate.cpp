// SPDX-License-Identifier: BSD-3-Clause
// The way of a model: bytes of the file, files in the cache's folder, compiled there, loaded. The
// way of a value: the program's memory where dtype and sizes are the model's, else a copy.
#include <executorch/backends/apple/coreml/runtime/delegate.h>
#include <executorch/backends/apple/coreml/runtime/json_member.h>
#include <executorch/runtime/backend/files/folders.h>
#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <cinttypes>

namespace executorch::backends::coreml {

using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using runtime::copy_elements;
using runtime::DiskCache;
using runtime::Elements;
using runtime::Error;
using runtime::EValue;
using runtime::Result;
using runtime::Span;
using runtime::TensorArguments;
using runtime::TensorView;

namespace {

constexpr char kName[] = "CoreMLBackend";
constexpr int kFirstWithFunctions = 9;  // specification of models with several functions

template <typename Sizes>
std::string text_of_sizes(const Sizes& sizes, size_t rank) {
  std::string text = "[";
  for (size_t i = 0; i < rank; ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(sizes[i]);
  }
  return text + "]";
}

std::string text_of(const Feature& feature) {
  if (!feature.listed.empty()) {
    std::string text = "one of";
    for (const auto& sizes : feature.listed) {
      text += " " + text_of_sizes(sizes, sizes.size());
    }
    return text;
  }
  if (feature.ranges.empty()) {
    return text_of_sizes(feature.sizes, feature.sizes.size());
  }
  std::string text;
  for (const Feature::Range& range : feature.ranges) {
    const std::string max = range.max < 0 ? "" : std::to_string(range.max);
    text += (text.empty() ? "[" : ", ") + std::to_string(range.min) + ".." + max;
  }
  return text + "]";
}

bool is_equal(const std::vector<int64_t>& sizes, const Elements& found) {
  return std::equal(sizes.begin(), sizes.end(), found.sizes, found.sizes + found.rank);
}

bool fits(const Feature& feature, const Elements& found) {
  if (!feature.listed.empty()) {
    return std::any_of(feature.listed.begin(), feature.listed.end(),
                       [&](const auto& sizes) { return is_equal(sizes, found); });
  }
  if (feature.ranges.empty()) {
    return feature.sizes.empty() || is_equal(feature.sizes, found);
  }
  bool is_fitting = feature.ranges.size() == found.rank;
  for (size_t i = 0; i < found.rank && is_fitting; ++i) {
    const auto [min, max] = feature.ranges[i];
    is_fitting = found.sizes[i] >= min && (max < 0 || found.sizes[i] <= max);
  }
  return is_fitting;
}

/// Models have no values without dimensions: one of one element stands for it.
Elements elements_of(const executorch::aten::Tensor& tensor) {
  Elements elements = Elements::of(tensor);
  if (elements.rank == 0) {
    elements.rank = 1;
    elements.sizes[0] = 1;
    elements.strides[0] = 1;
  }
  return elements;
}

/// Memory of `copy` for elements like `like`, in another dtype.
Elements in_copy(const Elements& like, ScalarType dtype, std::vector<uint8_t>* copy) {
  Elements made =
      Elements::row_major(nullptr, dtype, std::vector<int64_t>(like.sizes, like.sizes + like.rank));
  copy->resize(made.nbytes());
  made.data = copy->data();
  return made;
}

/// A tensor of any dtype and order of dimensions; what is no tensor is refused by the arguments.
runtime::TensorRule rule_of(const EValue& value) {
  const ScalarType dtype = value.isTensor() ? value.toTensor().scalar_type() : ScalarType::Float;
  return {dtype, runtime::kAnyRank, /*is_contiguous=*/false};
}

Error check_dtype(const char* kind, size_t index, ScalarType from, ScalarType to) {
  ET_CHECK_OR_RETURN_ERROR(runtime::can_convert(from, to), InvalidArgument,
                           "%s: %s %zu: dtype %s cannot become %s: expected what the program was "
                           "compiled for",
                           kName, kind, index, runtime::toString(from), runtime::toString(to));
  return Error::Ok;
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

Error Delegate::bind(const Payload& payload) {
  const Description& found = model_->description();
  const auto bind_all = [](const char* kind, const std::vector<std::string>& names,
                           const std::vector<Feature>& features, std::vector<Port>* out) {
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
      out->push_back({feature, {}});
    }
    return Error::Ok;
  };
  ET_CHECK_OK_OR_RETURN_ERROR(bind_all("input", payload.inputs, found.inputs, &inputs_));
  return bind_all("output", payload.outputs, found.outputs, &outputs_);
}

Error Delegate::prewarm() {
  std::vector<NamedElements> inputs;
  std::vector<std::vector<uint8_t>> zeros(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Feature& feature = *inputs_[i].feature;
    Elements elements = Elements::row_major(nullptr, feature.dtype, feature.sizes);
    zeros[i].resize(elements.nbytes());
    elements.data = zeros[i].data();
    inputs.push_back({feature.name.c_str(), elements});
  }
  std::vector<NamedElements> outputs;
  for (const Port& port : outputs_) {
    outputs.push_back({port.feature->name.c_str(), {}});
  }
  ET_CHECK_OK_OR_RETURN_ERROR(
      model_->predict(inputs, outputs, [](size_t, const Elements&) { return Error::Ok; }));
  return model_->description().has_state ? model_->reset_state() : Error::Ok;
}

Error Delegate::execute(Span<EValue*> args, runtime::EventTracer* tracer) {
  const auto arguments =
      ET_UNWRAP(TensorArguments::of(kName, args, inputs_.size(), outputs_.size()));
  const Span<EValue*> values(args.data() + inputs_.size(), outputs_.size());
  std::vector<NamedElements> inputs;
  std::vector<NamedElements> outputs;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    inputs.push_back(
        { inputs_[i].feature->name.c_str(), ET_UNWRAP(give_input(arguments, i, *args[i])) });
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs.push_back(
        { outputs_[i].feature->name.c_str(), ET_UNWRAP(give_output(arguments, i, *values[i])) });
  }
  const et_timestamp_t start = tracer != nullptr ? et_pal_current_ticks() : 0;
  ET_CHECK_OK_OR_RETURN_ERROR(predict(inputs, std::move(outputs), values));
  if (tracer != nullptr) {
    report(*tracer, start, et_pal_current_ticks());
  }
  return Error::Ok;
}

Result<Elements> Delegate::give_input(const TensorArguments& arguments, size_t index,
                                      const EValue& value) {
  const TensorView view = ET_UNWRAP(arguments.input(index, rule_of(value)));
  const Elements given = elements_of(view.tensor());
  Port& port = inputs_[index];
  ET_CHECK_OR_RETURN_ERROR(fits(*port.feature, given) && given.numel() > 0, InvalidArgument,
                           "%s: input %zu (%s): expected sizes %s, found %s", kName, index,
                           port.feature->name.c_str(), text_of(*port.feature).c_str(),
                           text_of_sizes(given.sizes, given.rank).c_str());
  if (given.dtype == port.feature->dtype) {
    return given;
  }
  ET_CHECK_OK_OR_RETURN_ERROR(check_dtype("input", index, given.dtype, port.feature->dtype));
  const Elements copy = in_copy(given, port.feature->dtype, &port.copy);
  const std::string where = std::string(kName) + ": input " + port.feature->name;
  ET_CHECK_OK_OR_RETURN_ERROR(copy_elements(where.c_str(), given, copy));
  return copy;
}

/// Memory to write to, where the sizes are known; else none.
Result<Elements> Delegate::give_output(const TensorArguments& arguments, size_t index,
                                       const EValue& value) {
  const TensorView view = ET_UNWRAP(arguments.output(index, rule_of(value)));
  Port& port = outputs_[index];
  ET_CHECK_OK_OR_RETURN_ERROR(check_dtype("output", index, port.feature->dtype, view.dtype()));
  if (!port.feature->is_static()) {
    return Elements();
  }
  const std::vector<SizesType> sizes(port.feature->sizes.begin(), port.feature->sizes.end());
  if (view.rank() > 0) {
    ET_CHECK_OK_OR_RETURN_ERROR(view.resize({sizes.data(), sizes.size()}));
  }
  const Elements given = elements_of(view.tensor());
  ET_CHECK_OR_RETURN_ERROR(is_equal(port.feature->sizes, given) && given.data != nullptr,
                           InvalidArgument, "%s: output %zu (%s): expected memory of sizes %s",
                           kName, index, port.feature->name.c_str(),
                           text_of(*port.feature).c_str());
  return given.dtype == port.feature->dtype ? given
                                            : in_copy(given, port.feature->dtype, &port.copy);
}

Error Delegate::take_output(size_t index, const Elements& given, const Elements& result,
                            const EValue& value) {
  const executorch::aten::Tensor& tensor = value.toTensor();
  const bool is_given = given.data != nullptr && result.data == given.data;
  if (is_given && given.data == tensor.const_data_ptr()) {
    return Error::Ok;  // it is there
  }
  const std::string where = std::string(kName) + ": output " + outputs_[index].feature->name;
  const Elements& source = is_given ? given : result;
  if (tensor.dim() > 0) {
    std::vector<SizesType> sizes(source.sizes, source.sizes + source.rank);
    ET_CHECK_OK_OR_RETURN_ERROR(runtime::resize_tensor(tensor, {sizes.data(), sizes.size()}),
                                "%s cannot have sizes %s", where.c_str(),
                                text_of_sizes(source.sizes, source.rank).c_str());
  }
  const Elements target = elements_of(tensor);
  ET_CHECK_OR_RETURN_ERROR(target.data != nullptr || target.numel() == 0, InvalidArgument,
                           "%s has no memory", where.c_str());
  return copy_elements(where.c_str(), source, target);
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
          taking = index < outputs.size()
                       ? take_output(index, outputs[index].elements, result, *values[index])
                       : Error::Internal;
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
void Delegate::report(runtime::EventTracer& tracer, uint64_t start, uint64_t end) {
#ifdef ET_EVENT_TRACER_ENABLED
  if (tracer.event_tracer_profiling_level() !=
      runtime::EventTracerProfilingLevel::kProfileAllEvents) {
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
  double done = 0;
  const auto at = [&] {
    const double part = total > 0 ? done / total : 0;
    return start + static_cast<uint64_t>(part * static_cast<double>(end - start));
  };
  for (const PlannedOperation& each : *plan_) {
    const std::string name = (each.outputs.empty() ? "" : each.outputs.front()) + ":" + each.kind;
    const std::string said = coreml::text_of(Json{{"outputNames", each.outputs},
                                                  {"operatorName", each.kind},
                                                  {"estimatedCost", each.cost},
                                                  {"preferredComputeUnit", each.preferred},
                                                  {"supportedComputeUnits", each.supported}});
    const uint64_t begin = at();
    done += each.cost;
    runtime::event_tracer_log_profiling_delegate(&tracer, name.c_str(),
                                                 runtime::kUnsetDelegateDebugIntId, begin, at(),
                                                 said.data(), said.size());
  }
#else
  static_cast<void>(tracer);
  static_cast<void>(start);
  static_cast<void>(end);
#endif
}

}  // namespace executorch::backends::coreml
