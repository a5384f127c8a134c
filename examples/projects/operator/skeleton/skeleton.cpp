// SPDX-License-Identifier: BSD-3-Clause
// The kernel of my_ops::skeleton.out.
#include <cmath>

#include <executorch/extension/kernel_util/make_boxed_from_unboxed_functor.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::KernelRuntimeContext;

Tensor& skeleton_out(KernelRuntimeContext& context, const Tensor& x, double limit, Tensor& out) {
  ET_KERNEL_CHECK_MSG(
      context, x.scalar_type() == ScalarType::Float && out.scalar_type() == ScalarType::Float,
      InvalidArgument, out, "my_ops::skeleton: expected float32 tensors");
  ET_KERNEL_CHECK_MSG(
      context, executorch::runtime::resize_tensor(out, x.sizes()) == executorch::runtime::Error::Ok,
      InvalidArgument, out, "my_ops::skeleton: expected an output of the input's sizes");
  ET_KERNEL_CHECK_MSG(context, executorch::runtime::tensors_have_same_dim_order(x, out),
                      InvalidArgument, out,
                      "my_ops::skeleton: expected an output in the input's memory order");
  const float* from = x.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (ssize_t i = 0; i < x.numel(); ++i) {
    to[i] = from[i] / (1.0f + std::fabs(from[i]) / static_cast<float>(limit));
  }
  return out;
}

EXECUTORCH_LIBRARY(my_ops, "skeleton.out", skeleton_out);

}  // namespace
