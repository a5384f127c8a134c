// SPDX-License-Identifier: BSD-3-Clause
// Compiled into XNNPACK instead of its functions that give convolutions their sizes. Asked
// for a table in the workspace (XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER), XNNPACK fills that in a
// step ahead of the one that computes; here both become one, with a table of one tile.
#include <executorch/backends/xnnpack/library/convolution/depthwise_rows.h>
#include <executorch/backends/xnnpack/library/convolution/filter_rows.h>
#include <executorch/backends/xnnpack/library/convolution/indirection_free.h>
#include <executorch/backends/xnnpack/library/tile_order.h>

#include "xnnpack/compute.h"
#include "xnnpack/operator.h"

#include <algorithm>
#include <cstddef>

extern "C" {  // which its header declares for C alone
void xnn_compute_conv2d_igemm_indirection(void*, size_t, size_t);
void xnn_compute_igemm(void*, size_t, size_t, size_t, size_t);
void xnn_compute_batch_igemm(void*, size_t, size_t, size_t, size_t, size_t);
}

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kStep = 8;  // pointers found at a time
static_assert(kMaxRows % kStep == 0);

static_assert(offsetof(Convolution, indirection) ==
                  offsetof(xnn_operator, context.igemm.conv2d_igemm_indirection_init) -
                      offsetof(xnn_operator, context.igemm.igemm),
              "the operator has them one after the other, too");
static_assert(sizeof(Convolution) <= sizeof(xnn_operator::context));

template <typename T>
T* advance(T* at, size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(at) + bytes);
}

/// A tile of outputs, one after the other, and where their inputs go: by tap, then by output.
class Tile {
 public:
  Tile(const Convolution& convolution, size_t first)
      : of_(convolution.indirection),
        input_(convolution.padded.height == 0 ? of_.input : PaddedImage::copy(of_)),
        size_(convolution.igemm.ks_scaled / (convolution.igemm.ks * sizeof(void*))) {
    const size_t outputs = std::min(size_, of_.output_height * of_.output_width - first);
    size_t row = first / of_.output_width, column = first % of_.output_width;
    for (size_t i = 0; i < outputs; ++row, column = 0) {
      i += place_line(i, std::min(outputs - i, of_.output_width - column), row, column);
    }
    for (size_t i = outputs; i < size_; ++i) {  // none is there, but the kernel looks at its inputs
      rows_[i] = rows_[outputs - 1];
      columns_[i] = columns_[outputs - 1];
      first_taps_[i] = first_taps_[outputs - 1];
    }
  }

  /// Writes up to kStep pointers more than there are.
  void find(uintptr_t* out) const {
    for (size_t y = 0; y < of_.kernel_height; ++y) {
      for (size_t x = 0; x < of_.kernel_width; ++x, out += size_) {
        if (is_inside_) {
          find_inside(y, x, out);
        } else {
          find_each(y, x, out);
        }
      }
    }
  }

 private:
  /// Outputs of one row and the inputs of their first taps, which may lie ahead of the input: all
  /// wraps around. Returns how many.
  size_t place_line(size_t i, size_t outputs, size_t row, size_t column) {
    const size_t y = row * of_.stride_height - of_.input_padding_top;
    size_t x = column * of_.stride_width - of_.input_padding_left;
    uintptr_t pixel = reinterpret_cast<uintptr_t>(input_) + offset(y, x);
    is_inside_ = is_inside_ &&
                 reaches(y, of_.kernel_height, of_.dilation_height, of_.input_height) &&
                 reaches(x, of_.kernel_width, of_.dilation_width, of_.input_width) &&
                 reaches(x + (outputs - 1) * of_.stride_width, of_.kernel_width, of_.dilation_width,
                         of_.input_width);
    const size_t step = of_.stride_width * of_.input_pixel_stride;
    for (const size_t end = i + outputs; i < end; ++i, x += of_.stride_width, pixel += step) {
      rows_[i] = y;
      columns_[i] = x;
      first_taps_[i] = pixel;
    }
    return outputs;
  }
  static bool reaches(size_t first, size_t taps, size_t dilation, size_t size) {
    return first < size && first + (taps - 1) * dilation < size;
  }
  size_t offset(size_t row, size_t column) const {
    return (row * of_.input_width + column) * of_.input_pixel_stride;
  }

  void find_inside(size_t y, size_t x, uintptr_t* out) const {
    const uintptr_t tap = offset(y * of_.dilation_height, x * of_.dilation_width);
    for (size_t i = 0; i < size_; i += kStep) {
      for (size_t j = i; j < i + kStep; ++j) {
        out[j] = first_taps_[j] + tap;
      }
    }
  }

  void find_each(size_t y, size_t x, uintptr_t* out) const {
    const size_t row = y * of_.dilation_height, column = x * of_.dilation_width;
    const uintptr_t tap = offset(row, column);
    const auto zeros = reinterpret_cast<uintptr_t>(of_.zero_buffer);
    for (size_t i = 0; i < size_; ++i) {
      const bool is_inside =
          (rows_[i] + row < of_.input_height) & (columns_[i] + column < of_.input_width);
      out[i] = is_inside ? first_taps_[i] + tap : zeros;
    }
  }

