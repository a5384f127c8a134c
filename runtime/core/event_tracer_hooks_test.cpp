// SPDX-License-Identifier: BSD-3-Clause
// The hooks that the runtime and delegates report events through, with events compiled in.
#ifndef ET_EVENT_TRACER_ENABLED
#define ET_EVENT_TRACER_ENABLED
#endif
#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/event_tracer_hooks_delegate.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;
using executorch::aten::Tensor;

namespace {

class RecordingTracer final : public EventTracer {
 public:
  void create_event_block(const char* name) override { log("block", name); }
  EventTracerEntry start_profiling(const char* name, ChainID, DebugHandle) override {
    log("start", name);
    EventTracerEntry entry{};
    entry.chain_id = current_chain_id();
    entry.debug_handle = current_debug_handle();
    return entry;
  }
  void end_profiling(EventTracerEntry entry) override {
    events.push_back("end " + std::to_string(entry.chain_id) + " " +
                     std::to_string(entry.debug_handle));
  }
  EventTracerEntry start_profiling_delegate(const char* name, DelegateDebugIntId id) override {
    log("start_delegate", name != nullptr ? name : std::to_string(id).c_str());
    return {};
  }
  void end_profiling_delegate(EventTracerEntry, const void*, size_t metadata_len) override {
    log("end_delegate", std::to_string(metadata_len).c_str());
  }
  void log_profiling_delegate(const char* name, DelegateDebugIntId, et_timestamp_t start,
                              et_timestamp_t end, const void*, size_t) override {
    log(name, std::to_string(end - start).c_str());
  }
  void track_allocation(AllocatorID id, size_t size) override {
    log(std::to_string(id).c_str(), std::to_string(size).c_str());
  }
  AllocatorID track_allocator(const char* name) override {
    log("allocator", name);
    return 7;
  }
  Result<bool> log_evalue(const EValue& value, LoggedEValueType type) override {
    log(type == LoggedEValueType::kProgramOutput ? "output" : "intermediate",
        std::to_string(value.toInt()).c_str());
    return true;
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const Tensor&) override {
    return log("delegate", "tensor");
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const ArrayRef<Tensor>) override {
    return log("delegate", "tensors");
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const int&) override {
    return log("delegate", "int");
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const bool&) override {
    return log("delegate", "bool");
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId,
                                                const double&) override {
    return log("delegate", "double");
  }
  void set_delegation_intermediate_output_filter(EventTracerFilterBase*) override {}

  bool log(const char* what, const char* detail) {
    events.push_back(std::string(what) + " " + detail);
    return true;
  }

  std::vector<std::string> events;
};

using Events = std::vector<std::string>;

void run_all_hooks(EventTracer* tracer) {
  internal::event_tracer_create_event_block(tracer, "Execute");
  const internal::EventTracerProfileMethodScope method(tracer, "Method::execute");
  {
    const internal::EventTracerProfileInstructionScope instruction(tracer, 1, 5);
    const internal::EventTracerProfileOpScope op(tracer, "OPERATOR_CALL");
    internal::event_tracer_log_evalue(tracer, EValue(int64_t{3}));
  }
  internal::event_tracer_log_evalue_output(tracer, EValue(int64_t{4}));
}

TEST(EventTracerHooksTest, AllEvents) {
  RecordingTracer tracer;
  run_all_hooks(&tracer);
  EXPECT_EQ(tracer.events, (Events{"block Execute", "start Method::execute", "start OPERATOR_CALL",
                                   "end 1 5", "end -1 0"}));
  EXPECT_EQ(tracer.current_chain_id(), kUnsetChainId);
}

TEST(EventTracerHooksTest, LevelsSelect) {
  RecordingTracer tracer;
  tracer.set_event_tracer_profiling_level(EventTracerProfilingLevel::kProfileMethodOnly);
  tracer.set_event_tracer_debug_level(EventTracerDebugLogLevel::kProgramOutputs);
  run_all_hooks(&tracer);
  EXPECT_EQ(tracer.events,
            (Events{"block Execute", "start Method::execute", "output 4", "end -1 0"}));
  tracer.events.clear();
  tracer.set_event_tracer_debug_level(EventTracerDebugLogLevel::kIntermediateOutputs);
  EXPECT_TRUE(tracer.intermediate_outputs_logging_status());
  run_all_hooks(&tracer);
  EXPECT_EQ(tracer.events, (Events{"block Execute", "start Method::execute", "intermediate 3",
                                   "output 4", "end -1 0"}));
}

TEST(EventTracerHooksTest, NullTracersAreFine) {
  run_all_hooks(nullptr);
  EXPECT_EQ(internal::event_tracer_track_allocator(nullptr, "name"), 0u);
  internal::event_tracer_track_allocation(nullptr, 0, 1);
  internal::event_tracer_set_bundled_input_index(nullptr, 1);
  event_tracer_end_profiling_delegate(nullptr,
                                      event_tracer_start_profiling_delegate(nullptr, "a", 0));
  event_tracer_log_output_delegate(nullptr, "a", 0, 1);
}

TEST(EventTracerHooksTest, DelegatesAndAllocations) {
  RecordingTracer tracer;
  EXPECT_EQ(internal::event_tracer_track_allocator(&tracer, "method"), 7u);
  internal::event_tracer_track_allocation(&tracer, 7, 100);
  internal::event_tracer_set_bundled_input_index(&tracer, 3);
  EXPECT_EQ(tracer.bundled_input_index(), 3);
  const auto entry = event_tracer_start_profiling_delegate(&tracer, nullptr, 12);
  event_tracer_end_profiling_delegate(&tracer, entry, "ab", 2);
  event_tracer_log_profiling_delegate(&tracer, "conv", 0, 10, 25);
  event_tracer_log_output_delegate(&tracer, "conv", 0, 1.5);
  tracer.set_event_tracer_debug_level(EventTracerDebugLogLevel::kIntermediateOutputs);
  event_tracer_log_output_delegate(&tracer, "conv", 0, 1.5);
  EXPECT_EQ(tracer.events, (Events{"allocator method", "7 100", "start_delegate 12",
                                   "end_delegate 2", "conv 15", "delegate double"}));
}

}  // namespace
