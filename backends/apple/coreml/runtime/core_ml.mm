// SPDX-License-Identifier: BSD-3-Clause
// The calls into Core ML, and nothing else. Exceptions of Objective-C end here.
#import <CoreML/CoreML.h>
#import <Foundation/Foundation.h>

#include <executorch/backends/apple/coreml/runtime/core_ml.h>
#include <executorch/backends/apple/coreml/runtime/coreml_backend.h>

#include <chrono>
#include <future>
#include <limits>

namespace executorch::backends::coreml {

using executorch::aten::ScalarType;
using runtime::Elements;
using runtime::Error;
using runtime::Result;

namespace {

constexpr auto kCompileLimit = std::chrono::minutes(5);
constexpr auto kPlanLimit = std::chrono::minutes(1);

NSString* text_of(const std::string& text) {
  return [NSString stringWithUTF8String:text.c_str()] ?: @"";
}

std::string text_of(NSString* text) {
  return text.UTF8String != nullptr ? text.UTF8String : "";
}

/// The text that the documentation names, and of which model.
Error failed(const char* what, const std::string& of, NSError* error) {
  ET_LOG(Error, "[Core ML] Failed to %s model, error = %s (%s)", what,
         text_of(error.localizedDescription).c_str(), of.c_str());
  return Error::InvalidProgram;
}

/// `body` with what Objective-C throws as an error.
template <typename Body>
Error guarded(const char* what, const std::string& of, Body body) {
  @autoreleasepool {
    @try {
      return body();
    } @catch (NSException* exception) {
      ET_LOG(Error, "[Core ML] Failed to %s model, exception = %s (%s)", what,
             text_of(exception.reason).c_str(), of.c_str());
      return Error::Internal;
    }
  }
}

// ---- Values

MLMultiArrayDataType array_dtype_of(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Half:
      return MLMultiArrayDataTypeFloat16;
    case ScalarType::Double:
      return MLMultiArrayDataTypeDouble;
    case ScalarType::Int:
      return MLMultiArrayDataTypeInt32;
    default:
      return MLMultiArrayDataTypeFloat32;
  }
}

/// NotSupported for a dtype that our files never have.
Error read_dtype(MLMultiArrayDataType found, ScalarType* out) {
  for (ScalarType dtype :
       {ScalarType::Float, ScalarType::Half, ScalarType::Double, ScalarType::Int}) {
    if (array_dtype_of(dtype) == found) {
      *out = dtype;
      return Error::Ok;
    }
  }
  ET_LOG(Error, "[Core ML] no tensors of MLMultiArrayDataType %ld", static_cast<long>(found));
  return Error::NotSupported;
}

NSArray<NSNumber*>* numbers_of(const int64_t* values, size_t count) {
  NSMutableArray<NSNumber*>* numbers = [NSMutableArray array];
  for (size_t i = 0; i < count; ++i) {
    [numbers addObject:@(values[i])];
  }
  return numbers;
}

std::vector<int64_t> numbers_of(NSArray<NSNumber*>* numbers) {
  std::vector<int64_t> values;
  for (NSNumber* number in numbers) {
    values.push_back(number.longLongValue);
  }
  return values;
}

/// An array over memory of others; nil, with the reason in `error`, where there can be none.
MLMultiArray* array_over(const Elements& elements, NSError** error) {
  return [[MLMultiArray alloc] initWithDataPointer:elements.data
                                             shape:numbers_of(elements.sizes, elements.rank)
                                          dataType:array_dtype_of(elements.dtype)
                                           strides:numbers_of(elements.strides, elements.rank)
                                       deallocator:nil
                                             error:error];
}

Error read_elements(MLMultiArray* array, const void* data, Elements* out) {
  ET_CHECK_OK_OR_RETURN_ERROR(read_dtype(array.dataType, &out->dtype));
  const auto sizes = numbers_of(array.shape);
  const auto strides = numbers_of(array.strides);
  ET_CHECK_OR_RETURN_ERROR(
      sizes.size() <= runtime::kTensorDimensionLimit && strides.size() == sizes.size(),
      NotSupported, "[Core ML] a result of %zu dimensions, at most %zu", sizes.size(),
      runtime::kTensorDimensionLimit);
  out->data = const_cast<void*>(data);
  out->rank = sizes.size();
  std::copy(sizes.begin(), sizes.end(), out->sizes);
  std::copy(strides.begin(), strides.end(), out->strides);
  return Error::Ok;
}

Error read_feature(MLFeatureDescription* described, Feature* out) {
  out->name = text_of(described.name);
  MLMultiArrayConstraint* constraint = described.multiArrayConstraint;
  ET_CHECK_OR_RETURN_ERROR(
      described.type == MLFeatureTypeMultiArray && constraint != nil, NotSupported,
      "[Core ML] %s: expected a multi-array, found MLFeatureType %ld", out->name.c_str(),
      static_cast<long>(described.type));
  ET_CHECK_OK_OR_RETURN_ERROR(read_dtype(constraint.dataType, &out->dtype));
  out->sizes = numbers_of(constraint.shape);
  MLMultiArrayShapeConstraint* shapes = constraint.shapeConstraint;
  if (shapes.type == MLMultiArrayShapeConstraintTypeEnumerated &&
      shapes.enumeratedShapes.count > 1) {
    for (NSArray<NSNumber*>* sizes in shapes.enumeratedShapes) {
      out->listed.push_back(numbers_of(sizes));
    }
  } else if (shapes.type == MLMultiArrayShapeConstraintTypeRange) {
    for (NSValue* value in shapes.sizeRangeForDimension) {
      // Whether the end is one of the sizes is Core ML's to say: it is let through.
      const NSRange range = value.rangeValue;
      const bool is_bounded = range.length < std::numeric_limits<int32_t>::max();
      const auto end = static_cast<int64_t>(range.location + range.length);
      out->ranges.push_back({static_cast<int64_t>(range.location), is_bounded ? end : runtime::kNoMaxSize});
    }
  }
  return Error::Ok;
}

Error read_features(NSDictionary<NSString*, MLFeatureDescription*>* described,
                    std::vector<Feature>* out) {
  for (NSString* name in described) {
    out->emplace_back();
    ET_CHECK_OK_OR_RETURN_ERROR(read_feature(described[name], &out->back()));
  }
  return Error::Ok;
}

// ---- Models

API_AVAILABLE(macos(14.0), ios(17.0), tvos(17.0), watchos(10.0))
std::string name_of_device(id<MLComputeDeviceProtocol> device) {
  if ([device isKindOfClass:[MLNeuralEngineComputeDevice class]]) {
    return "NE";
  }
  return [device isKindOfClass:[MLGPUComputeDevice class]] ? "GPU" : "CPU";
}

class LoadedModel final : public Model {
 public:
  LoadedModel(std::string path, MLModelConfiguration* configuration, std::string function)
      : path_(std::move(path)), configuration_(configuration), function_(std::move(function)) {}

