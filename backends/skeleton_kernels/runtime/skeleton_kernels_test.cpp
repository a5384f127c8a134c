// SPDX-License-Identifier: BSD-3-Clause
// Tensors that kernels refuse. What they compute is tested from Python, beside PyTorch.
#include <executorch/backends/skeleton_kernels/CustomOpsNativeFunctions.h>
#include <executorch/extension/tensor/tensor_ptr_maker.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

namespace executorch::backends::skeleton_kernels {
namespace {

using aten::ScalarType;
using extension::full;
using extension::TensorPtr;
using runtime::Error;

TensorPtr filled(std::vector<aten::SizesType> sizes, ScalarType dtype = ScalarType::Float) {
  return full(std::move(sizes), 3, dtype);
}

Error add_relu(const TensorPtr& x, const TensorPtr& y, const TensorPtr& out) {
  runtime::runtime_init();
  runtime::KernelRuntimeContext context;
  native::add_relu_out(context, *x, *y, *out);
  return context.failure_state();
}

TEST(SkeletonKernelsTest, EqualTensorsAreTaken) {
  const TensorPtr out = filled({2, 3});
  ASSERT_EQ(add_relu(filled({2, 3}), filled({2, 3}), out), Error::Ok);
  EXPECT_EQ(out->const_data_ptr<float>()[5], 6.0f);
}

TEST(SkeletonKernelsTest, OtherDtypesAreRefused) {
  EXPECT_EQ(add_relu(filled({2}), filled({2}, ScalarType::Int), filled({2})),
            Error::InvalidArgument);
  EXPECT_EQ(add_relu(filled({2}), filled({2}), filled({2}, ScalarType::Double)),
            Error::InvalidArgument);
}

TEST(SkeletonKernelsTest, OtherSizesAreRefused) {
  EXPECT_EQ(add_relu(filled({2}), filled({3}), filled({2})), Error::InvalidArgument);
  EXPECT_EQ(add_relu(filled({2, 3}), filled({2, 3}), filled({6})), Error::InvalidArgument);
}

TEST(SkeletonKernelsTest, EveryKernelChecks) {
  runtime::runtime_init();
  runtime::KernelRuntimeContext context;
  const TensorPtr x = filled({2}), out = filled({2});
  native::quantized_mul_out(context, *x, 0, *x, 0, 1.0, 0, *out);
  EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
}

}  // namespace
}  // namespace executorch::backends::skeleton_kernels
