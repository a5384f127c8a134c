// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch {
namespace executor {
namespace native {

using ::executorch::aten::Tensor;

// Cuts an image [channels, height, width] into tiles [tiles, channels, tile_size, tile_size], row
// by row. Any dtype, in row-major order. Sides that tile_size does not divide, and any other wrong
// argument: InvalidArgument.
Tensor& tile_crop_out_impl(KernelRuntimeContext& ctx, const Tensor& input, const int64_t tile_size,
                           Tensor& out);

}  // namespace native
}  // namespace executor
}  // namespace torch
