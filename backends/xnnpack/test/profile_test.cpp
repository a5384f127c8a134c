// SPDX-License-Identifier: BSD-3-Clause
// A delegate that measures its operators reports each of them to the tracer.
#include <executorch/backends/xnnpack/runtime/delegate.h>
#include <executorch/backends/xnnpack/test/loaded_delegate.h>
#include <executorch/runtime/executor/test/ignoring_tracer.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace executorch::backends::xnnpack::testing {
namespace {

using namespace executorch::runtime;
using executorch::aten::Tensor;

constexpr uint32_t kNoDebugHandle = 65535;

struct Event {
  std::string name;
  et_timestamp_t start;
  et_timestamp_t end;
};

/// Keeps the delegates' own events; nothing else is reported here.
class Recorder final : public ::executorch::runtime::testing::IgnoringTracer {
 public:
  void log_profiling_delegate(const char* name, DelegateDebugIntId id, et_timestamp_t start,
                              et_timestamp_t end, const void*, size_t) override {
    EXPECT_EQ(id, kUnsetDelegateDebugIntId);
    events.push_back({name, start, end});
  }

  std::vector<Event> events;
};

std::vector<Event> events_of_a_run(bool profile, EventTracerProfilingLevel level) {
  runtime_init();
  EXPECT_EQ(register_xnnpack_backend(), Error::Ok);
  EXPECT_TRUE(get_backend_class(xnnpack_backend_key)->is_available());  // initializes XNNPACK
  auto graph = sample_graph();
  for (size_t i = 0; i < graph.xnodes.size(); ++i) {
    graph.xnodes[i]->debug_handle = i == 4 ? kNoDebugHandle : 20 + static_cast<uint32_t>(i);
  }
  const auto bytes = pack(graph, Constants::kRegion);
  std::vector<uint64_t> aligned(bytes.size() / sizeof(uint64_t) + 1);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(aligned.data()));
  DelegateOptions options;
  options.profile = profile;
  const Payload payload = open_payload(aligned.data(), bytes.size()).get();
  auto delegate = std::move(Delegate::create(payload, nullptr, options).get());
  auto tensors = arguments();
  std::vector<EValue> values(tensors.begin(), tensors.end());
  EValue* args[] = {&values[0], &values[1], &values[2]};
  Recorder recorder;
  recorder.set_event_tracer_profiling_level(level);
  EXPECT_EQ(delegate->execute({args, 3}, &recorder), Error::Ok);
  return recorder.events;
}

TEST(XnnpackProfileTest, EveryOperatorIsAnEvent) {
#ifndef ET_EVENT_TRACER_ENABLED
  GTEST_SKIP() << "built without events";
#endif
  const auto events = events_of_a_run(true, EventTracerProfilingLevel::kProfileAllEvents);
  const std::vector<std::string> ends = {" #1 [20]", " #2 [21]", " #3 [22]", " #4 [23]", " #5"};
  ASSERT_EQ(events.size(), ends.size());  // convolution, sum, pool, transpose, slice
  EXPECT_EQ(events[0].name.rfind("Convolution", 0), 0u) << events[0].name;
  const auto ends_with = [&](size_t i, const std::string& end) {
    const std::string& name = events[i].name;
    return name.size() > end.size() && name.substr(name.size() - end.size()) == end;
  };
  for (size_t i = 0; i < events.size(); ++i) {
    EXPECT_TRUE(ends_with(i, ends[i])) << events[i].name;
    EXPECT_LE(events[i].start, events[i].end);
    EXPECT_TRUE(i == 0 || events[i - 1].end <= events[i].start);
  }
}

TEST(XnnpackProfileTest, NothingIsReportedThatWasNotAskedFor) {
  EXPECT_TRUE(events_of_a_run(false, EventTracerProfilingLevel::kProfileAllEvents).empty());
  EXPECT_TRUE(events_of_a_run(true, EventTracerProfilingLevel::kProfileMethodOnly).empty());
}

}  // namespace
}  // namespace executorch::backends::xnnpack::testing