  Error load() {
    NSError* error = nil;
    NSURL* url = [NSURL fileURLWithPath:text_of(path_)];
    model_ = [MLModel modelWithContentsOfURL:url configuration:configuration_ error:&error];
    if (model_ == nil) {
      return failed("load", path_, error);
    }
    MLModelDescription* described = model_.modelDescription;
    ET_CHECK_OK_OR_RETURN_ERROR(
        read_features(described.inputDescriptionsByName, &description_.inputs));
    ET_CHECK_OK_OR_RETURN_ERROR(
        read_features(described.outputDescriptionsByName, &description_.outputs));
    if (@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, *)) {
      description_.has_state = described.stateDescriptionsByName.count > 0;
    }
    return description_.has_state ? reset_state() : Error::Ok;
  }

  const Description& description() const override { return description_; }

  Error predict(const std::vector<NamedElements>& inputs,
                const std::vector<NamedElements>& outputs, const Take& take) override {
    return guarded("run", path_, [&] { return predict_guarded(inputs, outputs, take); });
  }

  Error reset_state() override {
    return guarded("make the state of the", path_, [&] {
      if (@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, *)) {
        state_ = [model_ newState];
      }
      return state_ != nil ? Error::Ok : Error::NotSupported;
    });
  }

  Error plan(std::vector<PlannedOperation>* out) override {
    return guarded("plan", path_, [&] {
      if (@available(macOS 14.4, iOS 17.4, tvOS 17.4, watchOS 10.4, *)) {
        return read_plan(out);
      }
      ET_LOG(Error, "[Core ML] plans of models need macOS 14.4 or iOS 17.4");
      return Error::NotSupported;
    });
  }

 private:
  Error predict_guarded(const std::vector<NamedElements>& inputs,
                        const std::vector<NamedElements>& outputs, const Take& take) {
    NSError* error = nil;
    NSMutableDictionary<NSString*, id>* values = [NSMutableDictionary dictionary];
    for (const NamedElements& input : inputs) {
      MLMultiArray* array = array_over(input.elements, &error);
      if (array == nil) {
        return failed("give an input to the", path_, error);
      }
      values[text_of(input.name)] = [MLFeatureValue featureValueWithMultiArray:array];
    }
    NSMutableDictionary<NSString*, id>* memory = [NSMutableDictionary dictionary];
    for (const NamedElements& output : outputs) {
      MLMultiArray* array =
          output.elements.data != nullptr ? array_over(output.elements, &error) : nil;
      if (array != nil) {
        memory[text_of(output.name)] = array;
      }
    }
    MLDictionaryFeatureProvider* given =
        [[MLDictionaryFeatureProvider alloc] initWithDictionary:values error:&error];
    MLPredictionOptions* options = [[MLPredictionOptions alloc] init];
    options.outputBackings = memory;
    id<MLFeatureProvider> results = run(given, options, &error);
    if (results == nil) {
      return failed("run", path_, error);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      NSString* name = text_of(outputs[i].name);
      MLMultiArray* result = [results featureValueForName:name].multiArrayValue;
      ET_CHECK_OR_RETURN_ERROR(result != nil, Internal, "[Core ML] no result %s", outputs[i].name);
      ET_CHECK_OK_OR_RETURN_ERROR(result == memory[name]
                                      ? take(i, outputs[i].elements)
                                      : take_result(result, i, take));
    }
    return Error::Ok;
  }

  static Error take_result(MLMultiArray* result, size_t index, const Take& take) {
    const auto take_bytes = [&](const void* bytes) {
      Elements elements;
      ET_CHECK_OK_OR_RETURN_ERROR(read_elements(result, bytes, &elements));
      return take(index, elements);
    };
    if (@available(macOS 12.3, iOS 15.4, tvOS 15.4, watchOS 8.5, *)) {
      __block Error taken = Error::Internal;
      [result getBytesWithHandler:^(const void* bytes, NSInteger) {
        taken = take_bytes(bytes);
      }];
      return taken;
    }
    return take_bytes(result.dataPointer);
  }

  id<MLFeatureProvider> run(MLDictionaryFeatureProvider* given, MLPredictionOptions* options,
                            NSError** error) {
    if (@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, *)) {
      if (state_ != nil) {
        return [model_ predictionFromFeatures:given
                                   usingState:(MLState*)state_
                                      options:options
                                        error:error];
      }
    }
    return [model_ predictionFromFeatures:given options:options error:error];
  }

  API_AVAILABLE(macos(14.4), ios(17.4), tvos(17.4), watchos(10.4))
  Error read_plan(std::vector<PlannedOperation>* out) {
    const auto made = std::make_shared<std::promise<MLComputePlan*>>();
    auto waiting = made->get_future();
    [MLComputePlan loadContentsOfURL:[NSURL fileURLWithPath:text_of(path_)]
                       configuration:configuration_
                   completionHandler:^(MLComputePlan* plan, NSError*) {
                     made->set_value(plan);
                   }];
    ET_CHECK_OR_RETURN_ERROR(waiting.wait_for(kPlanLimit) == std::future_status::ready, Internal,
                             "[Core ML] no plan of %s in a minute", path_.c_str());
    MLComputePlan* plan = waiting.get();
    NSString* function = function_.empty() ? @"main" : text_of(function_);
    MLModelStructureProgramFunction* found = plan.modelStructure.program.functions[function];
    for (MLModelStructureProgramOperation* operation in found.block.operations) {
      MLComputePlanCost* cost = [plan estimatedCostOfMLProgramOperation:operation];
      MLComputePlanDeviceUsage* usage = [plan computeDeviceUsageForMLProgramOperation:operation];
      if (cost == nil || usage == nil) {
        continue;  // constants
      }
      PlannedOperation planned;
      planned.kind = text_of(operation.operatorName);
      planned.cost = cost.weight;
      for (MLModelStructureProgramNamedValueType* output in operation.outputs) {
        planned.outputs.push_back(text_of(output.name));
      }
      planned.preferred = name_of_device(usage.preferredComputeDevice);
      for (id<MLComputeDeviceProtocol> device in usage.supportedComputeDevices) {
        planned.supported.push_back(name_of_device(device));
      }
      out->push_back(std::move(planned));
    }
    return found != nil ? Error::Ok : Error::NotSupported;
  }

  std::string path_;
  MLModelConfiguration* configuration_;
  std::string function_;
  MLModel* model_ = nil;
  id state_ = nil;  // MLState, of systems that have it
  Description description_;
};

