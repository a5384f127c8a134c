// SPDX-License-Identifier: BSD-3-Clause
// An operator comes from the nodes between its output and the outputs of others.
// XNNPACK gives names as one text with NULs between them.
#include <executorch/backends/xnnpack/runtime/profile.h>

#include <executorch/runtime/backend/delegate_event.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#ifdef EXECUTORCH_XNNPACK_LIBRARY
extern "C" size_t xnn_get_operator_outputs(xnn_runtime_t runtime, uint32_t* out_outputs,
                                           size_t max_outputs);  // patches/xnnpack/inspection.patch
extern "C" size_t xnn_get_operator_nanoseconds(xnn_runtime_t runtime, uint64_t* out_times,
                                               size_t max_times);
#endif

namespace executorch::backends::xnnpack {

namespace {

/// All values of one kind; empty when there are none.
template <typename T>
std::vector<T> info(xnn_runtime_t runtime, xnn_profile_info kind) {
  size_t size = 0;
  if (xnn_get_runtime_profiling_info(runtime, kind, 0, nullptr, &size) !=
      xnn_status_out_of_memory) {
    return {};
  }
  std::vector<T> values(size / sizeof(T));
  const xnn_status status =
      xnn_get_runtime_profiling_info(runtime, kind, size, values.data(), &size);
  return status == xnn_status_success ? values : std::vector<T>();
}

/// What writers put where a node has no debug handle.
constexpr uint32_t kNoDebugHandle = 65535;

std::vector<uint32_t> outputs_of(xnn_runtime_t runtime) {
#ifdef EXECUTORCH_XNNPACK_LIBRARY
  std::vector<uint32_t> outputs(xnn_get_operator_outputs(runtime, nullptr, 0));
  xnn_get_operator_outputs(runtime, outputs.data(), outputs.size());
  return outputs;
#else
  static_cast<void>(runtime);
  return {};
#endif
}

/// Nanoseconds; an installed XNNPACK has whole microseconds.
std::vector<uint64_t> times_of(xnn_runtime_t runtime) {
#ifdef EXECUTORCH_XNNPACK_LIBRARY
  std::vector<uint64_t> times(xnn_get_operator_nanoseconds(runtime, nullptr, 0));
  xnn_get_operator_nanoseconds(runtime, times.data(), times.size());
#else
  auto times = info<uint64_t>(runtime, xnn_profile_info_operator_timing);
  for (uint64_t& time : times) {
    time *= 1000;
  }
#endif
  return times;
}

struct Writer {
  uint32_t handle = kNoDebugHandle;
  std::vector<uint32_t> inputs;
};

/// Of a value: XNNPACK's id, or another of its own where XNNPACK does not have it.
uint32_t key_of(uint32_t value, const Ids& ids) {
  return ids[value] == XNN_INVALID_VALUE_ID ? XNN_INVALID_VALUE_ID - 1 - value : ids[value];
}

/// Of a segment's values.
std::unordered_map<uint32_t, Writer> writers_of(const Graph& graph, const Segment& segment,
                                                const Ids& ids) {
  std::unordered_map<uint32_t, Writer> writers;
  for (size_t place = segment.begin; place < segment.end; ++place) {
    const GraphNode& node = graph.nodes[place];
    const Operands& operands = node.operands;
    Writer& writer = writers[key_of(operands.output, ids)];
    writer.handle = node.node->debug_handle();
    for (size_t i = 0; i < operands.num_inputs; ++i) {
      writer.inputs.push_back(key_of(operands.inputs[i], ids));
    }
  }
  return writers;
}

/// The debug handles of the nodes that an operator with this output computes, as " [3] [4]".
std::string handles_of(uint32_t output, const std::unordered_map<uint32_t, Writer>& writers,
                       const std::unordered_set<uint32_t>& computed) {
  std::vector<uint32_t> handles;
  std::vector<uint32_t> left = {output};
  while (!left.empty()) {
    const auto found = writers.find(left.back());
    left.pop_back();
    if (found == writers.end()) {
      continue;
    }
    const Writer& writer = found->second;
    if (writer.handle != kNoDebugHandle &&
        std::find(handles.begin(), handles.end(), writer.handle) == handles.end()) {
      handles.push_back(writer.handle);
    }
    std::copy_if(writer.inputs.begin(), writer.inputs.end(), std::back_inserter(left),
                 [&](uint32_t id) { return computed.count(id) == 0; });
  }
  std::string text;
  for (auto handle = handles.rbegin(); handle != handles.rend(); ++handle) {
    text += " [" + std::to_string(*handle) + "]";
  }
  return text;
}

}  // namespace

bool is_profiling_built() {
#ifdef ET_EVENT_TRACER_ENABLED
  return true;
#else
  return false;
#endif
}

std::string titles_of_operators(xnn_runtime_t runtime, const Graph& graph, const Segment& segment,
                                const Ids& ids, size_t& count) {
  const auto names = info<char>(runtime, xnn_profile_info_operator_name);
  const std::vector<uint32_t> outputs = outputs_of(runtime);
  const std::unordered_set<uint32_t> computed(outputs.begin(), outputs.end());
  const auto writers = writers_of(graph, segment, ids);
  std::string titles;
  size_t place = 0;
  for (const char* name = names.data(); name < names.data() + names.size();
       name += std::strlen(name) + 1) {
    titles += std::string(name) + " #" + std::to_string(++count);
    if (place < outputs.size()) {
      titles += handles_of(outputs[place], writers, computed);
    }
    titles += '\0';
    ++place;
  }
  return titles;
}

std::string title_of_own(const char* name, const Graph& graph, const Segment& segment,
                         size_t& count) {
  std::string title = name;
  std::string handles;
  for (size_t place = segment.begin; place < segment.end; ++place) {
    const GraphNode& node = graph.nodes[place];
    if (!node.is_needed) {
      continue;
    }
    title += place == segment.begin ? "" : std::string(" + ") + name_of(*node.node);
    if (node.node->debug_handle() != kNoDebugHandle) {
      handles += " [" + std::to_string(node.node->debug_handle()) + "]";
    }
  }
  return title + " #" + std::to_string(++count) + handles;
}

void report_own(const std::string& title, runtime::EventTracer& tracer, et_timestamp_t start) {
  if (runtime::OperatorEvents::are_wanted(&tracer)) {
    runtime::event_tracer_log_profiling_delegate(
        &tracer, title.c_str(),
        static_cast<runtime::DebugHandle>(runtime::kUnsetDelegateDebugIntId), start,
        et_pal_current_ticks(), nullptr, 0);
  }
}

void report_operators(xnn_runtime_t runtime, const std::string& titles,
                      runtime::EventTracer& tracer, et_timestamp_t start) {
  if (!runtime::OperatorEvents::are_wanted(&tracer)) {
    return;
  }
  runtime::OperatorEvents events(&tracer, start, runtime::OperatorEvents::ticks_of_ns());
  const char* title = titles.data();
  for (const uint64_t time : times_of(runtime)) {
    if (title == titles.data() + titles.size()) {
      return;
    }
    events.add(title, static_cast<double>(time));
    title += std::strlen(title) + 1;
  }
}

}  // namespace executorch::backends::xnnpack