  const conv2d_igemm_indirection_init_context& of_;
  const void* const input_;
  const size_t size_;
  bool is_inside_ = true;
  size_t rows_[kMaxRows], columns_[kMaxRows];
  uintptr_t first_taps_[kMaxRows] = {};  // a step may read more than there are
};

void compute(const Convolution* convolution, size_t image, size_t first, size_t channel,
             size_t outputs, size_t channels) {
  uintptr_t pointers[kMaxPointers + kStep];
  Tile(*convolution, first).find(pointers);
  const igemm_context& c = convolution->igemm;
  c.ukernel.function[XNN_UARCH_DEFAULT](
      outputs, channels, c.kc, c.ks_scaled, reinterpret_cast<const void**>(pointers),
      advance(c.packed_w, channel * c.w_stride),
      advance(c.c, image * c.bc_stride + first * c.cm_stride + (channel << c.log2_csize)),
      c.cm_stride, c.cn_stride, image * c.ba_stride, c.zero, &c.params);
}

/// Groups would each find the same inputs; they share XNNPACK's table.
bool fits_tiles(const xnn_operator* op) {
  const size_t taps = size_t{op->kernel_height} * op->kernel_width;
  return op->groups == 1 && op->ukernel.type == xnn_microkernel_type_igemm &&
         op->ukernel.igemm.mr <= kMaxRows && taps * op->ukernel.igemm.mr <= kMaxPointers;
}

/// `step` of tiles, of a convolution that is not depthwise.
bool find_positions_of_tiles(xnn_operator_t op, compute_parameters& step, size_t* workspace_size) {
  if (!is_task(op->compute[0].task_1d_tile_1d, xnn_compute_conv2d_igemm_indirection)) {
    return false;
  }
  if (replace_task(step.task_2d_tile_2d, xnn_compute_igemm, compute_positions)) {
    order_by_columns(step, by_columns<compute_positions>,
                     {op->ukernel.igemm.nr, op->context.igemm.igemm.w_stride});
  } else if (!replace_task(step.task_3d_tile_2d, xnn_compute_batch_igemm, compute_image)) {
    return false;
  }
  reinterpret_cast<Convolution*>(&op->context)->padded = {};
  *workspace_size = 0;
  return true;
}

}  // namespace

void compute_image(const Convolution* convolution, size_t image, size_t first, size_t channel,
                   size_t positions, size_t channels) {
  compute(convolution, image, first, channel, positions, channels);
}

void compute_positions(void* convolution, size_t first, size_t channel, size_t positions,
                       size_t channels) {
  compute(static_cast<const Convolution*>(convolution), 0, first, channel, positions, channels);
}

bool join_steps(xnn_operator_t op, size_t* workspace_size) {
  compute_parameters step = op->compute[1];
  const bool is_depthwise = op->ukernel.type == xnn_microkernel_type_dwconv;
  const bool is_known = is_depthwise ? find_positions_of_rows(op, step, workspace_size)
                                     : find_positions_of_tiles(op, step, workspace_size);
  if (is_known) {
    op->compute[0] = step;
    op->compute[1].type = xnn_parallelization_type_invalid;
  }
  return is_known;
}

xnn_status reshape_without_table(ReshapeConvolution* reshape, xnn_operator_t op, size_t batch,
                                 size_t height, size_t width, size_t* workspace_size,
                                 size_t* workspace_alignment, size_t* output_height,
                                 size_t* output_width, pthreadpool_t threadpool) {
  const auto run = [&] {
    return reshape(op, batch, height, width, workspace_size, workspace_alignment, output_height,
                   output_width, threadpool);
  };
  if (!fits_tiles(op) && !fits_rows(op)) {
    const xnn_status status = run();
    if (status == xnn_status_success) {
      order_gemm(op);
    }
    return status;
  }
  const uint32_t flags = op->flags;
  op->flags |= kNoTable;
  const xnn_status status = run();
  if (status != xnn_status_success || op->state != xnn_run_state_needs_setup) {
    op->flags = flags;
    return status;
  }
  if (join_steps(op, workspace_size)) {
    return status;
  }
  op->flags = flags;
  op->compute[0] = op->compute[1] = {};  // a single step leaves what only two of them set
  return run();
}

}  // namespace executorch::backends::xnnpack

// XNNPACK's own under other names (tuning.cmake).
#define RESHAPE_WITHOUT_TABLE(type)                                                            \
  decltype(xnn_reshape_convolution2d_nhwc_##type) xnn_reshape_convolution2d_nhwc_##type##_any; \
  xnn_status xnn_reshape_convolution2d_nhwc_##type(                                            \
      xnn_operator_t op, size_t batch, size_t height, size_t width, size_t* workspace_size,    \
      size_t* workspace_alignment, size_t* output_height, size_t* output_width,                \
      pthreadpool_t threadpool) {                                                              \
    return executorch::backends::xnnpack::reshape_convolution(                                 \
        xnn_reshape_convolution2d_nhwc_##type##_any, op, batch, height, width, workspace_size, \
        workspace_alignment, output_height, output_width, threadpool);                         \
  }

extern "C" {
RESHAPE_WITHOUT_TABLE(qs8)
RESHAPE_WITHOUT_TABLE(qs8_qc8w)
}
