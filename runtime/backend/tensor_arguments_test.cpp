// SPDX-License-Identifier: BSD-3-Clause
// Arguments of a delegate: views of what fits, errors for what does not.
#include <executorch/runtime/backend/tensor_arguments.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::testing::TensorFactory;

namespace {

class TensorArgumentsTest : public ::testing::Test {
 protected:
  void SetUp() override { runtime_init(); }

  /// One input, and one output of one float.
  Error input_error(const Tensor& tensor, const TensorRule& rule = {ScalarType::Float}) {
    EValue input(tensor), output(floats_.make({1}, {0}));
    EValue* args[] = {&input, &output};
    const auto arguments = TensorArguments::of("TestBackend", args, 1, 1);
    return arguments->input(0, rule).error();
  }

  TensorFactory<ScalarType::Float> floats_;
};

TEST_F(TensorArgumentsTest, GivesViewsOfInputsAndOutputs) {
  EValue input(floats_.make({2, 3}, {1, 2, 3, 4, 5, 6}));
  EValue output(floats_.zeros({4, 3}, TensorShapeDynamism::DYNAMIC_BOUND));
  EValue* args[] = {&input, &output};
  const auto arguments = TensorArguments::of("TestBackend", args, 1, 1);
  ASSERT_TRUE(arguments.ok());
  const auto x = arguments->input(0, {ScalarType::Float, 2});
  ASSERT_TRUE(x.ok());
  EXPECT_EQ(x->numel(), 6u);
  EXPECT_EQ(x->nbytes(), 24u);
  EXPECT_EQ(x->rank(), 2u);
  EXPECT_EQ(x->dim_in_memory(0), 0u);
  EXPECT_EQ(x->data<float>()[5], 6.0f);
  const auto out = arguments->output(0, {ScalarType::Float});
  ASSERT_TRUE(out.ok());
  ASSERT_EQ(out->resize(x->sizes()), Error::Ok);
  EXPECT_EQ(out->sizes()[0], 2);
  out->mutable_data<float>()[0] = 7;
  EXPECT_EQ(output.toTensor().const_data_ptr<float>()[0], 7.0f);
  const SizesType large[] = {5, 3};
  EXPECT_EQ(out->resize({large, 2}), Error::NotSupported);
}

TEST_F(TensorArgumentsTest, TheirNumberIsChecked) {
  EValue value(floats_.make({1}, {0}));
  EValue* args[] = {&value, &value};
  EXPECT_EQ(TensorArguments::of("TestBackend", args, 2, 1).error(), Error::InvalidArgument);
  EXPECT_EQ(TensorArguments::of("TestBackend", args, 1, 0).error(), Error::InvalidArgument);
  EXPECT_EQ(TensorArguments::of("TestBackend", args, 3, 0).error(), Error::InvalidArgument);
  EXPECT_EQ(TensorArguments::of("TestBackend", args, 0, 2).error(), Error::Ok);
}

TEST_F(TensorArgumentsTest, KindDtypeAndRankAreChecked) {
  EXPECT_EQ(input_error(floats_.make({1}, {0})), Error::Ok);
  EXPECT_EQ(input_error(TensorFactory<ScalarType::Int>().make({1}, {0})), Error::InvalidArgument);
  EXPECT_EQ(input_error(floats_.make({1}, {0}), {ScalarType::Float, 2}), Error::InvalidArgument);
  EXPECT_EQ(input_error(floats_.make({}, {0}), {ScalarType::Float, 0}), Error::Ok);
  EValue number(int64_t{3});
  EValue* args[] = {&number};
  const auto arguments = TensorArguments::of("TestBackend", args, 0, 1);
  EXPECT_EQ(arguments->output(0, {ScalarType::Float}).error(), Error::InvalidArgument);
}

TEST_F(TensorArgumentsTest, ChannelsLastIsTakenWhereTheRuleSaysSo) {
  const Tensor plain = floats_.zeros({1, 2, 2, 3});
  const Tensor channels_last = floats_.make_with_dimorder(
      {1, 2, 2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {0, 2, 3, 1});
  EXPECT_EQ(input_error(plain), Error::Ok);
  EXPECT_EQ(input_error(channels_last), Error::InvalidArgument);
  EXPECT_EQ(input_error(channels_last, {ScalarType::Float, 4, false}), Error::Ok);
  EValue input(channels_last);
  EValue* args[] = {&input};
  const auto arguments = TensorArguments::of("TestBackend", args, 1, 0);
  const auto view = arguments->input(0, {ScalarType::Float, 4, false});
  EXPECT_EQ(view->dim_in_memory(1), 2u);
  EXPECT_EQ(view->dim_in_memory(3), 1u);
  // Of one channel both orders are the same memory.
  EXPECT_EQ(input_error(floats_.make_with_dimorder({1, 1, 2, 2}, {1, 2, 3, 4}, {0, 2, 3, 1})),
            Error::Ok);
}

/// A tensor that a caller makes by hand may say anything.
TEST_F(TensorArgumentsTest, StridesDimOrderAndMemoryAreChecked) {
  float data[6] = {};
  SizesType sizes[] = {2, 2};
  const auto error_of = [&](std::array<executorch::aten::StridesType, 2> strides,
                            std::array<executorch::aten::DimOrderType, 2> order, void* memory) {
    TensorImpl impl(ScalarType::Float, 2, sizes, memory, order.data(), strides.data());
    return input_error(Tensor(&impl), {ScalarType::Float, 2, false});
  };
  EXPECT_EQ(error_of({2, 1}, {0, 1}, data), Error::Ok);
  EXPECT_EQ(error_of({1, 2}, {1, 0}, data), Error::Ok);
  EXPECT_EQ(error_of({3, 1}, {0, 1}, data), Error::InvalidArgument);  // a gap
  EXPECT_EQ(error_of({1, 2}, {0, 1}, data), Error::InvalidArgument);  // another order
  EXPECT_EQ(error_of({2, 1}, {0, 0}, data), Error::InvalidArgument);
  EXPECT_EQ(error_of({2, 1}, {0, 1}, nullptr), Error::InvalidArgument);
  // Made without strides, or without a dim order either.
  executorch::aten::DimOrderType columns[] = {1, 0};
  TensorImpl without_strides(ScalarType::Float, 2, sizes, data, columns);
  EXPECT_EQ(input_error(Tensor(&without_strides)), Error::InvalidArgument);
  EXPECT_EQ(input_error(Tensor(&without_strides), {ScalarType::Float, 2, false}), Error::Ok);
  TensorImpl plain(ScalarType::Float, 2, sizes, data);
  EXPECT_EQ(input_error(Tensor(&plain)), Error::Ok);
  sizes[0] = 0;
  EXPECT_EQ(error_of({7, 9}, {0, 1}, nullptr), Error::Ok);
}

}  // namespace
