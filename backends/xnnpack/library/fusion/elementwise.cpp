// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/xnnpack/library/convolution/indirection_free.h>
#include <executorch/backends/xnnpack/library/fusion/elementwise.h>
#include <executorch/backends/xnnpack/library/fusion/steps.h>

#include "xnnpack/compute.h"
#include "xnnpack/config-types.h"

#include <algorithm>

extern "C" {  // which its header declares for C alone
void xnn_compute_univector_contiguous(void*, size_t, size_t);
void xnn_compute_lut_contiguous(void*, size_t, size_t);
void xnn_compute_elementwise_binary_1d_tile(void*, size_t, size_t);
void xnn_compute_elementwise_binary_1d(void*, size_t);
void xnn_compute_elementwise_binary_2d(void*, size_t, size_t);
void xnn_compute_elementwise_binary_3d(void*, size_t, size_t, size_t);
}

namespace executorch::backends::xnnpack {

namespace {

constexpr size_t kInnermost = XNN_MAX_TENSOR_DIMS - 2;  // of strides

const void* moved(const void* base, size_t bytes) {
  return static_cast<const uint8_t*>(base) + bytes;
}
void* moved(void* base, size_t bytes) {
  return static_cast<uint8_t*>(base) + bytes;
}

/// A step over one range of bytes or elements.
bool is_flat(const compute_parameters& step) {
  return step.type == xnn_parallelization_type_1d_tile_1d &&
         (is_task(step.task_1d_tile_1d, xnn_compute_univector_contiguous) ||
          is_task(step.task_1d_tile_1d, xnn_compute_lut_contiguous) ||
          is_task(step.task_1d_tile_1d, xnn_compute_elementwise_binary_1d_tile));
}

/// Dimensions around the blocks of a binary operator that broadcasts; 0 for another step.
size_t outer_dims(const compute_parameters& step) {
  switch (step.type) {
    case xnn_parallelization_type_1d:
      return is_task(step.task_1d, xnn_compute_elementwise_binary_1d) ? 1 : 0;
    case xnn_parallelization_type_2d:
      return is_task(step.task_2d, xnn_compute_elementwise_binary_2d) ? 2 : 0;
    case xnn_parallelization_type_3d:
      return is_task(step.task_3d, xnn_compute_elementwise_binary_3d) ? 3 : 0;
    default:
      return 0;
  }
}

/// Bytes of an operand ahead of a block of the output.
size_t offset_of(const compute_parameters& step, const size_t* strides, size_t block) {
  size_t offset = 0;
  const size_t dims = outer_dims(step);
  for (size_t i = 0; i < dims; ++i) {
    const size_t range = step.range[dims - 1 - i];
    offset += block % range * strides[kInnermost - i];
    block /= range;
  }
  return offset;
}

bool is_binary(const xnn_operator& op) {
  return outer_dims(op.compute[0]) != 0 ||
         is_task(op.compute[0].task_1d_tile_1d, xnn_compute_elementwise_binary_1d_tile);
}

/// Of the size of an element of the output. A transpose that only moves dimensions of one element
/// counts bytes.
size_t element_bits(const xnn_operator& op) {
  if (is_binary(op)) {
    return op.binary_elementwise.log2_element_size;
  }
  switch (op.type) {
    case xnn_operator_type_transpose_nd_x16:
      return 1;
    case xnn_operator_type_transpose_nd_x32:
      return 2;
    case xnn_operator_type_transpose_nd_x64:
      return 3;
    default:
      return op.context.univector_contiguous.log2_xsize;
  }
}

/// Whether one number of `b` meets all of a block.
bool is_number_inside(const xnn_operator& op) {
  return op.context.elementwise_binary.ukernel != op.binary_elementwise_config->op_ukernel;
}

void compute_blocks(const xnn_operator& op, size_t first, size_t count) {
  const compute_parameters& step = op.compute[0];
  const elementwise_binary_context& c = op.context.elementwise_binary;
  const size_t b_scale = is_number_inside(op) ? 0 : 1;
  const size_t end = first + count;  // in bytes, all of it
  while (first < end) {
    const size_t block = first / c.elements, inside = first % c.elements;
    const size_t bytes = std::min(c.elements - inside, end - first);
    c.ukernel(bytes, moved(c.a, offset_of(step, c.a_stride, block) + inside),
              moved(c.b, offset_of(step, c.b_stride, block) + inside * b_scale), moved(c.y, first),
              &c.params);
    first += bytes;
  }
}

}  // namespace

bool Elementwise::is(const xnn_operator& op) {
  return is_ready(&op) && op.compute[1].type == xnn_parallelization_type_invalid &&
         op.compute[0].context_offset == 0 &&
         (is_flat(op.compute[0]) || outer_dims(op.compute[0]) != 0);
}

size_t Elementwise::elements() const {
  const compute_parameters& step = op_.compute[0];
  if (is_binary(op_)) {
    size_t bytes = is_flat(step) ? step.range[0] : op_.context.elementwise_binary.elements;
    for (size_t i = 0; i < outer_dims(step); ++i) {
      bytes *= step.range[i];
    }
    return bytes >> element_bits(op_);
  }
  const bool is_table = is_task(step.task_1d_tile_1d, xnn_compute_lut_contiguous);
  return step.range[0] >> (is_table ? 0 : element_bits(op_));
}

bool Elementwise::reads_in_step(size_t input) const {
  if (!is_binary(op_)) {
    return true;
  }
  const elementwise_binary_context& c = op_.context.elementwise_binary;
  const bool is_b = (input == 1) != c.flip_a_b;
  const size_t* const strides = is_b ? c.b_stride : c.a_stride;
  if (is_flat(op_.compute[0])) {
    return strides[kInnermost] != 0;
  }
  const size_t dims = outer_dims(op_.compute[0]);
  return !(is_b && is_number_inside(op_)) &&
         std::equal(strides + kInnermost + 1 - dims, strides + kInnermost + 1,
                    c.y_stride + kInnermost + 1 - dims);
}

void Elementwise::compute(size_t first, size_t count) const {
  const compute_parameters& step = op_.compute[0];
  void* const context = const_cast<void*>(static_cast<const void*>(&op_.context));
  if (outer_dims(step) != 0) {
    compute_blocks(op_, first << element_bits(op_), count << element_bits(op_));
  } else if (is_task(step.task_1d_tile_1d, xnn_compute_lut_contiguous)) {
    step.task_1d_tile_1d(context, first, count);
  } else {
    step.task_1d_tile_1d(context, first << element_bits(op_), count << element_bits(op_));
  }
}

}  // namespace executorch::backends::xnnpack
