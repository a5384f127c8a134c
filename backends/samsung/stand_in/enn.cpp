// SPDX-License-Identifier: BSD-3-Clause
// In the place of Samsung's library, for tests. The last line of a model are the sizes of its
// inputs and outputs in bytes, "4 4 > 4"; an output's byte i is the sum of byte i of all inputs.
#include <executorch/backends/samsung/runtime/enn.h>
#include <executorch/backends/test/stand_in_calls.h>

#include <deque>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using executorch::backends::test::StandInCalls;

namespace {

struct Model {
  std::vector<uint32_t> sizes[2];
  std::deque<std::vector<uint8_t>> memory;
  std::deque<EnnBuffer> buffers;
  std::vector<EnnBufferPtr> pointers;
};

std::map<EnnModelId, Model> models;
EnnModelId last = 0;
StandInCalls calls;

template <typename... Arguments>
EnnReturn done(const char* function, const Arguments&... arguments) {
  return calls.done(function, arguments...);
}

}  // namespace

extern "C" {

/// Calls since the last one of this; from now on `fails` gives `status`.
const char* enn_stand_in_calls(const char* fails, int status) {
  return calls.take(fails, status);
}

int enn_stand_in_models() {
  return static_cast<int>(models.size());
}
}

EnnReturn EnnInitialize() {
  return done("EnnInitialize");
}

EnnReturn EnnOpenModelFromMemory(const char* bytes, uint32_t size, EnnModelId* model) {
  const EnnReturn status = done("EnnOpenModelFromMemory", size);
  if (status != 0) {
    return status;
  }
  *model = ++last;
  const std::string text(bytes, size);
  std::istringstream words(text.substr(text.rfind('\n') + 1));
  int side = 0;
  for (std::string word; words >> word;) {
    if (word == ">") {
      side = 1;
    } else {
      models[last].sizes[side].push_back(static_cast<uint32_t>(std::stoul(word)));
    }
  }
  models[last];
  return 0;
}

EnnReturn EnnAllocateAllBuffersWithSessionId(EnnModelId id, EnnBufferPtr** buffers,
                                             NumberOfBuffersInfo* counts, int session,
                                             bool commit) {
  const EnnReturn status = done("EnnAllocateAllBuffersWithSessionId", session, commit);
  if (status != 0) {
    return status;
  }
  Model& model = models.at(id);
  for (const auto& side : model.sizes) {
    for (const uint32_t size : side) {
      model.memory.emplace_back(size);
      model.buffers.push_back({model.memory.back().data(), size, 0});
      model.pointers.push_back(&model.buffers.back());
    }
  }
  *buffers = model.pointers.data();
  *counts = {static_cast<uint32_t>(model.sizes[0].size()),
             static_cast<uint32_t>(model.sizes[1].size())};
  return 0;
}

EnnReturn EnnExecuteModel(EnnModelId id) {
  Model& model = models.at(id);
  const size_t num_inputs = model.sizes[0].size();
  for (size_t i = num_inputs; i < model.memory.size(); ++i) {
    for (size_t k = 0; k < model.memory[i].size(); ++k) {
      uint8_t sum = 0;
      for (size_t j = 0; j < num_inputs; ++j) {
        sum = static_cast<uint8_t>(sum + (k < model.memory[j].size() ? model.memory[j][k] : 0));
      }
      model.memory[i][k] = sum;
    }
  }
  return done("EnnExecuteModel");
}

EnnReturn EnnReleaseBuffers(EnnBufferPtr*, int32_t count) {
  return done("EnnReleaseBuffers", count);
}

EnnReturn EnnCloseModel(EnnModelId id) {
  models.erase(id);
  return done("EnnCloseModel");
}