MLComputeUnits units_of(ComputeUnit unit) {
  switch (unit) {
    case ComputeUnit::kCpuOnly:
      return MLComputeUnitsCPUOnly;
    case ComputeUnit::kCpuAndGpu:
      return MLComputeUnitsCPUAndGPU;
    case ComputeUnit::kCpuAndNe:
      if (@available(macOS 13.0, iOS 16.0, tvOS 16.0, watchOS 9.0, *)) {
        return MLComputeUnitsCPUAndNeuralEngine;
      }
      return MLComputeUnitsAll;  // earlier systems have no such choice
    default:
      return MLComputeUnitsAll;
  }
}

struct Compiled {
  NSURL* url = nil;
  NSError* error = nil;
};

Error compile_package(NSURL* package, Compiled* out) {
  if (@available(macOS 13.0, iOS 16.0, tvOS 16.0, *)) {
    const auto made = std::make_shared<std::promise<Compiled>>();
    auto waiting = made->get_future();
    [MLModel compileModelAtURL:package
             completionHandler:^(NSURL* url, NSError* error) {
               made->set_value({url, error});
             }];
    ET_CHECK_OR_RETURN_ERROR(waiting.wait_for(kCompileLimit) == std::future_status::ready,
                             InvalidProgram,
                             "[Core ML] Failed to compile model %s: not in five minutes",
                             text_of(package.path).c_str());
    *out = waiting.get();
    return Error::Ok;
  }
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"  // what earlier systems have
  NSError* error = nil;
  out->url = [MLModel compileModelAtURL:package error:&error];
  out->error = error;
#pragma clang diagnostic pop
  return Error::Ok;
}

