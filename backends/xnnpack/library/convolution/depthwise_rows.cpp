// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/convolution/depthwise_rows.h>
#include <executorch/backends/xnnpack/library/convolution/indirection_free.h>

#include "xnnpack/compute.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" {  // which its header declares for C alone
void xnn_compute_dwconv_indirection(void*, size_t, size_t);
void xnn_compute_dwconv_unipass(void*, size_t, size_t);
}

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kMaxTapsDown = 32;
constexpr size_t kBlock = 8;  // outputs whose pointers are found at once

/// The inputs of a row of outputs. Kernels take them by column, and columns that an output shares
/// with the one before once.
class Row {
 public:
  Row(const dwconv_indirection_init_context& of, size_t row)
      : of_(of), zeros_(reinterpret_cast<uintptr_t>(of.zero_buffer)) {
    for (size_t y = 0; y < of.kernel_height; ++y) {
      // Wraps around ahead of the image.
      const size_t input_row =
          row * of.stride_height + y * of.dilation_height - of.input_padding_top;
      const bool is_inside = input_row < of.input_height;
      lines_[y] = is_inside ? reinterpret_cast<uintptr_t>(of.input) +
                                  input_row * of.input_width * of.input_pixel_stride
                            : zeros_;
      steps_[y] = is_inside ? of.input_pixel_stride : 0;
    }
    if (has_blocks()) {
      size_t* move = distances_;
      for (size_t column = 0; column < kBlock * of.step_width; ++column) {
        for (size_t y = 0; y < of.kernel_height; ++y) {
          *move++ = kBlock * of.stride_width * steps_[y];
        }
      }
    }
  }

  /// Outputs whose pointers are no more than kMaxPointers.
  size_t max_outputs() const { return 1 + (kMaxPointers - of_.tile_size) / pointers(); }

  void find(size_t first, size_t outputs, uintptr_t* out) const {
    const size_t shared = of_.kernel_width - of_.step_width;
    const size_t reach = (of_.kernel_width - 1) * of_.dilation_width;
    size_t inside = 0;  // outputs in a row, up to here
    for (size_t i = 0; i < outputs;) {
      const size_t left = (first + i) * of_.stride_width - of_.input_padding_left;
      // The first output has more pointers than those after it.
      if (inside > kBlock && i + kBlock <= outputs && has_blocks() &&
          left + (kBlock - 1) * of_.stride_width + reach < of_.input_width) {
        out = move_block(out);
        i += kBlock;
        continue;
      }
      for (size_t x = i == 0 ? 0 : shared; x < of_.kernel_width; ++x) {
        out = find_column(left + x * of_.dilation_width, out);
      }
      inside = left < of_.input_width && left + reach < of_.input_width ? inside + 1 : 0;
      ++i;
    }
    // A kernel has a number of taps of its own; weights of those that it has more are zero. Without
    // padding there are no zeros to read.
    const size_t more = of_.tile_size - of_.kernel_height * of_.kernel_width;
    std::fill_n(out, more, zeros_ == 0 ? out[-1] : zeros_);
  }

 private:
  /// Of an output whose columns begin with some of the one before.
  size_t pointers() const { return of_.step_width * of_.kernel_height; }
  bool has_blocks() const { return of_.output_width >= 3 * kBlock && pointers() <= kMaxTapsDown; }

  /// Those of kBlock outputs, from those of as many before them.
  uintptr_t* move_block(uintptr_t* out) const {
    const size_t size = kBlock * pointers();
    for (size_t i = 0; i < size; i += kBlock) {
      for (size_t j = i; j < i + kBlock; ++j) {
        out[j] = (out - size)[j] + distances_[j];
      }
    }
    return out + size;
  }

  uintptr_t* find_column(size_t column, uintptr_t* out) const {
    const bool is_inside = column < of_.input_width;
    for (size_t y = 0; y < of_.kernel_height; ++y) {
      out[y] = is_inside ? lines_[y] + column * steps_[y] : zeros_;
    }
    return out + of_.kernel_height;
  }

  const dwconv_indirection_init_context& of_;
  const uintptr_t zeros_;
  uintptr_t lines_[kMaxTapsDown];
  size_t steps_[kMaxTapsDown];  // bytes from a pixel to the next; 0 outside of the image
  size_t distances_[kBlock * kMaxTapsDown];  // from a pointer to that of the output kBlock further
};

}  // namespace

void compute_row(const Depthwise* d, size_t image, size_t row) {
  const dwconv_context& c = d->dwconv;
  const Row found(d->indirection, row);
  uintptr_t pointers[kMaxPointers];
  auto** const input = reinterpret_cast<const void**>(pointers);
  auto* output = static_cast<uint8_t*>(c.output) + image * c.output_batch_stride +
                 row * c.output_height_stride;
  const size_t input_offset = c.input_offset + image * c.input_batch_stride;
  const size_t pixel_stride = c.output_height_stride / c.output_width;
  for (size_t first = 0; first < c.output_width;) {
    const size_t outputs = std::min(found.max_outputs(), c.output_width - first);
    found.find(first, outputs, pointers);
    c.unipass_ukernel(c.groups, outputs, input, c.packed_weights, output,
                      c.indirect_input_width_stride, c.output_increment, input_offset, c.zero,
                      &c.params);
    first += outputs;
    output += outputs * pixel_stride;
  }
}

bool fits_rows(const xnn_operator* op) {
  return op->ukernel.type == xnn_microkernel_type_dwconv && op->kernel_height <= kMaxTapsDown &&
         op->ukernel.dwconv.tile_size <= kMaxPointers;
}

bool find_positions_of_rows(xnn_operator_t op, compute_parameters& step, size_t* workspace_size) {
  if (!is_task(op->compute[0].task_1d_tile_1d, xnn_compute_dwconv_indirection) ||
      !replace_task(step.task_2d, xnn_compute_dwconv_unipass, compute_row)) {
    return false;
  }
  *workspace_size = 0;
  return true;
}

}  // namespace executorch::backends::xnnpack
