// SPDX-License-Identifier: BSD-3-Clause
// The objects behind the handles of the stand-in's libQnnHtp.so, and the parts of its table of
// functions.
#pragma once

#include <executorch/backends/qualcomm/stand_in/context.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace executorch::backends::qualcomm::stand_in {

struct Log {
  QnnLog_Callback_t callback;
  QnnLog_Level_t level;
};
struct Backend {
  Log* log;
};
struct Device {
  uint32_t soc_model = 0, arch = 0;
};
struct Graph;
struct Context {
  Backend* backend;
  std::unique_ptr<qnn_stand_in::ContextT> stored;
  std::vector<std::unique_ptr<Graph>> graphs;
  std::map<std::vector<uint8_t>, int32_t> constants;  // shared ones
};
struct Graph {
  Context* context;
  size_t place;
  bool is_finalized;

  qnn_stand_in::GraphT& stored() const { return *context->stored->graphs[place]; }
};
struct Memory {
  void* data;
  size_t size;
};
struct Profile {
  QnnProfile_Level_t level;
  std::vector<Timing> timings;
  std::vector<QnnProfile_EventId_t> whole, operators;
};

/// Why something fails goes to the log; gives the error.
Qnn_ErrorHandle_t fail(const Backend* backend, Qnn_ErrorHandle_t error, const std::string& why);

/// Why an operator is not taken; empty when it is.
std::string why_not_taken(const Qnn_OpConfigV1_t& config);

/// Of what all handles have in common.
std::mutex& common_mutex();

void add_graphs(StandInInterface& out);
void add_profiles(StandInInterface& out);

}  // namespace executorch::backends::qualcomm::stand_in
