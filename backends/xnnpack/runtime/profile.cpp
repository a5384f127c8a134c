// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK gives names as one text with NULs between them, and times in microseconds.
#include <executorch/backends/xnnpack/runtime/profile.h>

#include <executorch/runtime/platform/platform.h>

#include <cstring>
#include <string>
#include <vector>

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

}  // namespace

bool is_profiling_built() {
#ifdef ET_EVENT_TRACER_ENABLED
  return true;
#else
  return false;
#endif
}

void report_operators(xnn_runtime_t runtime, runtime::EventTracer& tracer, et_timestamp_t start) {
  if (tracer.event_tracer_profiling_level() !=
      runtime::EventTracerProfilingLevel::kProfileAllEvents) {
    return;
  }
  const auto names = info<char>(runtime, xnn_profile_info_operator_name);
  const auto times = info<uint64_t>(runtime, xnn_profile_info_operator_timing);
  const et_tick_ratio_t ratio = et_pal_ticks_to_ns_multiplier();
  const double ticks = 1000.0 * static_cast<double>(ratio.denominator) /
                       static_cast<double>(ratio.numerator);  // of a microsecond
  double elapsed = 0;
  const char* name = names.data();
  for (size_t i = 0; i < times.size() && name < names.data() + names.size(); ++i) {
    const std::string title = std::string(name) + " #" + std::to_string(i + 1);
    const auto begin = start + static_cast<et_timestamp_t>(elapsed);
    elapsed += static_cast<double>(times[i]) * ticks;
    tracer.log_profiling_delegate(title.c_str(), runtime::kUnsetDelegateDebugIntId, begin,
                                  start + static_cast<et_timestamp_t>(elapsed));
    name += std::strlen(name) + 1;
  }
}

}  // namespace executorch::backends::xnnpack
