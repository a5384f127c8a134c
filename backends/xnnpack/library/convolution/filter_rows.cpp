// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its functions that create convolutions.
#include <executorch/backends/xnnpack/library/convolution/filter_rows.h>

#include <algorithm>
#include <cstring>

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kMaxInputs = 4;
constexpr uint32_t kMaxTaps = 32;  // in each direction
static_assert(kMaxTaps * kMaxRows <= kMaxPointers);
static_assert(XNN_MAX_UARCH_TYPES == 1, "join_steps() knows the steps for one kind of core");

struct Padding {
  uint32_t top, right, bottom, left;

  static Padding of(const xnn_operator& op) {
    return {op.padding_top, op.padding_right, op.padding_bottom, op.padding_left};
  }
  bool is_none() const { return (top | right | bottom | left) == 0; }
  void put(xnn_operator& op) const {
    op.padding_top = top;
    op.padding_right = right;
    op.padding_bottom = bottom;
    op.padding_left = left;
  }
};

/// One row of the copy of all images.
void copy_row(const Convolution* convolution, size_t copied_row) {
  const PaddedImage& padded = convolution->padded;
  const size_t image = copied_row / padded.padded_height;
  const size_t row =
      copied_row % padded.padded_height - padded.top;  // wraps around ahead of the image
  const int padding = *static_cast<const uint8_t*>(convolution->indirection.zero_buffer);
  const auto* const from = static_cast<const uint8_t*>(convolution->indirection.input);
  auto* const to = static_cast<uint8_t*>(padded.copy(convolution->indirection)) +
                   copied_row * padded.padded_bytes;
  if (row >= padded.height) {
    std::memset(to, padding, padded.padded_bytes);
    return;
  }
  uint8_t* const right = to + padded.left_bytes + padded.bytes;
  std::memset(to, padding, padded.left_bytes);
  std::memcpy(to + padded.left_bytes, from + (image * padded.height + row) * padded.bytes,
              padded.bytes);
  std::memset(right, padding, static_cast<size_t>(to + padded.padded_bytes - right));
}

}  // namespace

/// More padding than the filter reaches over would make a copy larger than all that is computed.
bool Filter::suits_filter_rows(uint32_t flags) const {
  const bool is_narrow = std::max(padding_left, padding_right) < width &&
                         std::max(padding_top, padding_bottom) < height;
  return (flags & ~kNoTable) == 0 && is_narrow && inputs <= kMaxInputs && input_stride == inputs &&
         outputs > 1 && groups == 1 && dilation_x == 1 && width > 1 && height > 1 &&
         width <= kMaxTaps && height <= kMaxTaps;
}

xnn_status reshape_convolution(ReshapeConvolution* reshape, xnn_operator_t op, size_t batch,
                               size_t height, size_t width, size_t* workspace_size,
                               size_t* workspace_alignment, size_t* output_height,
                               size_t* output_width, pthreadpool_t threadpool) {
  if (!is_by_filter_rows(op) || batch == 0 || height == 0 || width == 0) {
    return reshape_without_table(reshape, op, batch, height, width, workspace_size,
                                 workspace_alignment, output_height, output_width, threadpool);
  }
  const size_t taps = op->group_input_channels / op->input_pixel_stride;
  const Padding padding = Padding::of(*op);
  const size_t padded_height = padding.top + height + padding.bottom;
  const size_t padded_width = std::max(padding.left + width + padding.right, taps);
  if (padding.is_none() && width < taps) {
    return xnn_status_invalid_parameter;  // what XNNPACK reads there it does not have
  }
  Padding{}.put(*op);
  op->flags |= kNoTable;
  const xnn_status status =
      reshape(op, batch, padded_height, padded_width - taps + 1, workspace_size,
              workspace_alignment, output_height, output_width, threadpool);
  padding.put(*op);
  if (status != xnn_status_success) {
    return status;
  }
  if (!join_steps(op, workspace_size)) {
    return xnn_status_unsupported_hardware;
  }
  Convolution& convolution = *reinterpret_cast<Convolution*>(&op->context);
  const size_t pixel = convolution.indirection.input_pixel_stride;
  convolution.indirection.input_width = padded_width;
  convolution.igemm.ba_stride = padded_height * padded_width * pixel;
  if (padding.is_none()) {
    return status;
  }
  PaddedImage& padded = convolution.padded;
  padded.height = height;
  padded.bytes = width * pixel;
  padded.padded_height = padded_height;
  padded.padded_bytes = padded_width * pixel;
  padded.top = padding.top;
  padded.left_bytes = padding.left * pixel;
  op->compute[1] = op->compute[0];
  op->compute[0] = {};
  op->compute[0].type = xnn_parallelization_type_1d;
  op->compute[0].task_1d = reinterpret_cast<pthreadpool_task_1d_t>(copy_row);
  op->compute[0].range[0] = batch * padded_height;
  *workspace_size = batch * padded_height * padded.padded_bytes + XNN_EXTRA_BYTES;
  *workspace_alignment = XNN_ALLOCATION_ALIGNMENT;
  return xnn_status_success;
}

}  // namespace executorch::backends::xnnpack

using namespace executorch::backends::xnnpack;

extern "C" {

/// XNNPACK's own under another name (tuning.cmake).
decltype(xnn_create_convolution2d_nhwc_qs8_qc8w) xnn_create_convolution2d_nhwc_qs8_qc8w_any;

xnn_status xnn_create_convolution2d_nhwc_qs8_qc8w(
    uint32_t padding_top, uint32_t padding_right, uint32_t padding_bottom, uint32_t padding_left,
    uint32_t height, uint32_t width, uint32_t stride_y, uint32_t stride_x, uint32_t dilation_y,
    uint32_t dilation_x, uint32_t groups, size_t inputs, size_t outputs, size_t input_stride,
    size_t output_stride, int8_t input_zero, float input_scale, const float* filter_scale,
    const int8_t* filters, const int32_t* bias, int8_t output_zero, float output_scale, int8_t min,
    int8_t max, uint32_t flags, xnn_code_cache_t code_cache, xnn_weights_cache_t weights_cache,
    xnn_operator_t* out) {
  return create_by_filter_rows(
      xnn_create_convolution2d_nhwc_qs8_qc8w_any,
      {padding_top, padding_right, padding_bottom, padding_left, height, width, stride_y, stride_x,
       dilation_y, dilation_x, groups, inputs, outputs, input_stride, output_stride},
      input_zero, input_scale, filter_scale, filters, bias, output_zero, output_scale, min, max,
      flags, code_cache, weights_cache, out);
}

}  // extern "C"
