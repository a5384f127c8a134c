// SPDX-License-Identifier: BSD-3-Clause
// What XNNPACK measured of a run, as events of the runtime's tracer.
#pragma once

#include <executorch/runtime/core/event_tracer.h>

#include <xnnpack.h>

namespace executorch::backends::xnnpack {

/// Whether events are compiled in; only then XNNPACK is asked to measure.
bool is_profiling_built();

/// Reports every operator of the run that has just ended: "<name> #<place>", one after the other
/// from `start` on. The runtime was created with XNN_FLAG_BASIC_PROFILING.
void report_operators(xnn_runtime_t runtime, runtime::EventTracer& tracer, et_timestamp_t start);

}  // namespace executorch::backends::xnnpack
