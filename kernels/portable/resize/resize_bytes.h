// SPDX-License-Identifier: BSD-3-Clause
// Bilinear resizing of Byte images in fixed point: columns first, rounded to bytes, then rows.
#pragma once

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/resize/triangle.h>

namespace executorch {
namespace kernels {

// Both tensors have 4 dims and dtype Byte; sizes have been checked. Takes temporary memory for the
// weights and for one plane with `columns.out` columns and `rows.in` rows; where there is none, it
// computes weights again and again.
void resize_bytes(const OpCall& call, const Tensor& in, const Axis& rows, const Axis& columns,
                  const Tensor& out);

}  // namespace kernels
}  // namespace executorch
