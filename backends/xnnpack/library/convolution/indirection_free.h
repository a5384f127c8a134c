// SPDX-License-Identifier: BSD-3-Clause
// Convolutions without the table of pointers that XNNPACK keeps for each, one for every output
// position and tap: 4.9 MB for the first of a ResNet. Threads find the inputs of a tile as they
// compute it.
#pragma once

#include "xnnpack.h"
#include "xnnpack/compute.h"

#include <cstddef>

namespace executorch::backends::xnnpack {

/// An image that is copied before it is read (filter_rows.h); `height` is 0 where it is not.
struct PaddedImage {
  size_t height, bytes;                // rows of an image, and bytes of one
  size_t padded_height, padded_bytes;  // the same of the copy
  size_t top, left_bytes;

  static void* copy(const conv2d_igemm_indirection_init_context& indirection) {
    return static_cast<void*>(indirection.indirection_buffer);
  }
};

/// What is known of a convolution, as its operator holds it: XNNPACK's members, then ours.
struct Convolution {
  igemm_context igemm;
  conv2d_igemm_indirection_init_context indirection;
  PaddedImage padded;
};

constexpr uint32_t kNoTable = XNN_FLAG_TRANSIENT_INDIRECTION_BUFFER;
constexpr size_t kMaxPointers = 1024;    // of a tile, on the stack of its thread
constexpr size_t kMaxRows = XNN_MAX_MR;  // of a tile

/// The type of XNNPACK's functions that give a convolution the size of its input.
using ReshapeConvolution = decltype(xnn_reshape_convolution2d_nhwc_qs8);

/// What `reshape` does with these arguments, but without a table where that can be.
xnn_status reshape_without_table(ReshapeConvolution* reshape, xnn_operator_t op, size_t batch,
                                 size_t height, size_t width, size_t* workspace_size,
                                 size_t* workspace_alignment, size_t* output_height,
                                 size_t* output_width, pthreadpool_t threadpool);

/// The step of a convolution of one image and one group: positions of the output, and channels of
/// them.
void compute_positions(void* convolution, size_t first, size_t channel, size_t positions,
                       size_t channels);

/// The same of several images and one group.
void compute_image(const Convolution* convolution, size_t image, size_t first, size_t channel,
                   size_t positions, size_t channels);

/// Of a convolution that was given its size with kNoTable: puts one step in the place of the two,
/// of which the first fills the table, and takes that from the workspace; false for steps that are
/// others.
bool join_steps(xnn_operator_t op, size_t* workspace_size);

template <typename Task, typename Theirs>
bool is_task(Task task, Theirs* theirs) {
  return task == reinterpret_cast<Task>(theirs);
}

/// A step's function becomes `ours` if it is `theirs`.
template <typename Task, typename Theirs, typename Ours>
bool replace_task(Task& task, Theirs* theirs, Ours* ours) {
  const bool is_theirs = is_task(task, theirs);
  task = is_theirs ? reinterpret_cast<Task>(ours) : task;
  return is_theirs;
}

}  // namespace executorch::backends::xnnpack
