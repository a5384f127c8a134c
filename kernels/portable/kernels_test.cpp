// SPDX-License-Identifier: BSD-3-Clause
// The portable library as C++ programs see it: registration, calls by operator name, failures.
#include <executorch/kernels/portable/Functions.h>
#include <executorch/kernels/portable/register.h>

#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::testing::TensorFactory;

class PortableKernelsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { executorch::runtime::runtime_init(); }
};

TEST_F(PortableKernelsTest, RegistersStaticallyAndOnCallTheSameKernelsOnce) {
  RecordProperty("req", "KS-001");
  const size_t count = executorch::runtime::get_registered_kernels().size();
  EXPECT_GT(count, 200u);
  EXPECT_EQ(executorch::kernels::register_portable_kernels(), Error::Ok);
  EXPECT_EQ(executorch::runtime::get_registered_kernels().size(), count);
  std::set<std::string> names;
  for (const auto& kernel : executorch::runtime::get_registered_kernels()) {
    EXPECT_TRUE(names.insert(kernel.name_).second) << kernel.name_;
  }
}

TEST_F(PortableKernelsTest, ReturnsTheOutputItWasGiven) {
  RecordProperty("req", "KS-012");
  TensorFactory<ScalarType::Float> tf;
  const Tensor a = tf.make({2, 2}, {1, 2, 3, 4});
  Tensor out = tf.zeros({2, 2});
  KernelRuntimeContext context;
  Tensor& returned = torch::executor::aten::add_outf(context, a, a, 2, out);
  EXPECT_EQ(&returned, &out);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_TENSOR_EQ(out, tf.make({2, 2}, {3, 6, 9, 12}));
}

TEST_F(PortableKernelsTest, FailedIndexPutLeavesItsTensorAsItWas) {
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Long> indices;
  Tensor self = tf.make({3}, {1, 2, 3});
  const std::optional<Tensor> index(indices.make({2}, {0, 3}));
  KernelRuntimeContext context;
  torch::executor::aten::index_put_(context, self, {&index, 1}, tf.make({2}, {7, 8}), false);
  EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
  EXPECT_TENSOR_EQ(self, tf.make({3}, {1, 2, 3}));
}

TEST_F(PortableKernelsTest, DynamicOutputShrinksAndStaticOneDoesNot) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor a = tf.ones({2, 3});
  Tensor dynamic = tf.zeros({4, 4}, executorch::aten::TensorShapeDynamism::DYNAMIC_BOUND);
  KernelRuntimeContext context;
  torch::executor::aten::relu_outf(context, a, dynamic);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_TENSOR_EQ(dynamic, a);
  Tensor fixed = tf.zeros({4, 4});
  torch::executor::aten::relu_outf(context, a, fixed);
  EXPECT_EQ(context.failure_state(), Error::InvalidArgument);
}

}  // namespace
