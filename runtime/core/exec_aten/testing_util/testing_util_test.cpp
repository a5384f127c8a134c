// SPDX-License-Identifier: BSD-3-Clause
// Helpers of tests: what factories make and refuse, what matchers match, what errors print.
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/core/testing_util/error_matchers.h>

#include <cmath>
#include <cstdint>
#include <sstream>
#include <type_traits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::Result;
using executorch::runtime::testing::ErrorIs;
using executorch::runtime::testing::IsOk;
using executorch::runtime::testing::IsOkAndHolds;
using executorch::runtime::testing::TensorFactory;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Not;

namespace {

std::vector<uint8_t> dim_order_of(const Tensor& tensor) {
  std::vector<uint8_t> order(static_cast<size_t>(tensor.dim()));
  EXPECT_EQ(executorch::runtime::get_dim_order(tensor, order.data(), order.size()), Error::Ok);
  return order;
}

TEST(TensorFactoryTest, MakesWhatItIsGiven) {
  TensorFactory<ScalarType::Int> ti;
  const Tensor t = ti.make({2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2});
  EXPECT_THAT(dim_order_of(t), ElementsAre(1, 0));
  EXPECT_THAT(ti.make_with_dimorder({2, 3}, {1, 2, 3, 4, 5, 6}, {1, 0}).strides(),
              ElementsAre(1, 2));
  EXPECT_EQ(ti.make({}, {7}).dim(), 0);
  static_assert(std::is_same_v<TensorFactory<ScalarType::Bool>::ctype, uint8_t>);
  TensorFactory<ScalarType::Bool> tb;
  EXPECT_TRUE(tb.make({2}, {0, 1}).const_data_ptr<bool>()[1]);
  // Tensors live as long as the factory.
  std::vector<Tensor> tensors;
  for (int32_t i = 0; i < 100; ++i) {
    tensors.push_back(ti.full({1}, i));
  }
  for (int32_t i = 0; i < 100; ++i) {
    EXPECT_EQ(tensors[static_cast<size_t>(i)].const_data_ptr<int32_t>()[0], i);
  }
}

TEST(TensorFactoryTest, ChannelsLast) {
  TensorFactory<ScalarType::Float> tf;
  const std::vector<float> data = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(dim_order_of(tf.make_channels_last({1, 2, 1, 3}, data)), ElementsAre(0, 2, 3, 1));
  // Another dim order is not looked at.
  EXPECT_THAT(dim_order_of(tf.make_channels_last({1, 2, 1, 3}, data, {0, 1, 2, 3})),
              ElementsAre(0, 2, 3, 1));
  EXPECT_DEATH(tf.make_channels_last({6}, data), "4 or 5 dimensions");
  EXPECT_DEATH(tf.channels_last_like(tf.make({6}, data)), "4 dimensions");
  EXPECT_DEATH(tf.channels_last_like(tf.make_channels_last({1, 2, 1, 3}, data)), "contiguous");
}

TEST(TensorFactoryTest, RefusesWhatIsNoTensor) {
  TensorFactory<ScalarType::Float> tf;
  EXPECT_DEATH(tf.make({2, 2}, {1, 2, 3}), "3 values for a tensor of 4");
  EXPECT_DEATH(tf.make({2, 2}, {1, 2, 3, 4}, {3, 1}), "not dense");
  EXPECT_DEATH(tf.make({2, 2}, {1, 2, 3, 4}, {0, 1}), "no dim order");
  EXPECT_DEATH(tf.make({2, 2}, {1, 2, 3, 4}, {1}), "1 strides, 2 sizes");
  EXPECT_DEATH(tf.make_with_dimorder({2, 2}, {1, 2, 3, 4}, {0, 2}), "dim order");
  EXPECT_DEATH(tf.make_with_dimorder({2, 2}, {1, 2, 3, 4}, {0}), "dim order");
}

TEST(TensorMatchersTest, TolerancesOfEachType) {
  TensorFactory<ScalarType::Double> td;
  EXPECT_TENSOR_CLOSE(td.make({1}, {1 + 9e-6}), td.ones({1}));
  EXPECT_TENSOR_NOT_CLOSE(td.make({1}, {1 + 2e-5}), td.ones({1}));
  EXPECT_TENSOR_CLOSE(td.make({1}, {9e-9}), td.zeros({1}));
  EXPECT_TENSOR_NOT_CLOSE(td.make({1}, {2e-8}), td.zeros({1}));
  TensorFactory<ScalarType::Half> th;
  EXPECT_TENSOR_CLOSE(th.make({1}, {9e-4f}), th.zeros({1}));
  EXPECT_TENSOR_NOT_CLOSE(th.make({1}, {2e-3f}), th.zeros({1}));
  TensorFactory<ScalarType::BFloat16> tb;
  EXPECT_TENSOR_CLOSE(tb.make({1}, {9e-3f}), tb.zeros({1}));
  EXPECT_TENSOR_NOT_CLOSE(tb.make({1}, {2e-2f}), tb.zeros({1}));
  EXPECT_TENSOR_EQ(td.make({2}, {NAN, -INFINITY}), td.make({2}, {NAN, -INFINITY}));
  EXPECT_TENSOR_NE(td.make({1}, {INFINITY}), td.make({1}, {-INFINITY}));
  EXPECT_TENSOR_NE(td.make({1}, {NAN}), td.zeros({1}));
  TensorFactory<ScalarType::Int> ti;
  EXPECT_TENSOR_NOT_CLOSE(ti.make({1}, {1000000}), ti.make({1}, {1000001}));
  EXPECT_TENSOR_DATA_CLOSE(td.ones({4}), td.ones({2, 2}));
  EXPECT_TENSOR_DATA_NE(td.ones({4}), ti.ones({4}));
  EXPECT_TENSOR_DATA_NE(td.ones({4}), td.ones({3}));
}

TEST(TensorMatchersTest, MisuseEndsTheProgram) {
  TensorFactory<ScalarType::Float> tf;
  EXPECT_DEATH(EXPECT_TENSOR_EQ(tf.ones({2, 2}), tf.make({2, 2}, {1, 1, 1, 1}, {1, 2})), "strides");
}

Result<int> number_or(Error error) {
  if (error != Error::Ok) {
    return error;
  }
  return 7;
}

TEST(ErrorMatchersTest, MatchErrorsAndResults) {
  EXPECT_THAT(Error::Ok, IsOk());
  EXPECT_THAT(Error::Internal, Not(IsOk()));
  EXPECT_THAT(number_or(Error::Ok), IsOk());
  EXPECT_THAT(number_or(Error::Ok), IsOkAndHolds(7));
  EXPECT_THAT(number_or(Error::Ok), IsOkAndHolds(Gt(6)));
  EXPECT_THAT(number_or(Error::Ok), Not(IsOkAndHolds(8)));
  EXPECT_THAT(number_or(Error::NotFound), Not(IsOkAndHolds(7)));
  EXPECT_THAT(number_or(Error::NotFound), ErrorIs(Error::NotFound));
  EXPECT_THAT(Error::NotFound, ErrorIs(AnyOf(Error::NotFound, Error::Internal)));
  EXPECT_THAT(number_or(Error::Ok), Not(ErrorIs(Error::NotFound)));
  EXPECT_EQ(ASSERT_OK_AND_UNWRAP(number_or(Error::Ok)), 7);
}

TEST(ErrorMatchersTest, ErrorsPrintAsTheirNames) {
  EXPECT_EQ(::testing::PrintToString(Error::NotFound), "Error::NotFound");
  EXPECT_EQ(::testing::PrintToString(static_cast<Error>(0x7777)), "Error::Unknown");
  const ::testing::Matcher<const Error&> is_ok = IsOk();
  ::testing::StringMatchResultListener listener;
  EXPECT_FALSE(is_ok.MatchAndExplain(Error::NotFound, &listener));
  EXPECT_EQ(listener.str(), "whose error is Error::NotFound");
}

}  // namespace
