// SPDX-License-Identifier: BSD-3-Clause
// Part of the library XNNPACK, in place of its functions that give convolutions their sizes. Asked
// for a table in the workspace (XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER), XNNPACK fills that in a
// step ahead of the one that computes; here both become one, with a table of one tile.
#include <executorch/backends/xnnpack/library/convolution_pixels.h>

#include "xnnpack/compute.h"
#include "xnnpack/operator.h"

#include <cstddef>
#include <type_traits>

extern "C" {  // which its header declares for C alone
void xnn_compute_conv2d_igemm_indirection(void*, size_t, size_t);
void xnn_compute_igemm(void*, size_t, size_t, size_t, size_t);
void xnn_compute_batch_igemm(void*, size_t, size_t, size_t, size_t, size_t);
void xnn_compute_grouped_igemm(void*, size_t, size_t, size_t, size_t, size_t);
void xnn_compute_grouped_batch_igemm(void*, size_t, size_t, size_t, size_t, size_t, size_t);
}

namespace executorch::backends::xnnpack {

namespace {

constexpr uint32_t kNoTable = XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER;
constexpr size_t kMaxPointers = 512;  // of a tile, on the stack of its thread

/// What XNNPACK says of a convolution, as it lies in its operator.
struct Convolution {
  igemm_context products;
  conv2d_igemm_indirection_init_context pixels;
};
static_assert(offsetof(Convolution, pixels) ==
                  offsetof(xnn_operator, context.igemm.conv2d_igemm_indirection_init) -
                      offsetof(xnn_operator, context.igemm.igemm),
              "the operator has them one after the other, too");

template <typename T>
T* advance(T* at, size_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(at) + bytes);
}

/// A tile of outputs, one after the other, and where their pixels go: by tap, then by output.
class Tile {
 public:
  Tile(const Convolution& convolution, size_t first, const void** pointers)
      : of_(convolution.pixels),
        size_(convolution.products.ks_scaled / (convolution.products.ks * sizeof(void*))),
        first_(first),
        row_(first / of_.output_width),
        column_(first % of_.output_width),
        pointers_(pointers) {}

  void find() const {
    if (lies_inside()) {
      find_inside();
    } else {
      find_each();
    }
  }

 private:
  /// Where a tap of an output lies in the input; wraps around ahead of it.
  size_t input_row(size_t row, size_t tap) const {
    return row * of_.stride_height + tap * of_.dilation_height - of_.input_padding_top;
  }
  size_t input_column(size_t column, size_t tap) const {
    return column * of_.stride_width + tap * of_.dilation_width - of_.input_padding_left;
  }
  const void* pixel(size_t row, size_t column) const {
    return advance(of_.input, (row * of_.input_width + column) * of_.input_pixel_stride);
  }

  /// In one row, and away from the borders.
  bool lies_inside() const {
    const size_t last = column_ + size_ - 1;
    return last < of_.output_width && input_row(row_, 0) < of_.input_height &&
           input_row(row_, of_.kernel_height - 1) < of_.input_height &&
           input_column(column_, 0) < of_.input_width &&
           input_column(last, of_.kernel_width - 1) < of_.input_width;
  }

  void find_inside() const {
    const size_t step = of_.stride_width * of_.input_pixel_stride;
    const void** out = pointers_;
    for (size_t y = 0; y < of_.kernel_height; ++y) {
      for (size_t x = 0; x < of_.kernel_width; ++x, out += size_) {
        const void* const first = pixel(input_row(row_, y), input_column(column_, x));
        for (size_t i = 0; i < size_; ++i) {
          out[i] = advance(first, i * step);
        }
      }
    }
  }

  void find_each() const {
    const size_t last = of_.output_height * of_.output_width - 1;
    size_t row = row_, column = column_;
    for (size_t i = 0; i < size_; ++i) {
      const void** out = pointers_ + i;
      for (size_t y = 0; y < of_.kernel_height; ++y) {
        const size_t from_row = input_row(row, y);
        for (size_t x = 0; x < of_.kernel_width; ++x, out += size_) {
          const size_t from_column = input_column(column, x);
          const bool is_inside = from_row < of_.input_height && from_column < of_.input_width;
          *out = is_inside ? pixel(from_row, from_column) : of_.zero_buffer;
        }
      }
      if (first_ + i < last && ++column == of_.output_width) {
        column = 0;
        ++row;
      }
    }
  }