Error make_configuration(ComputeUnit unit, const std::string& function,
                         MLModelConfiguration* __strong* out) {
  MLModelConfiguration* configuration = [[MLModelConfiguration alloc] init];
  configuration.computeUnits = units_of(unit);
  if (!function.empty()) {
    if (@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, *)) {
      configuration.functionName = text_of(function);
    } else {
      return Error::NotSupported;
    }
  }
  *out = configuration;
  return Error::Ok;
}

/// A number of the app's file of settings, or nil.
NSNumber* setting(NSString* key) {
  NSString* path = [NSBundle.mainBundle pathForResource:@"com.apple.executorchcoreml_config"
                                                 ofType:@"plist"];
  NSDictionary<NSString*, id>* found =
      path != nil ? [NSDictionary dictionaryWithContentsOfFile:path] : nil;
  id value = found[key];
  return [value isKindOfClass:[NSNumber class]] ? (NSNumber*)value : nil;
}

class AppleCoreML final : public CoreML {
 public:
  bool is_available() const override { return true; }

  int latest_specification() const override {
    if (@available(macOS 26.0, iOS 26.0, tvOS 26.0, watchOS 26.0, *)) {
      return 10;
    }
    if (@available(macOS 15.0, iOS 18.0, tvOS 18.0, watchOS 11.0, *)) {
      return 9;
    }
    if (@available(macOS 14.0, iOS 17.0, tvOS 17.0, watchOS 10.0, *)) {
      return 8;
    }
    return 7;
  }

