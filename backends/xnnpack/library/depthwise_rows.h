// SPDX-License-Identifier: BSD-3-Clause
// Depthwise convolutions without the table of pointers that XNNPACK keeps for each, one for every
// line of outputs, column of pixels and tap down it: 0.9 MB for a MobileNetV2, which has 2.4 MB of
// weights in 8 bits. Threads find the pixels of a line as they compute it.
#pragma once

#include "xnnpack/operator.h"

#include <cstddef>

namespace executorch::backends::xnnpack {

/// Whether the pointers of an output fit onto the stack of a thread.
bool fits_rows(const xnn_operator* op);

/// Lets `step` of a depthwise convolution that was given its size with kNoTable find its pixels,
/// and takes the table from the workspace; false for a step that is another.
bool find_pixels_of_rows(xnn_operator_t op, compute_parameters& step, size_t* workspace_size);

}  // namespace executorch::backends::xnnpack
