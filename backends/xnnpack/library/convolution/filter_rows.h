// SPDX-License-Identifier: BSD-3-Clause
// Convolutions of images. Of three channels a kernel reads little for each tap: for 7 x 7 taps one
// of 8 bits, which reads 8 channels at a time, takes 49 steps. But the taps of a row of a filter
// lie one after another in its weights and, where the image has its padding around it, in its
// pixels. So a row becomes one tap of 21 channels: 7 times 3 steps. Where there is padding, a step
// ahead of the GEMM copies the image into the workspace with it.
#pragma once

#include <executorch/backends/xnnpack/library/convolution/indirection_free.h>

#include "xnnpack.h"
#include "xnnpack/operator.h"

#include <cstddef>
#include <tuple>

namespace executorch::backends::xnnpack {

/// What XNNPACK's functions that create convolutions take first.
struct Filter {
  uint32_t padding_top, padding_right, padding_bottom, padding_left;
  uint32_t height, width, stride_y, stride_x, dilation_y, dilation_x, groups;
  size_t inputs, outputs, input_stride, output_stride;

  bool suits_filter_rows(uint32_t flags) const;
};

/// By `create`, a function of XNNPACK; `rest` are its arguments behind those of the filter: they
/// end with flags, two caches and where the operator goes.
template <typename Create, typename... Rest>
xnn_status create_by_filter_rows(Create* create, const Filter& f, Rest... rest) {
  const auto all = std::tie(rest...);
  const bool by_rows = f.suits_filter_rows(std::get<sizeof...(Rest) - 4>(all));
  const size_t row_taps = f.width * f.inputs;
  const xnn_status status =
      create(f.padding_top, f.padding_right, f.padding_bottom, f.padding_left, f.height,
             by_rows ? 1 : f.width, f.stride_y, f.stride_x, f.dilation_y, f.dilation_x, f.groups,
             by_rows ? row_taps : f.inputs, f.outputs, by_rows ? row_taps : f.input_stride,
             f.output_stride, rest...);
  if (by_rows && status == xnn_status_success) {
    (*std::get<sizeof...(Rest) - 1>(all))->input_pixel_stride = f.inputs;
  }
  return status;
}

/// Whether create_by_filter_rows() made it so: in others a pixel has all channels.
inline bool is_by_filter_rows(const xnn_operator* op) {
  return op->ukernel.type == xnn_microkernel_type_igemm &&
         op->input_pixel_stride < op->group_input_channels;
}

/// What `reshape` does with these arguments, for convolutions by filter rows or others.
xnn_status reshape_convolution(ReshapeConvolution* reshape, xnn_operator_t op, size_t batch,
                               size_t height, size_t width, size_t* workspace_size,
                               size_t* workspace_alignment, size_t* output_height,
                               size_t* output_width, pthreadpool_t threadpool);

}  // namespace executorch::backends::xnnpack
