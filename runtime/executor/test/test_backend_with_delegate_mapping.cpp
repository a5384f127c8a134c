// SPDX-License-Identifier: BSD-3-Clause
// A backend that reports what it does inside: an operator by the number that its debug handle map
// has, while it runs, and one by its name, after it ran, with metadata.
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/core/event_tracer_hooks_delegate.h>
#include <executorch/runtime/executor/test/ignoring_tracer.h>
#include <executorch/runtime/executor/test/loaded_method.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

namespace executorch::runtime::testing {
namespace {

constexpr DebugHandle kNegate = 3;

// out = -in.
class BackendWithDelegateMapping final : public BackendInterface {
 public:
  bool is_available() const override { return true; }

  Result<DelegateHandle*> init(BackendInitContext&, FreeableBuffer* processed,
                               ArrayRef<CompileSpec>) const override {
    processed->Free();
    return static_cast<DelegateHandle*>(nullptr);
  }

  Error execute(BackendExecutionContext& context, DelegateHandle*,
                Span<EValue*> args) const override {
    EventTracer* const tracer = context.event_tracer();
    const executorch::aten::Tensor in = args[0]->toTensor();
    const executorch::aten::Tensor out = args[1]->toTensor();
    // In real time: between its calls lies what is measured.
    const EventTracerEntry entry = event_tracer_start_profiling_delegate(tracer, nullptr, kNegate);
    for (ssize_t i = 0; i < in.numel(); ++i) {
      out.mutable_data_ptr<float>()[i] = -in.const_data_ptr<float>()[i];
    }
    event_tracer_end_profiling_delegate(tracer, entry);
    // Afterwards: for hardware that has its own clock.
    const char metadata[] = "2 cores";
    event_tracer_log_profiling_delegate(tracer, "copy",
                                        static_cast<DebugHandle>(kUnsetDelegateDebugIntId), 100,
                                        130, metadata, sizeof(metadata));
    return Error::Ok;
  }
};

class RecordingTracer final : public IgnoringTracer {
 public:
  EventTracerEntry start_profiling_delegate(const char* name, DelegateDebugIntId id) override {
    events.push_back((name == nullptr ? "" : name) + std::string("#") + std::to_string(id));
    return {};
  }
  void end_profiling_delegate(EventTracerEntry, const void*, size_t) override {
    events.push_back("end");
  }
  void log_profiling_delegate(const char* name, DelegateDebugIntId id, et_timestamp_t start,
                              et_timestamp_t end, const void* metadata, size_t size) override {
    events.push_back(std::string(name) + "#" + std::to_string(id) + " " +
                     std::to_string(end - start) + " " +
                     std::string(static_cast<const char*>(metadata), size - 1));
  }

  std::vector<std::string> events;
};

TEST(DelegateMappingTest, EventsInsideOfADelegateReachTheTracer) {
  RecordProperty("req", "DT-019");
  runtime_init();
  static BackendWithDelegateMapping backend;
  ASSERT_EQ(register_backend({"BackendWithDelegateMapping", &backend}), Error::Ok);
  ProgramBuilder builder;
  MethodBuilder& m = builder.add_method("forward");
  const int32_t in = m.add_tensor({{2}});
  const int32_t out = m.add_tensor({{2}});
  m.inputs({in}).outputs({out});
  const uint32_t blob = builder.add_inline_delegate_data("negate", 6);
  m.call_delegate(m.add_delegate("BackendWithDelegateMapping", fb::DataLocation::INLINE, blob),
                  {in, out});
  LoadedProgram program(builder);
  RecordingTracer tracer;
  LoadedMethod::Options options;
  options.event_tracer = &tracer;
  LoadedMethod method(program.program.get(), "forward", options);
  ASSERT_TRUE(method.ok());
  auto x = floats({2}, {1, -2});
  ASSERT_EQ(method->set_input(x.tensor(), 0), Error::Ok);
  ASSERT_EQ(method->execute(), Error::Ok);
  EXPECT_EQ(method->get_output(0).toTensor().const_data_ptr<float>()[1], 2);
  const std::vector<std::string> expected = {"#3", "end", "copy#-1 30 2 cores"};
  // Builds without the hooks have no events.
  EXPECT_EQ(tracer.events,
            internal::kIsEventTracerCompiledIn ? expected : std::vector<std::string>());
}

}  // namespace
}  // namespace executorch::runtime::testing