  Defaults defaults() const override {
    Defaults defaults;
    @autoreleasepool {
#ifdef EXECUTORCH_COREML_ASSETS_DIRECTORY_PATH
      defaults.cache_folder = EXECUTORCH_COREML_ASSETS_DIRECTORY_PATH;
#else
      NSString* caches =
          NSSearchPathForDirectoriesInDomains(NSCachesDirectory, NSUserDomainMask, YES).firstObject;
      defaults.cache_folder = text_of(caches) + "/executorchcoreml";
#endif
      NSNumber* bytes = setting(@"maxModelsCacheSizeInBytes") ?: setting(@"maxAssetsSizeInBytes");
      if (bytes != nil) {
        defaults.max_cache_bytes = bytes.unsignedLongLongValue;
      }
      NSNumber* prewarms = setting(@"shouldPrewarmModel");
      defaults.prewarms = prewarms == nil || prewarms.boolValue;
    }
    return defaults;
  }

  void prepare_folder(const std::string& path) const override {
    static_cast<void>(guarded("prepare the folder of a", path, [&] {
      NSURL* url = [NSURL fileURLWithPath:text_of(path)];
      [url setResourceValue:@YES forKey:NSURLIsExcludedFromBackupKey error:nil];
      NSDictionary<NSString*, id>* protection =
          @{NSFileProtectionKey : NSFileProtectionCompleteUntilFirstUserAuthentication};
      [NSFileManager.defaultManager setAttributes:protection ofItemAtPath:url.path error:nil];
      return Error::Ok;
    }));
  }

  Error compile(const std::string& package, const std::string& path) const override {
    return guarded("compile", package, [&] {
      Compiled compiled;
      ET_CHECK_OK_OR_RETURN_ERROR(
          compile_package([NSURL fileURLWithPath:text_of(package)], &compiled));
      if (compiled.url == nil) {
        return failed("compile", package, compiled.error);
      }
      NSError* error = nil;
      const BOOL is_moved =
          [NSFileManager.defaultManager moveItemAtURL:compiled.url
                                                toURL:[NSURL fileURLWithPath:text_of(path)]
                                                error:&error];
      return is_moved ? Error::Ok : failed("keep", path, error);
    });
  }

  Result<std::unique_ptr<Model>> load(const std::string& path, ComputeUnit unit,
                                      const std::string& function) const override {
    std::unique_ptr<LoadedModel> model;
    const Error error = guarded("load", path, [&] {
      MLModelConfiguration* configuration = nil;
      ET_CHECK_OK_OR_RETURN_ERROR(make_configuration(unit, function, &configuration));
      model = std::make_unique<LoadedModel>(path, configuration, function);
      return model->load();
    });
    ET_CHECK_OK_OR_RETURN_ERROR(error);
    return std::unique_ptr<Model>(std::move(model));
  }
};

Error register_core_ml() {
  static const auto& core_ml = *new AppleCoreML();
  static auto& backend = *new CoreMLBackendDelegate(core_ml);
  return register_coreml_backend(&backend);
}

}  // namespace

}  // namespace executorch::backends::coreml

// What links the library asks for this name, and so for this file.
extern "C" {
#ifdef LAZY_LOAD_IOS_PYTORCH_INITIALIZER
executorch::runtime::Error (*executorch_coremldelegate)() =
    executorch::backends::coreml::register_core_ml;
#else
executorch::runtime::Error executorch_coremldelegate =
    executorch::backends::coreml::register_core_ml();
#endif
}
