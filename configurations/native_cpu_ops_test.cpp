// SPDX-License-Identifier: BSD-3-Clause
// The combined library: one kernel for each operator, the optimized one where there are two.
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace torch::executor::native {
// Weak: there only when a registration refers to them.
__attribute__((weak)) ::executorch::aten::Tensor& opt_relu_out(
    ::executorch::runtime::KernelRuntimeContext&, const ::executorch::aten::Tensor&,
    ::executorch::aten::Tensor&);
__attribute__((weak)) ::executorch::aten::Tensor& tril_out(
    ::executorch::runtime::KernelRuntimeContext&, const ::executorch::aten::Tensor&, int64_t,
    ::executorch::aten::Tensor&);
}  // namespace torch::executor::native

namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::testing::TensorFactory;

class NativeCpuOpsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { executorch::runtime::runtime_init(); }
};

Error call(const char* name, std::initializer_list<EValue> arguments) {
  const auto kernel = executorch::runtime::get_op_function_from_registry(name);
  if (!kernel.ok()) {
    return kernel.error();
  }
  std::vector<EValue> values(arguments);
  std::vector<EValue*> stack;
  for (EValue& value : values) {
    stack.push_back(&value);
  }
  KernelRuntimeContext context;
  (*kernel)(context, {stack.data(), stack.size()});
  return context.failure_state();
}

TEST_F(NativeCpuOpsTest, HasOneKernelForEachOperator) {
  RecordProperty("req", "KS-009");
  std::set<std::string> names;
  for (const auto& kernel : executorch::runtime::get_registered_kernels()) {
    EXPECT_TRUE(names.insert(kernel.name_).second) << kernel.name_;
  }
  EXPECT_GT(names.size(), 200u);
  EXPECT_EQ(names.count("aten::relu.out"), 1u);
  EXPECT_EQ(names.count("aten::tril.out"), 1u);
}

TEST_F(NativeCpuOpsTest, TakesTheOptimizedKernelWhereThereIsOne) {
  RecordProperty("req", "KS-009");
  EXPECT_NE(&torch::executor::native::opt_relu_out, nullptr);
  TensorFactory<ScalarType::Float> tf;
  Tensor out = tf.zeros({4});
  EXPECT_EQ(call("aten::relu.out", {tf.make({4}, {-1, 2, -3, 4}), out, out}), Error::Ok);
  EXPECT_TENSOR_EQ(out, tf.make({4}, {0, 2, 0, 4}));
}

TEST_F(NativeCpuOpsTest, FallsBackToThePortableKernel) {
  RecordProperty("req", "KS-009");
  EXPECT_NE(&torch::executor::native::tril_out, nullptr);
  TensorFactory<ScalarType::Float> tf;
  Tensor out = tf.zeros({2, 2});
  const Tensor in = tf.make({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(call("aten::tril.out", {in, EValue(int64_t{0}), out, out}), Error::Ok);
  EXPECT_TENSOR_EQ(out, tf.make({2, 2}, {1, 0, 3, 4}));
}

}  // namespace
