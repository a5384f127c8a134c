// SPDX-License-Identifier: BSD-3-Clause
// For tests: a small graph, compiled by the stand-in libraries, and its payload.
#pragma once

#include <executorch/backends/qualcomm/aot/graph_builder.h>

#include <string>
#include <vector>

namespace executorch::backends::qualcomm {

/// Where the stand-in libraries are, with a slash at the end.
std::string stand_in_folder();

/// libcdsprpc.so of the stand-ins is found from then on.
void load_shared_memory();

/// y = relu(x + [1, -2]) of float32 [2], in the order in which the argument is y and x.
GraphData sample_graph(const std::string& name = "forward");

/// Of libQnnHtp.so of the stand-ins, as a compile spec has them.
Options sample_options();
std::vector<uint8_t> sample_spec(int32_t profile_level = 0, bool shared_buffer = false,
                                 int32_t performance_mode = 0);

/// One context binary of graphs; empty when it cannot be made, with why.
std::string compiled(const Session& session, const std::vector<std::string>& names,
                     std::string* out_why = nullptr);

/// A payload of QnnBackend.
std::vector<uint8_t> payload_of(const std::string& binary, uint64_t signature = 7);

}  // namespace executorch::backends::qualcomm
