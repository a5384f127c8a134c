// SPDX-License-Identifier: BSD-3-Clause
// The SDK of a maker that does not exist, for its devices v1 and v2: the header that a real one has
// in its place. Graphs are made by calls, compiled to a context binary for a device, and run from
// that. Nothing of the caller's memory is kept but the bytes of a context.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VENDOR_VERSION (2 << 16 | 1)  // of this header

typedef enum { VENDOR_OK, VENDOR_REFUSED, VENDOR_CORRUPTED } vendor_status;
typedef enum { VENDOR_FLOAT32, VENDOR_INT16, VENDOR_INT32, VENDOR_INT4 } vendor_dtype;
typedef enum { VENDOR_INPUT, VENDOR_VALUE, VENDOR_CONSTANT } vendor_role;
// FULLY_CONNECTED reads INT16, an INT4 matrix with a scale for each row, and an INT32 bias, which
// may be missing.
typedef enum { VENDOR_ADD, VENDOR_MUL, VENDOR_FULLY_CONNECTED } vendor_kind;
typedef struct vendor_graph vendor_graph;
typedef struct vendor_context vendor_context;

// value = scale * stored; no scale, one, or one for each index of the first dimension. `data` of a
// constant: dense, two INT4 in a byte, the first in its lower half; null where calls are only
// validated.
typedef struct {
  vendor_role role;
  vendor_dtype dtype;
  size_t rank, num_scales;
  const int64_t* sizes;
  const float* scales;
  const void* data;
} vendor_tensor;

typedef struct {
  vendor_kind kind;
  size_t num_inputs;
  const uint32_t* inputs;
  uint32_t output;
} vendor_op;

// Of the library, major << 16 | minor; the device that it runs on; why this thread's last call was
// not VENDOR_OK.
uint32_t vendor_version(void);
const char* vendor_device(void);
const char* vendor_last_error(void);

// The compiler. Ids count a graph's tensors.
vendor_status vendor_graph_create(const char* name, vendor_graph** out);
void vendor_graph_free(vendor_graph* graph);
vendor_status vendor_graph_add_tensor(vendor_graph* graph, const vendor_tensor* tensor,
                                      uint32_t* out_id);
vendor_status vendor_graph_validate(const vendor_graph* graph, const char* device,
                                    const vendor_op* op);
vendor_status vendor_graph_add_op(vendor_graph* graph, const vendor_op* op);
vendor_status vendor_graph_set_outputs(vendor_graph* graph, const uint32_t* ids, size_t count);
// The graphs of one binary have their constants in common. `max_bytes`: of the binary, 0 for any.
vendor_status vendor_compile(vendor_graph* const* graphs, size_t count, const char* device,
                             uint64_t max_bytes, void** out, size_t* out_size);
void vendor_bytes_free(void* bytes);

// The runtime. `bytes`, aligned to 16, stay in use; ports, inputs and then outputs, are the
// context's. Threads: any.
vendor_status vendor_context_create(const void* bytes, size_t size, int32_t performance,
                                    vendor_context** out);
void vendor_context_free(vendor_context* context);
vendor_status vendor_context_ports(const vendor_context* context, const char* graph,
                                   const vendor_tensor** out, size_t* out_num_inputs,
                                   size_t* out_num_outputs);
vendor_status vendor_context_run(const vendor_context* context, const char* graph,
                                 const void* const* inputs, void* const* outputs);

#ifdef __cplusplus
}
#endif
