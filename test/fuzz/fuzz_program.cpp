// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer target for .pte files: load, look and run, with inputs made from the metadata.
//   fuzz_program test/fuzz/corpus/pte -max_total_time=60
#include <executorch/runtime/executor/test/test_kernels.h>
#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>
#include <executorch/test/hardening/exercise_program.h>

namespace {

void discard_log(et_timestamp_t, et_pal_log_level_t, const char*, const char*, size_t, const char*,
                 size_t) {}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  executorch::runtime::runtime_init();
  executorch::runtime::register_pal(executorch::runtime::PalImpl::create(discard_log, __FILE__));
  executorch::runtime::testing::register_test_kernels();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  executorch::runtime::testing::exercise_program(data, size);
  return 0;
}
