// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/qualcomm/stand_in/context.h>
#include <executorch/backends/qualcomm/stand_in/operators.h>

#include <chrono>
#include <cstring>

namespace executorch::backends::qualcomm::stand_in {

namespace {

bool is_constant(const TensorSpec& tensor) {
  return tensor.constant >= 0;
}

/// A result that has not as many elements as its tensor is of an operator that is given what it
/// does not take.
std::string store_results(const qnn_stand_in::OperatorT& operation,
                          const qnn_stand_in::GraphT& graph, const Results& results,
                          const std::vector<uint8_t*>& taken, std::vector<Value>& values) {
  if (results.size() != operation.outputs.size()) {
    return std::to_string(results.size()) + " outputs are expected, or other parameters";
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const uint32_t place = operation.outputs[i];
    const TensorSpec& spec = *graph.tensors[place];
    if (results[i].numbers.size() != numel(dims_of(spec))) {
      return "an output of " + text_of(results[i].dims) + " is expected, found " +
             text_of(dims_of(spec));
    }
    std::vector<uint8_t> stored(num_bytes(spec));
    store(spec, {dims_of(spec), results[i].numbers}, stored.data());
    if (taken[place] != nullptr) {
      std::memcpy(taken[place], stored.data(), stored.size());
    }
    values[place] = read(spec, stored.data());
  }
  return "";
}

}  // namespace

std::string run(const qnn_stand_in::ContextT& context, const qnn_stand_in::GraphT& graph,
                const std::vector<const uint8_t*>& given, const std::vector<uint8_t*>& taken,
                std::vector<Timing>* out_timings) {
  std::vector<Value> values(graph.tensors.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const TensorSpec& spec = *graph.tensors[i];
    const uint8_t* bytes = given[i];
    if (is_constant(spec)) {
      bytes = context.constants[static_cast<size_t>(spec.constant)]->bytes.data();
    }
    if (bytes != nullptr) {
      values[i] = read(spec, bytes);
    }
  }
  for (const auto& operation : graph.operators) {
    const Row* row = find_row(operation->type);
    if (row == nullptr) {
      return operation->name + ": the stand-in does not compute " + operation->type;
    }
    const auto start = std::chrono::steady_clock::now();
    const Results results = row->function(Call(graph, *operation, values));
    const std::string why = store_results(*operation, graph, results, taken, values);
    if (!why.empty()) {
      return operation->name + " (" + operation->type + "): " + why;
    }
    if (out_timings != nullptr) {
      const auto took = std::chrono::steady_clock::now() - start;
      out_timings->push_back(
          {operation->name,
           static_cast<uint64_t>(
               std::chrono::duration_cast<std::chrono::microseconds>(took).count())});
    }
  }
  return "";
}

}  // namespace executorch::backends::qualcomm::stand_in
