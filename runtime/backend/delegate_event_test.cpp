// SPDX-License-Identifier: BSD-3-Clause
// Events of a delegate and of its operators: when, how long, for whom.
#include <executorch/runtime/backend/delegate_event.h>
#include <executorch/runtime/executor/test/ignoring_tracer.h>
#include <executorch/runtime/platform/runtime.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;

namespace {

class Recorder final : public ::executorch::runtime::testing::IgnoringTracer {
 public:
  EventTracerEntry start_profiling_delegate(const char* name, DelegateDebugIntId) override {
    begun.push_back(name);
    return {};
  }
  void end_profiling_delegate(EventTracerEntry, const void* metadata, size_t nbytes) override {
    ended.emplace_back(static_cast<const char*>(metadata), nbytes);
  }
  void log_profiling_delegate(const char* name, DelegateDebugIntId id, et_timestamp_t start,
                              et_timestamp_t end, const void* metadata, size_t nbytes) override {
    EXPECT_EQ(id, kUnsetDelegateDebugIntId);
    logged.push_back({name, start, end, {static_cast<const char*>(metadata), nbytes}});
  }

  struct Logged {
    std::string name;
    et_timestamp_t start;
    et_timestamp_t end;
    std::string metadata;
  };
  std::vector<std::string> begun;
  std::vector<std::string> ended;
  std::vector<Logged> logged;
};

class DelegateEventTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_init();
#ifndef ET_EVENT_TRACER_ENABLED
    GTEST_SKIP() << "built without events";
#endif
  }
  Recorder tracer_;
};

TEST_F(DelegateEventTest, LastsAsLongAsItsScope) {
  {
    DelegateEvent event(&tracer_, "whole");
    event.set_metadata("bytes", 5);
    EXPECT_EQ(tracer_.begun, std::vector<std::string>{"whole"});
    EXPECT_TRUE(tracer_.ended.empty());
  }
  EXPECT_EQ(tracer_.ended, std::vector<std::string>{"bytes"});
  const DelegateEvent of_nobody(nullptr, "whole");
}

/// Units of 4 ticks from tick 1000 on.
TEST_F(DelegateEventTest, OperatorsFollowOneAnother) {
  OperatorEvents events(&tracer_, 1000, 4);
  events.add("first", 2.5);
  events.add("second", 0, "said", 4);
  events.add("third", 10);
  events.log("anywhere", 1, 3);
  const struct {
    const char* name;
    et_timestamp_t start, end;
  } expected[] = {{"first", 1000, 1010},
                  {"second", 1010, 1010},
                  {"third", 1010, 1050},
                  {"anywhere", 1004, 1012}};
  ASSERT_EQ(tracer_.logged.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(tracer_.logged[i].name, expected[i].name);
    EXPECT_EQ(tracer_.logged[i].start, expected[i].start) << expected[i].name;
    EXPECT_EQ(tracer_.logged[i].end, expected[i].end) << expected[i].name;
  }
  EXPECT_EQ(tracer_.logged[1].metadata, "said");
}

/// A hundred operators of a third of a tick are 33 ticks, not none.
TEST_F(DelegateEventTest, PartsOfTicksAddUp) {
  OperatorEvents events(&tracer_, 0, 1.0 / 3);
  for (int i = 0; i < 100; ++i) {
    events.add("short", 1);
  }
  EXPECT_EQ(tracer_.logged.back().end, 33u);
}

TEST_F(DelegateEventTest, TicksAreThoseOfThePlatform) {
  const et_tick_ratio_t ratio = et_pal_ticks_to_ns_multiplier();
  EXPECT_DOUBLE_EQ(OperatorEvents::ticks_of_ns() * static_cast<double>(ratio.numerator),
                   static_cast<double>(ratio.denominator));
}

TEST_F(DelegateEventTest, OperatorsAreForTracersOfAllEvents) {
  EXPECT_TRUE(OperatorEvents::are_wanted(&tracer_));
  EXPECT_FALSE(OperatorEvents::are_wanted(nullptr));
  tracer_.set_event_tracer_profiling_level(EventTracerProfilingLevel::kProfileMethodOnly);
  EXPECT_FALSE(OperatorEvents::are_wanted(&tracer_));
  OperatorEvents(&tracer_, 0, 1).log("conv", 0, 1);
  EXPECT_TRUE(tracer_.logged.empty());
}

}  // namespace
