// SPDX-License-Identifier: BSD-3-Clause
// Convolutions without the table of pointers that XNNPACK keeps for each, one for every output
// pixel and tap: 4.9 MB for the first of a ResNet. Threads find the pixels of a tile as they
// compute it.
#pragma once

#include "xnnpack.h"

namespace executorch::backends::xnnpack {

/// The type of XNNPACK's functions that give a convolution the size of its input.
using ReshapeConvolution = decltype(xnn_reshape_convolution2d_nhwc_f32);

/// What `reshape` does with these arguments, but without a table where that can be.
xnn_status reshape_without_table(ReshapeConvolution* reshape, xnn_operator_t op, size_t batch,
                                 size_t height, size_t width, size_t* workspace_size,
                                 size_t* workspace_alignment, size_t* output_height,
                                 size_t* output_width, pthreadpool_t threadpool);

}  // namespace executorch::backends::xnnpack
