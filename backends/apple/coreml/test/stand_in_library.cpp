// SPDX-License-Identifier: BSD-3-Clause
// CoreMLBackend on the stand-in, for Python: what models are and compute is said by callbacks
// (stand_in.py). Numbers of dtypes are ScalarType's.
#include <executorch/backends/apple/coreml/runtime/coreml_backend.h>
#include <executorch/backends/apple/coreml/runtime/json_member.h>
#include <executorch/backends/apple/coreml/test/stand_in.h>

using executorch::aten::ScalarType;
using executorch::runtime::Elements;
using executorch::runtime::Error;

namespace executorch::backends::coreml {
namespace {

std::vector<Feature> features_of(const Json& list) {
  std::vector<Feature> features;
  for (const Json& each : list) {
    Feature feature;
    feature.name = each["name"];
    feature.dtype = static_cast<ScalarType>(each["dtype"].get<int>());
    feature.sizes = each["sizes"].get<std::vector<int64_t>>();
    for (const Json& range : each["ranges"]) {
      feature.ranges.push_back({range[0], range[1]});
    }
    feature.listed = each["listed"].get<std::vector<std::vector<int64_t>>>();
    features.push_back(std::move(feature));
  }
  return features;
}

}  // namespace
}  // namespace executorch::backends::coreml

extern "C" {

struct CoreMLValue {
  const char* name;
  void* data;
  int32_t dtype;
  int32_t rank;
  const int64_t* sizes;
  const int64_t* strides;
};

struct CoreMLCallbacks {
  /// Gives JSON to coreml_stand_in_describe(out, ...).
  int (*describe)(int number, const char* path, const char* function, void* out);
  /// Gives results to coreml_stand_in_take(take, ...).
  int (*predict)(int number, int num_inputs, const CoreMLValue* inputs, void* take);
  void (*reset)(int number);
};

void coreml_stand_in_describe(void* out, const char* json) {
  *static_cast<std::string*>(out) = json;
}

/// Results in row-major order.
int coreml_stand_in_take(void* take, int index, const CoreMLValue* result) {
  using namespace executorch::backends::coreml;
  const std::vector<int64_t> sizes(result->sizes, result->sizes + result->rank);
  return static_cast<int>((*static_cast<const Model::Take*>(take))(
      static_cast<size_t>(index),
      Elements::row_major(result->data, static_cast<ScalarType>(result->dtype), sizes)));
}

/// Once in a process. `folder`: for compiled models.
int coreml_stand_in_register(const char* folder, CoreMLCallbacks callbacks) {
  using namespace executorch::backends::coreml;
  static StandIn& stand_in = *new StandIn(folder);
  static CoreMLBackendDelegate& backend = *new CoreMLBackendDelegate(stand_in);
  stand_in.describe =
      [callbacks](const StandIn::Loaded& model) -> executorch::runtime::Result<Description> {
    std::string text;
    if (callbacks.describe(model.number, model.path.c_str(), model.function.c_str(), &text) != 0) {
      return Error::InvalidProgram;
    }
    const Json json = Json::parse(text);
    return Description{features_of(json["inputs"]), features_of(json["outputs"]),
                       json["has_state"]};
  };
  stand_in.predict = [callbacks](const StandIn::Loaded& model,
                                 const std::vector<NamedElements>& inputs,
                                 const std::vector<NamedElements>&, const Model::Take& take) {
    std::vector<CoreMLValue> values;
    for (const NamedElements& input : inputs) {
      const Elements& each = input.elements;
      values.push_back({input.name, each.data, static_cast<int32_t>(each.dtype),
                        static_cast<int32_t>(each.rank), each.sizes, each.strides});
    }
    const int failed = callbacks.predict(model.number, static_cast<int>(values.size()),
                                         values.data(), const_cast<Model::Take*>(&take));
    return failed == 0 ? Error::Ok : Error::Internal;
  };
  stand_in.reset = [callbacks](const StandIn::Loaded& model) { callbacks.reset(model.number); };
  stand_in.latest = 10;
  return static_cast<int>(register_coreml_backend(&backend));
}

}  // extern "C"
