// SPDX-License-Identifier: BSD-3-Clause
// What XNNPACK measured of a run, as events of the runtime's tracer.
#pragma once

#include <executorch/backends/xnnpack/runtime/plan/segments.h>
#include <executorch/runtime/core/event_tracer.h>

#include <xnnpack.h>

#include <string>

namespace executorch::backends::xnnpack {

/// Whether events are compiled in; only then XNNPACK is asked to measure.
bool is_profiling_built();

/// What each operator that XNNPACK measures is called in events, in its order, each with a NUL
/// behind it: "<name> #<place>", places counted on from `count`, then the debug handles of its
/// nodes, as " [3] [4]", which is how payload's debug_handle_map names them. XNNPACK joins nodes,
/// so an operator stands for the node that writes its output and for those before it that no other
/// operator computes. `ids`: XNNPACK's id of each value. An installed XNNPACK does not tell what
/// operators write: no handles. The runtime was created with XNN_FLAG_BASIC_PROFILING.
std::string titles_of_operators(xnn_runtime_t runtime, const Graph& graph, const Segment& segment,
                                const Ids& ids, size_t& count);

/// The same of a step that a kernel of ours computes.
std::string title_of_own(const char* name, const Graph& graph, const Segment& segment,
                         size_t& count);

/// Reports a step of ours that has just ended and began at `start`.
void report_own(const std::string& title, runtime::EventTracer& tracer, et_timestamp_t start);

/// Reports every operator of the run that has just ended, one after the other from `start` on.
void report_operators(xnn_runtime_t runtime, const std::string& titles,
                      runtime::EventTracer& tracer, et_timestamp_t start);

}  // namespace executorch::backends::xnnpack
