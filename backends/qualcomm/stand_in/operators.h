// SPDX-License-Identifier: BSD-3-Clause
// What the stand-in library computes: some of QNN's operators, by their public definitions.
#pragma once

#include <executorch/backends/qualcomm/stand_in/values.h>

#include <optional>
#include <string>
#include <vector>

namespace executorch::backends::qualcomm::stand_in {

/// One operator of a graph with what it reads.
class Call {
 public:
  Call(const qnn_stand_in::GraphT& graph, const qnn_stand_in::OperatorT& operation,
       const std::vector<Value>& values)
      : graph_(graph), operation_(operation), values_(values) {}

  const std::string& type() const { return operation_.type; }
  size_t num_inputs() const { return operation_.inputs.size(); }
  size_t num_outputs() const { return operation_.outputs.size(); }
  const Value& input(size_t index) const { return values_[operation_.inputs[index]]; }
  const TensorSpec& input_spec(size_t index) const {
    return *graph_.tensors[operation_.inputs[index]];
  }
  const TensorSpec& output_spec(size_t index) const {
    return *graph_.tensors[operation_.outputs[index]];
  }
  Dims output_dims(size_t index = 0) const { return dims_of(output_spec(index)); }

  /// Of a parameter, or what it is when it is not given.
  double number(const char* name, double otherwise = 0) const;
  size_t size(const char* name, size_t otherwise = 0) const {
    return static_cast<size_t>(number(name, static_cast<double>(otherwise)));
  }
  std::vector<int64_t> array(const char* name, std::vector<int64_t> otherwise = {}) const;

 private:
  const qnn_stand_in::ParameterT* find(const char* name) const;

  const qnn_stand_in::GraphT& graph_;
  const qnn_stand_in::OperatorT& operation_;
  const std::vector<Value>& values_;
};

using Results = std::vector<Value>;
using Function = Results (*)(const Call& call);

struct Row {
  const char* type;
  size_t min_inputs, max_inputs;
  Function function;
};

/// The families; each ends with a row without a type.
extern const Row kElementwise[], kGemm[], kPooling[], kReductions[], kDataMovement[];

/// Null when the library does not have the operator.
const Row* find_row(const std::string& type);

}  // namespace executorch::backends::qualcomm::stand_in
