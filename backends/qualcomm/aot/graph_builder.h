// SPDX-License-Identifier: BSD-3-Clause
// Graphs of plain data, as aot/graph.py has them, made by calls of QNN's C API.
#pragma once

#include <executorch/backends/qualcomm/runtime/session.h>

#include <optional>
#include <string>
#include <vector>

namespace executorch::backends::qualcomm {

struct EncodingData {
  uint32_t type = 0;
  int32_t axis = 0;
  uint32_t bitwidth = 0;
  std::vector<float> scales;
  std::vector<int32_t> offsets;
  std::string block_scales;  // bytes, of each scale as many
};

/// `data`: of constants; it is the caller's, and read while a graph is made.
struct TensorData {
  std::string name;
  uint32_t type = 0, dtype = 0;
  std::vector<uint32_t> dims;
  std::optional<EncodingData> encoding;
  const void* data = nullptr;
  size_t nbytes = 0;
};

/// A number as its bytes; with dims, an array of numbers.
struct ParameterData {
  std::string name;
  uint32_t dtype = 0;
  std::vector<uint32_t> dims;
  std::string bytes;
};

struct OperatorData {
  std::string name, package, type;
  std::vector<uint32_t> inputs, outputs;  // places in the graph's tensors
  std::vector<ParameterData> parameters;
};

struct GraphData {
  std::string name;
  std::vector<TensorData> tensors;
  std::vector<OperatorData> operators;
  std::vector<uint32_t> inputs, outputs;
};

/// Why the library does not take one of the operators; empty when it takes all.
std::string why_refused(const Session& session, const GraphData& graph);

/// One context binary of all, into `out`. Why not, or empty.
std::string compile(const Session& session, const Options& options,
                    const std::vector<const GraphData*>& graphs, std::string& out);

}  // namespace executorch::backends::qualcomm
