// SPDX-License-Identifier: BSD-3-Clause
// A suite as users of the documented names write them, with gtest's names visible everywhere, a
// helper of their own in torch::executor::testing, and code in the old namespaces.
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/tensor/tensor.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/testing_util/error_matchers.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/kernel/operator_registry.h>
#include <executorch/runtime/platform/runtime.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

// What the library under test can do.
namespace torch {
namespace executor {
namespace testing {
struct SupportedFeatures {
  bool output_resize = true;
  static const SupportedFeatures* get() {
    static const SupportedFeatures features;
    return &features;
  }
};
}  // namespace testing
}  // namespace executor
}  // namespace torch

using namespace ::testing;
using executorch::aten::ArrayRef;
using executorch::aten::IntArrayRef;
using executorch::aten::optional;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::Tag;
using executorch::runtime::testing::ErrorIs;
using executorch::runtime::testing::IsOk;
using torch::executor::testing::SupportedFeatures;
using torch::executor::testing::TensorFactory;
using torch::executor::testing::TensorListFactory;
namespace etrt = executorch::runtime;

class UserSuiteTest : public ::testing::Test {
 protected:
  void SetUp() override { torch::executor::runtime_init(); }

  template <ScalarType DTYPE>
  void expect_copies() {
    TensorFactory<DTYPE> tf;
    const Tensor in = tf.make({2, 2}, {1, 2, 3, 4});
    Tensor out = tf.zeros({2, 2});
    ASSERT_THAT(torch::executor::internal::copy_tensor_data(out, in), IsOk());
    EXPECT_TENSOR_EQ(out, in);
    EXPECT_TENSOR_CLOSE(out, tf.make({2, 2}, {1, 2, 3, 4}));
  }

  KernelRuntimeContext context_;
};

TEST_F(UserSuiteTest, Tensors) {
#define TEST_ENTRY(ctype, dtype) expect_copies<ScalarType::dtype>();
  ET_FORALL_REAL_TYPES(TEST_ENTRY);
#undef TEST_ENTRY
  EXPECT_TRUE(SupportedFeatures::get()->output_resize);
  TensorListFactory<ScalarType::Int> lists;
  TensorFactory<ScalarType::Int> ti;
  EXPECT_THAT(lists.zeros_like({ti.ones({2})}), SizeIs(1));
  EXPECT_THAT(ti.make({3}, {1, 2, 3}).sizes(), ElementsAre(3));
}

TEST_F(UserSuiteTest, ErrorsAndValues) {
  const optional<Tensor> nothing;
  EXPECT_THAT(nothing, Eq(executorch::aten::nullopt));
  EXPECT_THAT(etrt::get_op_function_from_registry("nobody::has", {}),
              ErrorIs(Error::OperatorMissing));
  EValue value(Scalar(3));
  EXPECT_EQ(value.tag, Tag::Int);
  EXPECT_THAT(value.toInt(), AllOf(Gt(2), Lt(4)));
  context_.fail(Error::Internal);
  EXPECT_EQ(context_.failure_state(), Error::Internal);
  torch::executor::util::BufferDataLoader loader(&value, sizeof(value));
  EXPECT_EQ(loader.size().get(), sizeof(value));
}

namespace torch {
namespace executor {
namespace native {
Tensor& user_op_out(RuntimeContext& ctx, const Tensor& in, optional<ScalarType> dtype,
                    Tensor& out) {
  ET_KERNEL_CHECK(ctx, tensors_have_same_dtype(in, out), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, dtype.value_or(in.scalar_type()) == out.scalar_type(), InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, resize_tensor(out, in.sizes()) == Error::Ok, InvalidArgument, out);
  ET_KERNEL_CHECK(ctx, internal::share_tensor_data(out, in) == Error::Ok, InvalidArgument, out);
  return out;
}
}  // namespace native

TEST(UserSuiteInsideTest, FindsBothKindsOfNames) {
  ::testing::Test::RecordProperty("kind", "inside");
  testing::TensorFactory<ScalarType::Float> tf;
  Tensor out = tf.zeros({2});
  RuntimeContext context;
  native::user_op_out(context, tf.ones({2}), ScalarType::Float, out);
  EXPECT_EQ(context.failure_state(), Error::Ok);
  EXPECT_TENSOR_EQ(out, tf.ones({2}));
  EXPECT_EQ(std::vector<int>({1}).size(), 1u);
}
}  // namespace executor
}  // namespace torch

namespace old_style {
using namespace torch::executor;
Error shrink(EValue& value, ArrayRef<executorch::aten::SizesType> sizes) {
  return torch::executor::internal::resize_tensor_impl(value.toTensor().unsafeGetTensorImpl(),
                                                       sizes);
}
}  // namespace old_style

TEST_F(UserSuiteTest, OldNamespaceAsADirective) {
  TensorFactory<ScalarType::Float> tf;
  EValue value(tf.zeros({2, 3}, torch::executor::TensorShapeDynamism::DYNAMIC_BOUND));
  EXPECT_EQ(old_style::shrink(value, {}), Error::NotSupported);
  const executorch::aten::SizesType sizes[] = {1, 3};
  EXPECT_EQ(old_style::shrink(value, {sizes, 2}), Error::Ok);
  EXPECT_EQ(value.toTensor().numel(), 3);
}
