// SPDX-License-Identifier: BSD-3-Clause
// Platform functions overridden at link time: these from C++, those of pal_override.c from C.
#include <executorch/runtime/platform/clock.h>
#include <executorch/runtime/platform/log.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

#include <string>

#include <gtest/gtest.h>

namespace {
int inits = 0;
std::string last_message;
}  // namespace

extern "C" {
extern int c_allocations;
extern int c_frees;

void et_pal_init(void) {
  ++inits;
}
et_timestamp_t et_pal_current_ticks(void) {
  return 1234;
}
et_tick_ratio_t et_pal_ticks_to_ns_multiplier(void) {
  return {125, 3};
}
void et_pal_emit_log_message(et_timestamp_t timestamp, et_pal_log_level_t level, const char*,
                             const char*, size_t, const char* message, size_t) {
  last_message = std::to_string(timestamp) + static_cast<char>(level) + message;
}
}

namespace {

TEST(PalOverrideTest, EveryFunctionIsTheOverriddenOne) {
  RecordProperty("req", "RT-034");
  executorch::runtime::runtime_init();
  EXPECT_EQ(inits, 1);
  EXPECT_EQ(executorch::runtime::pal_current_ticks(), 1234u);
  EXPECT_EQ(executorch::runtime::ticks_to_ns(12), 500u);
  ET_LOG(Error, "hello %d", 1);
  EXPECT_EQ(last_message, "1234Ehello 1");
  executorch::runtime::pal_free(executorch::runtime::pal_allocate(10));
  EXPECT_EQ(c_allocations, 1);
  EXPECT_EQ(c_frees, 1);
  EXPECT_EXIT(executorch::runtime::pal_abort(), ::testing::ExitedWithCode(42), "");
}

}  // namespace
