// SPDX-License-Identifier: BSD-3-Clause
// What a runner says as JSON, for programs that start it on another machine (devtools/devices): of
// itself, and of a run.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <executorch/runtime/core/error.h>
#include <executorch/runtime/executor/method.h>

namespace executorch::extension {

// Times in nanoseconds: of loading the program and the method, and of each execution. Bytes of the
// process as /proc/self/status has them, 0 where there is none: resident before loading and after
// the first execution, and the most that were resident then.
struct RunReport {
  int64_t load_ns = 0;
  std::vector<int64_t> run_ns;
  int64_t bytes_before = 0;
  int64_t resident_bytes = 0;
  int64_t peak_bytes = 0;
};

// Bytes of this process by a field of /proc/self/status (VmRSS, VmHWM); 0 where there is none.
int64_t process_bytes(const char* field);

// Version, architecture, system, build, whether events are recorded, threads, operators and
// backends.
void describe_runner(bool has_events, std::ostream& out);

// The report, with dtype, sizes and dim order of the outputs that are tensors and the values of
// others. AccessFailed, with a message, for a file that cannot be written.
ET_NODISCARD runtime::Error write_run_report(const RunReport& report, const runtime::Method& method,
                                             const std::string& path);

}  // namespace executorch::extension
