// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions without the table of pointers that XNNPACK keeps for each, one for every
// row of outputs, column of inputs and tap down it: 0.9 MB for a MobileNetV2, which has 2.4 MB of
// int8 weights. Threads find the inputs of a row as they compute it.
#pragma once

#include "xnnpack/compute.h"
#include "xnnpack/operator.h"

#include <cstddef>

namespace executorch::backends::xnnpack {

/// What is known of a depthwise convolution, as its operator holds it.
struct Depthwise {
  dwconv_context dwconv;
  dwconv_indirection_init_context indirection;
};
static_assert(offsetof(Depthwise, indirection) ==
              offsetof(xnn_operator, context.dwconv.dwconv_indirection_init) -
                  offsetof(xnn_operator, context.dwconv.dwconv));

/// A row of outputs of an image.
void compute_row(const Depthwise* d, size_t image, size_t row);

/// Whether the pointers of an output fit onto the stack of a thread.
bool fits_rows(const xnn_operator* op);

/// Lets `step` of a depthwise convolution that was given its size with kNoTable find its inputs,
/// and takes the table from the workspace; false for a step that is another.
bool find_positions_of_rows(xnn_operator_t op, compute_parameters& step, size_t* workspace_size);

}  // namespace executorch::backends::xnnpack
