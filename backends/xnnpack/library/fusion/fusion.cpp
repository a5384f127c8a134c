// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/fusion/elementwise_group.h>
#include <executorch/backends/xnnpack/library/fusion/fusion.h>
#include <executorch/backends/xnnpack/library/fusion/parallel_layers.h>
#include <executorch/backends/xnnpack/library/fusion/steps.h>

#include "xnnpack/operator.h"

#include <iterator>

namespace executorch::backends::xnnpack {

namespace {

/// One way to run operators as one.
struct Kind {
  size_t (*count_at)(const xnn_runtime&, size_t index);  // how many from there on; 0: not so
  void (*plan)(const xnn_runtime&, size_t index, size_t count, xnn_value_allocation_tracker&);
  xnn_status (*run)(const xnn_runtime&, size_t index, size_t count);
};

/// The first that fits.
constexpr Kind kKinds[] = {
    {elementwise_group_at, plan_together, run_elementwise_group},
    {parallel_layers_at, plan_together, run_parallel_layers},
};

// What was chosen stands in flags of the operators that XNNPACK has no use for.
constexpr uint32_t kCountShift = 16, kCountMask = 0xFFu << kCountShift;  // of the first
constexpr uint32_t kKindShift = 24, kKindMask = 0xFu << kKindShift;
constexpr uint32_t kMask = kCountMask | kKindMask | XNN_FLAG_COMPUTED_AHEAD;

/// Runs `count` operators from `index` on as one; gives their number, or 1.
size_t fuse(xnn_runtime& runtime, size_t index, xnn_value_allocation_tracker& tracker) {
  for (uint32_t kind = 0; kind < std::size(kKinds); ++kind) {
    const size_t count = kKinds[kind].count_at(runtime, index);
    if (count == 0 || count > kCountMask >> kCountShift) {
      continue;
    }
    kKinds[kind].plan(runtime, index, count, tracker);
    runtime.opdata[index].flags |= static_cast<uint32_t>(count) << kCountShift | kind << kKindShift;
    for (size_t i = index + 1; i < index + count; ++i) {
      runtime.opdata[i].flags |= XNN_FLAG_COMPUTED_AHEAD;
    }
    return count;
  }
  return 1;
}

}  // namespace

}  // namespace executorch::backends::xnnpack

using namespace executorch::backends::xnnpack;

extern "C" {

void xnn_plan_fusions(xnn_runtime_t runtime, xnn_value_allocation_tracker* tracker) {
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    runtime->opdata[i].flags &= ~kMask;
  }
  // What is timed is timed operator by operator.
  for (size_t i = 0; i < runtime->num_ops && !runtime->profiling;) {
    i += fuse(*runtime, i, *tracker);
  }
  xnn_plan_value_allocation_tracker(tracker);
}

xnn_status xnn_run_fused(xnn_runtime_t runtime, size_t index, size_t place) {
  const uint32_t flags = runtime->opdata[index].flags;
  if ((flags & XNN_FLAG_COMPUTED_AHEAD) != 0) {
    return xnn_status_success;
  }
  const size_t count = (flags & kCountMask) >> kCountShift;
  if (count == 0) {
    xnn_operator_t op = runtime->opdata[index].operator_objects[place];
    return xnn_run_operator_with_index(op, index, place, threads_for(*op, runtime->threadpool));
  }
  return kKinds[(flags & kKindMask) >> kKindShift].run(*runtime, index, count);
}

}  // extern "C"
