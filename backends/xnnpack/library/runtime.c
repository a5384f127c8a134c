// SPDX-License-Identifier: BSD-3-Clause
// XNNPACK's runtime, but for four things: it did not say where its workspace is, nor what its
// operators write, and told their times in whole microseconds; and bounds of a clamp behind a pool
// went over the pool's padding. With EXECUTORCH_XNNPACK_TUNING for two more: it wrote zeros to
// all of the workspace, by one thread, before the kernels that write there; it packs weights by one
// thread (packing_pool.h); and it runs one operator after another (fusion.h).
#ifndef __MACH__
#define _POSIX_C_SOURCE 199309L  // as it has it: for its clock
#endif
#ifdef EXECUTORCH_XNNPACK_TUNING
#include <executorch/backends/xnnpack/library/packing_pool.h>
#endif

#include "xnnpack/allocator.h"
#include "xnnpack/math.h"
#include "xnnpack/operator.h"
#include "xnnpack/subgraph.h"

// What XNNPACK does next, but for the parameters of nodes that are no clamps: those lie where a
// clamp's bounds would.
static bool takes_bounds(const struct xnn_node* node) {
  return node->type == xnn_node_type_average_pooling_2d ||
         node->type == xnn_node_type_convolution_2d ||
         node->type == xnn_node_type_deconvolution_2d ||
         node->type == xnn_node_type_depthwise_convolution_2d ||
         node->type == xnn_node_type_fully_connected || node->type == xnn_node_type_max_pooling_2d;
}

static void join_clamps(xnn_subgraph_t subgraph) {
  xnn_subgraph_analyze_consumers_and_producers(subgraph);
  for (uint32_t i = 0; i < subgraph->num_values; ++i) {
    struct xnn_value* value = &subgraph->values[i];
    if (value->num_consumers != 1 || value->producer == XNN_INVALID_NODE_ID ||
        value->first_consumer == XNN_INVALID_NODE_ID) {
      continue;
    }
    struct xnn_node* producer = &subgraph->nodes[value->producer];
    struct xnn_node* clamp = &subgraph->nodes[value->first_consumer];
    if (!takes_bounds(producer) || clamp->type != xnn_node_type_unary_elementwise ||
        clamp->unary_operator != xnn_unary_clamp) {
      continue;
    }
    producer->activation.output_min =
        math_max_f32(producer->activation.output_min, clamp->activation.output_min);
    producer->activation.output_max =
        math_min_f32(producer->activation.output_max, clamp->activation.output_max);
    producer->outputs[0] = clamp->outputs[0];
    subgraph->values[clamp->outputs[0]].producer = value->producer;
    xnn_node_clear(clamp);
    xnn_value_clear(value);
  }
}

static enum xnn_status optimize(xnn_subgraph_t subgraph, uint32_t flags) {
  if ((flags & XNN_FLAG_NO_OPERATOR_FUSION) == 0) {
    join_clamps(subgraph);
  }
  return xnn_subgraph_optimize(subgraph, flags);
}

#define xnn_subgraph_optimize optimize
#ifdef EXECUTORCH_XNNPACK_TUNING
static inline void* allocate_workspace(size_t size) {
  const bool is_state = size == sizeof(struct xnn_workspace);
  return is_state ? xnn_allocate_zero_simd_memory(size) : xnn_allocate_simd_memory(size);
}

#define xnn_allocate_zero_simd_memory allocate_workspace
#define xnn_create_runtime_v4 xnn_create_runtime_v4_any
enum xnn_status xnn_create_runtime_v4(xnn_subgraph_t subgraph, xnn_weights_cache_t weights,
                                      xnn_workspace_t workspace, pthreadpool_t pool, uint32_t flags,
                                      xnn_runtime_t* out);
#endif
#include "src/runtime.c"
#undef xnn_create_runtime_v4

void* xnn_get_workspace_data(xnn_workspace_t workspace) {
  return workspace->data;
}

/// The first output of each operator that is measured, in the order in which they are; gives their
/// number.
size_t xnn_get_operator_outputs(xnn_runtime_t runtime, uint32_t* out_outputs, size_t max_outputs) {
  size_t count = 0;
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    if (runtime->opdata[i].operator_objects[0] == NULL) {
      continue;
    }
    if (count < max_outputs) {
      out_outputs[count] = runtime->opdata[i].outputs[0];
    }
    ++count;
  }
  return count;
}

static uint64_t nanoseconds_between(const xnn_timestamp* start, const xnn_timestamp* end) {
#ifdef __MACH__
  return *end - *start;
#elif XNN_PLATFORM_WINDOWS || defined(__EMSCRIPTEN__)
  return 1000 * xnn_get_elapsed_time(start, end);
#else
  return (uint64_t)(end->tv_sec - start->tv_sec) * 1000000000 + (uint64_t)end->tv_nsec -
         (uint64_t)start->tv_nsec;
#endif
}

/// How long each of these operators took, in nanoseconds; gives their number.
size_t xnn_get_operator_nanoseconds(xnn_runtime_t runtime, uint64_t* out_times, size_t max_times) {
  size_t count = 0;
  const xnn_timestamp* before = &runtime->start_ts;
  for (size_t i = 0; i < runtime->num_ops; ++i) {
    const xnn_timestamp* const start = before;
    for (size_t j = 0; j < XNN_MAX_OPERATOR_OBJECTS; ++j) {
      if (runtime->opdata[i].operator_objects[j] != NULL) {
        before = &runtime->opdata[i].end_ts[j];
      }
    }
    if (runtime->opdata[i].operator_objects[0] == NULL) {
      continue;
    }
    if (count < max_times) {
      out_times[count] = nanoseconds_between(start, before);
    }
    ++count;
  }
  return count;
}

#ifdef EXECUTORCH_XNNPACK_TUNING
enum xnn_status xnn_create_runtime_v4(xnn_subgraph_t subgraph, xnn_weights_cache_t weights,
                                      xnn_workspace_t workspace, pthreadpool_t pool, uint32_t flags,
                                      xnn_runtime_t* out) {
  xnn_set_packing_pool(pool);
  const enum xnn_status status =
      xnn_create_runtime_v4_any(subgraph, weights, workspace, pool, flags, out);
  xnn_set_packing_pool(NULL);
  return status;
}
#endif