  const conv2d_igemm_indirection_init_context& of_;
  const size_t size_, first_, row_, column_;
  const void** const pointers_;
};

void compute(const Convolution* convolution, size_t image, size_t group, size_t first,
             size_t channel, size_t outputs, size_t channels) {
  const void* pointers[kMaxPointers];
  Tile(*convolution, first, pointers).find();
  const igemm_context& c = convolution->products;
  c.ukernel.function[XNN_UARCH_DEFAULT](
      outputs, channels, c.kc, c.ks_scaled, pointers,
      advance(c.packed_w, group * c.gw_stride + channel * c.w_stride),
      advance(c.c, image * c.bc_stride + group * c.gc_stride + first * c.cm_stride +
                       (channel << c.log2_csize)),
      c.cm_stride, c.cn_stride, group * c.ga_stride + image * c.ba_stride, c.zero, &c.params);
}

void compute_one(const Convolution* convolution, size_t first, size_t channel, size_t outputs,
                 size_t channels) {
  compute(convolution, 0, 0, first, channel, outputs, channels);
}

void compute_image(const Convolution* convolution, size_t image, size_t first, size_t channel,
                   size_t outputs, size_t channels) {
  compute(convolution, image, 0, first, channel, outputs, channels);
}

void compute_group(const Convolution* convolution, size_t group, size_t first, size_t channel,
                   size_t outputs, size_t channels) {
  compute(convolution, 0, group, first, channel, outputs, channels);
}

/// Puts one step in the place of two; false for steps that are others.
bool join_steps(xnn_operator* op) {
  const compute_parameters& table = op->compute[0];
  compute_parameters step = op->compute[1];
  if (table.type != xnn_parallelization_type_1d_tile_1d ||
      table.task_1d_tile_1d !=
          reinterpret_cast<pthreadpool_task_1d_tile_1d_t>(xnn_compute_conv2d_igemm_indirection)) {
    return false;
  }
  const auto replace = [](auto& task, auto theirs, auto ours) {
    using Task = std::remove_reference_t<decltype(task)>;
    const bool is_theirs = task == reinterpret_cast<Task>(theirs);
    task = is_theirs ? reinterpret_cast<Task>(ours) : task;
    return is_theirs;
  };
  bool is_known = false;
  switch (step.type) {
    case xnn_parallelization_type_2d_tile_2d:
      is_known = replace(step.task_2d_tile_2d, xnn_compute_igemm, compute_one);
      break;
    case xnn_parallelization_type_3d_tile_2d:
      is_known = replace(step.task_3d_tile_2d, xnn_compute_batch_igemm, compute_image) ||
                 replace(step.task_3d_tile_2d, xnn_compute_grouped_igemm, compute_group);
      break;
    case xnn_parallelization_type_4d_tile_2d:
      is_known = replace(step.task_4d_tile_2d, xnn_compute_grouped_batch_igemm, compute);
      break;
    default:
      break;
  }
  if (is_known) {
    op->compute[0] = step;
    op->compute[1].type = xnn_parallelization_type_invalid;
  }
  return is_known;
}

}  // namespace

xnn_status reshape_without_table(ReshapeConvolution* reshape, xnn_operator_t op, size_t batch,
                                 size_t height, size_t width, size_t* workspace_size,
                                 size_t* workspace_alignment, size_t* output_height,
                                 size_t* output_width, pthreadpool_t threadpool) {
  const auto run = [&] {
    return reshape(op, batch, height, width, workspace_size, workspace_alignment, output_height,
                   output_width, threadpool);
  };
  const size_t taps = size_t{op->kernel_height} * op->kernel_width;
  if (op->ukernel.type != xnn_microkernel_type_igemm ||
      taps * op->ukernel.igemm.mr > kMaxPointers) {
    return run();
  }
  const uint32_t flags = op->flags;
  op->flags |= kNoTable;
  const xnn_status status = run();
  if (status != xnn_status_success || op->state != xnn_run_state_needs_setup) {
    op->flags = flags;
    return status;
  }
  if (join_steps(op)) {
    *workspace_size = 0;
    *workspace_alignment = 1;
    return status;
  }
  op->flags = flags;
  op->compute[1].type = xnn_parallelization_type_invalid;
  return run();
}

}  // namespace executorch::backends::xnnpack

// XNNPACK's own under other names (third-party/xnnpack.cmake).
#define RESHAPE_WITHOUT_TABLE(type)                                                            \
  decltype(xnn_reshape_convolution2d_nhwc_##type) xnn_reshape_convolution2d_nhwc_##type##_any; \
  xnn_status xnn_reshape_convolution2d_nhwc_##type(                                            \
      xnn_operator_t op, size_t batch, size_t height, size_t width, size_t* workspace_size,    \
      size_t* workspace_alignment, size_t* output_height, size_t* output_width,                \
      pthreadpool_t threadpool) {                                                              \
    return executorch::backends::xnnpack::reshape_without_table(                               \
        xnn_reshape_convolution2d_nhwc_##type##_any, op, batch, height, width, workspace_size, \
        workspace_alignment, output_height, output_width, threadpool);                         \
  }

extern "C" {
#if !XNN_ARCH_X86_64  // there, winograd.cpp has it
RESHAPE_WITHOUT_TABLE(f32)
#endif
RESHAPE_WITHOUT_TABLE(f16)
RESHAPE_WITHOUT_TABLE(qs8)
RESHAPE_WITHOUT_TABLE(qs8_qc8w)
RESHAPE_WITHOUT_TABLE(qu8)
}
