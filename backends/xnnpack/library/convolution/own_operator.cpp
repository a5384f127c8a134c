// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its functions that give float convolutions their sizes and
// memory.
#include <executorch/backends/xnnpack/library/convolution/own_operator.h>

#include "xnnpack/allocator.h"
#include "xnnpack/cache.h"
#include "xnnpack/math.h"
#include "xnnpack/microkernel-type.h"

#include <algorithm>
#include <memory>

extern "C" {
#include "xnnpack/operator-utils.h"  // says that it is C of a part of itself
}

namespace executorch::backends::xnnpack {

namespace {

/// Says that an operator is ours: XNNPACK's convolutions name a kernel.
constexpr xnn_microkernel_type kType = xnn_microkernel_type_default;

struct Delete {
  void operator()(xnn_operator_t op) const { xnn_delete_operator(op); }
};
using Operator = std::unique_ptr<xnn_operator, Delete>;

/// The filters packed, of the cache where there is one; false without memory.
bool pack_once(const OwnConvolution& own, const Filter& filter, xnn_operator* op,
               const float* filters, const float* bias) {
  xnn_weights_cache_look_up_key key{};
  key.seed = own.seed ^ static_cast<uint32_t>(filter.inputs) ^
             static_cast<uint32_t>(filter.outputs) ^ (filter.groups - 1);
  key.kernel = filters;
  key.bias = bias;
  if (use_weights_cache(op)) {
    op->packed_weights.offset = xnn_weights_cache_look_up(op->weights_cache, &key);
    if (op->packed_weights.offset != XNN_CACHE_NOT_FOUND) {
      return true;
    }
  }
  const size_t size =
      round_up_po2(own.packed_floats(filter) * sizeof(float), XNN_ALLOCATION_ALIGNMENT);
  void* const packed = xnn_get_pointer_to_write_weights(op, size, 0);
  if (packed == nullptr || !own.pack(filter, filters, bias, static_cast<float*>(packed))) {
    return false;
  }
  if (use_weights_cache(op)) {
    op->packed_weights.offset =
        xnn_look_up_or_insert_weights_cache(op->weights_cache, &key, packed, size);
  }
  return true;
}

OwnCall& call_of(xnn_operator& op) {
  return *reinterpret_cast<OwnCall*>(&op.context);
}

}  // namespace

const OwnConvolution* own_convolution_for(const Filter& filter, float min, float max,
                                          uint32_t flags) {
  return kGroupedConvolution.suits(filter, min, max, flags) ? &kGroupedConvolution : nullptr;
}

const OwnConvolution* own_convolution_of(const xnn_operator& op) {
  if (op.type != xnn_operator_type_convolution_nhwc_f32 || op.ukernel.type != kType) {
    return nullptr;
  }
  return &kGroupedConvolution;
}

xnn_status create_own(const OwnConvolution& own, const Filter& f, const float* filters,
                      const float* bias, float min, float max, uint32_t flags,
                      xnn_weights_cache_t weights_cache, xnn_operator_t* out) {
  auto* const memory =
      static_cast<xnn_operator_t>(xnn_allocate_zero_simd_memory(sizeof(xnn_operator)));
  if (memory == nullptr) {
    return xnn_status_out_of_memory;
  }
  Operator op(memory);
  op->type = xnn_operator_type_convolution_nhwc_f32;
  op->ukernel.type = kType;
  op->state = xnn_run_state_invalid;
  op->weights_cache = weights_cache;
  op->flags = flags;
  op->padding_top = f.padding_top;
  op->padding_right = f.padding_right;
  op->padding_bottom = f.padding_bottom;
  op->padding_left = f.padding_left;
  op->kernel_height = f.height;
  op->kernel_width = f.width;
  op->stride_height = f.stride_y;
  op->stride_width = f.stride_x;
  op->dilation_height = f.dilation_y;
  op->dilation_width = f.dilation_x;
  op->groups = f.groups;
  op->group_input_channels = f.inputs;
  op->group_output_channels = f.outputs;
  op->input_pixel_stride = f.input_stride;
  op->output_pixel_stride = f.output_stride;
  op->params.f32_minmax.scalar.min = min;
  op->params.f32_minmax.scalar.max = max;
  op->zero_size = f.groups * f.inputs * sizeof(float);
  op->zero_buffer = xnn_allocate_zero_simd_memory(op->zero_size);
  if (op->zero_buffer == nullptr || !pack_once(own, f, op.get(), filters, bias)) {
    return xnn_status_out_of_memory;
  }
  *out = op.release();
  return xnn_status_success;
}

}  // namespace executorch::backends::xnnpack

using namespace executorch::backends::xnnpack;

extern "C" {

/// XNNPACK's own under other names (tuning.cmake).
decltype(xnn_reshape_convolution2d_nhwc_f32) xnn_reshape_convolution2d_nhwc_f32_any;
decltype(xnn_setup_convolution2d_nhwc_f32) xnn_setup_convolution2d_nhwc_f32_any;

xnn_status xnn_reshape_convolution2d_nhwc_f32(xnn_operator_t op, size_t batch, size_t height,
                                              size_t width, size_t* workspace_size,
                                              size_t* workspace_alignment,
                                              size_t* output_height_out, size_t* output_width_out,
                                              pthreadpool_t threadpool) {
  const OwnConvolution* const own = own_convolution_of(*op);
  if (own == nullptr || height == 0 || width == 0 || batch == 0) {
    return reshape_convolution(xnn_reshape_convolution2d_nhwc_f32_any, op, batch, height, width,
                               workspace_size, workspace_alignment, output_height_out,
                               output_width_out, threadpool);
  }
  op->batch_size = batch;
  op->input_height = height;
  op->input_width = width;
  op->output_height = xnn_compute_convolution_output_dimension(
      op->padding_top + height + op->padding_bottom, op->kernel_height, op->dilation_height,
      op->stride_height);
  op->output_width = xnn_compute_convolution_output_dimension(
      op->padding_left + width + op->padding_right, op->kernel_width, op->dilation_width,
      op->stride_width);
  const size_t num_threads = std::max<size_t>(1, pthreadpool_get_threads_count(threadpool));
  *workspace_size = own->plan(*op, num_threads) * sizeof(float);
  *workspace_alignment = XNN_ALLOCATION_ALIGNMENT;
  op->state = xnn_run_state_needs_setup;
  if (output_height_out != nullptr) {
    *output_height_out = op->output_height;
  }
  if (output_width_out != nullptr) {
    *output_width_out = op->output_width;
  }
  return xnn_status_success;
}

xnn_status xnn_setup_convolution2d_nhwc_f32(xnn_operator_t op, void* workspace, const float* input,
                                            float* output) {
  const bool can_run = op->state == xnn_run_state_needs_setup || op->state == xnn_run_state_ready;
  if (own_convolution_of(*op) == nullptr || !can_run) {
    return xnn_setup_convolution2d_nhwc_f32_any(op, workspace, input, output);
  }
  call_of(*op) = {input, output, static_cast<float*>(workspace)};
  op->state = xnn_run_state_ready;
  return xnn_status_success;
}

}  // extern "C"
