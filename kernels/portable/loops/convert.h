// SPDX-License-Identifier: BSD-3-Clause
// Copies of whole tensors: between dtypes, between dim orders, and into a view of another shape.
#pragma once

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided.h>

namespace executorch {
namespace kernels {

// out[index] = in[index] for all indices of out, `in` broadcast to it; dtypes and dim orders may
// differ. Both tensors are computable or of one dtype; shapes have been checked.
bool copy_converted(const OpCall& call, const Tensor& in, const Tensor& out);

// The same of one dtype, without what conversions bring into a binary.
void copy_same_dtype(const Tensor& in, const Tensor& out);

// Gives `out` the sizes of `from` and copies it there; `in` is the tensor that `from` views, for
// the dtype check.
bool copy_to_output(const OpCall& call, const StridedView& from, const Tensor& in,
                    const Tensor& out);

// What elements are converted through. Complex numbers give real ones their real part, and Bool
// whether they are not zero.
ComputeType conversion_type(ScalarType from, ScalarType to);

// Copies `in` to `out` in row-major order of both; same number of elements, same dtype.
void copy_in_order(const Tensor& in, const Tensor& out);

}  // namespace kernels
}  // namespace executorch
