// SPDX-License-Identifier: BSD-3-Clause
// Dim orders, shapes as text, tensor predicates, and the comparison of tensors that tests rely on.
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_shape_to_c_string.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/core/tensor_layout.h>
#include <executorch/runtime/core/testing_util/error_matchers.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

using namespace executorch::runtime;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::testing::TensorFactory;
using executorch::runtime::testing::TensorListFactory;

namespace {

TEST(DimOrderTest, ContiguousAndChannelsLast) {
  RecordProperty("req", "RT-023");
  const uint8_t contiguous[] = {0, 1, 2, 3};
  const uint8_t channels_last[] = {0, 2, 3, 1};
  const uint8_t channels_last_3d[] = {0, 2, 3, 4, 1};
  const uint8_t other[] = {0, 3, 1, 2};
  EXPECT_TRUE(is_contiguous_dim_order(contiguous, 4));
  EXPECT_FALSE(is_contiguous_dim_order(channels_last, 4));
  EXPECT_TRUE(is_channels_last_dim_order(channels_last, 4));
  EXPECT_TRUE(is_channels_last_dim_order(channels_last_3d, 5));
  EXPECT_FALSE(is_channels_last_dim_order(other, 4));
  EXPECT_FALSE(is_channels_last_dim_order(channels_last, 3));
  TensorFactory<ScalarType::Float> tf;
  const Tensor nchw = tf.ones({1, 2, 3, 4});
  const Tensor nhwc = tf.channels_last_like(nchw);
  uint8_t order[4];
  EXPECT_EQ(get_dim_order(nchw, order, 4), Error::Ok);
  EXPECT_EQ(std::vector<uint8_t>(order, order + 4), (std::vector<uint8_t>{0, 1, 2, 3}));
  EXPECT_EQ(get_dim_order(nhwc, order, 4), Error::Ok);
  EXPECT_EQ(std::vector<uint8_t>(order, order + 4), (std::vector<uint8_t>{0, 2, 3, 1}));
}

TEST(DimOrderTest, StridesAndBack) {
  const int32_t sizes[] = {2, 3, 4, 5};
  const uint8_t order[] = {0, 2, 3, 1};
  int32_t strides[4];
  ASSERT_EQ(dim_order_to_stride(sizes, order, 4, strides), Error::Ok);
  EXPECT_EQ(std::vector<int32_t>(strides, strides + 4), (std::vector<int32_t>{60, 1, 15, 3}));
  uint8_t back[4];
  ASSERT_EQ(stride_to_dim_order(strides, 4, back), Error::Ok);
  EXPECT_EQ(std::vector<uint8_t>(back, back + 4), std::vector<uint8_t>(order, order + 4));
  // Zero counts as one; equal strides keep their order.
  const int32_t with_zero[] = {2, 0, 3};
  const uint8_t plain[] = {0, 1, 2};
  ASSERT_EQ(dim_order_to_stride(with_zero, plain, 3, strides), Error::Ok);
  EXPECT_EQ(std::vector<int32_t>(strides, strides + 3), (std::vector<int32_t>{3, 3, 1}));
  ASSERT_EQ(stride_to_dim_order(strides, 3, back), Error::Ok);
  EXPECT_EQ(back[0], 0);
  EXPECT_EQ(back[1], 1);
}

// Hardening: dim orders that are no permutation, too long, strides that do not fit.
TEST(DimOrderTest, BadInputIsRefused) {
  const int32_t sizes[] = {2, 3, 4};
  int32_t strides[32] = {};
  const uint8_t duplicate[] = {0, 1, 1};
  const uint8_t outside[] = {0, 1, 3};
  const uint8_t far_outside[] = {0, 1, 255};
  for (const auto& order : {duplicate, outside, far_outside}) {
    EXPECT_EQ(dim_order_to_stride(sizes, order, 3, strides), Error::InvalidArgument);
  }
  EXPECT_EQ(strides[0], 0);
  std::vector<int32_t> many(17, 1);
  std::vector<uint8_t> order(17);
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = static_cast<uint8_t>(i);
  }
  EXPECT_EQ(dim_order_to_stride(many.data(), order.data(), 17, strides), Error::InvalidArgument);
  EXPECT_EQ(dim_order_to_stride(many.data(), order.data(), 16, strides), Error::Ok);
  const int32_t wide[] = {1, 65536, 65536};
  const uint8_t plain[] = {0, 1, 2};
  EXPECT_EQ(dim_order_to_stride(wide, plain, 3, strides), Error::InvalidArgument);
  const int32_t negative[] = {1, -2, 3};
  EXPECT_EQ(dim_order_to_stride(negative, plain, 3, strides), Error::InvalidArgument);
  const int32_t zero_stride[] = {3, 0, 1};
  uint8_t out[17];
  EXPECT_EQ(stride_to_dim_order(zero_stride, 3, out), Error::InvalidArgument);
  EXPECT_EQ(stride_to_dim_order(many.data(), 17, out), Error::NotSupported);
}

TEST(ShapeTextTest, WritesShapes) {
  const auto text = [](std::vector<int64_t> sizes) {
    return std::string(
        tensor_shape_to_c_string(Span<const int64_t>(sizes.data(), sizes.size())).data());
  };
  EXPECT_EQ(text({}), "()");
  EXPECT_EQ(text({5}), "(5)");
  EXPECT_EQ(text({2, 30, 0}), "(2, 30, 0)");
  EXPECT_EQ(text({-1, int64_t{1} << 40}), "(ERR, ERR)");
  EXPECT_EQ(text(std::vector<int64_t>(17, 1)), "(ERR: tensor ndim exceeds limit)");
  EXPECT_EQ(text(std::vector<int64_t>(16, 2147483647)).size(), 16 * 10 + 15 * 2 + 2);
}

TEST(TensorLayoutTest, ChecksWhatAFileSays) {
  const int32_t sizes[] = {2, 3};
  const uint8_t order[] = {0, 1};
  const auto make = [](Span<const int32_t> s, Span<const uint8_t> o, ScalarType t) {
    const auto layout = TensorLayout::create(s, o, t);
    return layout.ok() ? layout->nbytes() : SIZE_MAX - static_cast<size_t>(layout.error());
  };
  constexpr size_t kInvalid = SIZE_MAX - static_cast<size_t>(Error::InvalidArgument);
  EXPECT_EQ(make({sizes, 2}, {order, 2}, ScalarType::Short), 12u);
  EXPECT_EQ(make({sizes, 2}, {order, 1}, ScalarType::Short), kInvalid);
  EXPECT_EQ(make({sizes, 2}, {order, 2}, ScalarType::Undefined), kInvalid);
  EXPECT_EQ(make({sizes, 2}, {order, 2}, static_cast<ScalarType>(-5)), kInvalid);
  const uint8_t twice[] = {0, 0};
  EXPECT_EQ(make({sizes, 2}, {twice, 2}, ScalarType::Short), kInvalid);
  const int32_t negative[] = {2, -3};
  EXPECT_EQ(make({negative, 2}, {order, 2}, ScalarType::Short), kInvalid);
  const int32_t huge[] = {INT32_MAX, INT32_MAX};
  EXPECT_EQ(make({huge, 2}, {order, 2}, ScalarType::Double), kInvalid);
}

TEST(TensorUtilTest, PredicatesOfOneTensor) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor t = tf.zeros({2, 0, 3});
  EXPECT_TRUE(tensor_is_rank(t, 3));
  EXPECT_FALSE(tensor_is_rank(t, 2));
  EXPECT_TRUE(tensor_has_rank_greater_or_equal_to(t, 3));
  EXPECT_FALSE(tensor_has_rank_smaller_or_equal_to(t, 2));
  EXPECT_TRUE(tensor_has_dim(t, -3));
  EXPECT_FALSE(tensor_has_dim(t, 3));
  EXPECT_FALSE(tensor_has_dim(t, INT64_MIN));
  EXPECT_TRUE(tensor_has_non_empty_dim(t, -1));
  EXPECT_FALSE(tensor_has_non_empty_dim(t, 1));
  EXPECT_TRUE(tensor_dim_has_index(t, 2, -3));
  EXPECT_FALSE(tensor_dim_has_index(t, 2, 3));
  EXPECT_FALSE(tensor_dim_has_index(t, 1, 0));
  EXPECT_TRUE(tensor_is_type(t, ScalarType::Int, ScalarType::Float));
  EXPECT_FALSE(tensor_is_type(t, ScalarType::Int));
  EXPECT_TRUE(tensor_is_floating_type(t));
  EXPECT_FALSE(tensor_is_integral_type(t, true));
  EXPECT_TRUE(tensor_can_cast_to(t, ScalarType::Half));
  EXPECT_FALSE(tensor_can_cast_to(t, ScalarType::Int));
  EXPECT_TRUE(tensor_is_contiguous(t));
  EXPECT_TRUE(tensor_has_valid_dim_order(t));
  const Tensor scalar = tf.ones({});
  EXPECT_TRUE(tensor_is_scalar(scalar) && tensor_is_scalar(tf.ones({1})));
  EXPECT_FALSE(tensor_is_scalar(tf.ones({1, 1})));
  EXPECT_TRUE(tensor_has_dim(scalar, -1));
  EXPECT_EQ(nonzero_dim(scalar), 1);
  EXPECT_EQ(nonempty_size(scalar, 0), 1);
}

TEST(TensorUtilTest, PredicatesOfSeveralTensors) {
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Int> ti;
  const Tensor a = tf.ones({2, 3});
  EXPECT_TRUE(tensors_have_same_shape(a, ti.ones({2, 3})));
  EXPECT_FALSE(tensors_have_same_shape_and_dtype(a, ti.ones({2, 3})));
  EXPECT_FALSE(tensors_have_same_shape(a, tf.ones({3, 2})));
  EXPECT_TRUE(tensors_have_same_shape(tf.ones({1, 1}), tf.ones({})));
  EXPECT_TRUE(tensors_have_same_size_at_dims(a, 1, tf.ones({3}), 0));
  EXPECT_FALSE(tensors_have_same_size_at_dims(a, 2, tf.ones({3}), 0));
  EXPECT_TRUE(tensors_have_same_strides(a, tf.zeros({4, 3})));
  const Tensor nchw = tf.ones({1, 2, 3, 4});
  const Tensor nhwc = tf.channels_last_like(nchw);
  EXPECT_TRUE(tensors_have_same_dim_order(nchw, a));
  EXPECT_FALSE(tensors_have_same_dim_order(nchw, nhwc));
  EXPECT_TRUE(tensors_have_same_dim_order(nhwc, nhwc, nhwc));
  EXPECT_TRUE(tensor_is_channels_last_dim_order(nhwc));
  EXPECT_FALSE(tensor_is_contiguous(nhwc));
  EXPECT_TRUE(tensor_is_default_or_channels_last_dim_order(nhwc));
}

TEST(TensorUtilTest, CoordinatesAndDims) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor t = tf.ones({2, 3, 4});
  EXPECT_EQ(getLeadingDims(t, 2), 6u);
  EXPECT_DEATH((void)getLeadingDims(t, -1), "");
  EXPECT_DEATH((void)getLeadingDims(t, t.dim() + 1), "");
  EXPECT_DEATH((void)getTrailingDims(t, -2), "");
  EXPECT_DEATH((void)getTrailingDims(t, t.dim()), "");
  EXPECT_EQ(getTrailingDims(t, 0), 12u);
  EXPECT_EQ(getTrailingDims(t, -1), 24u);
  size_t memo[kTensorDimensionLimit];
  memoizeTrailingDims(t, memo);
  for (size_t i = 0; i < 24; ++i) {
    size_t coordinate[3];
    indexToCoordinate(t, i, coordinate);
    EXPECT_EQ(coordinateToIndex(t, coordinate), i);
    EXPECT_EQ(coordinateToIndexWithTrailingDimsMemo(t, coordinate, memo), i);
  }
  size_t coordinate[2];
  indexToCoordinate(tf.zeros({0, 3}), 5, coordinate);
  EXPECT_EQ(coordinate[0], 0u);
}

TEST(TensorUtilTest, ExtractsNumbersThatFit) {
  TensorFactory<ScalarType::Long> tl;
  TensorFactory<ScalarType::Double> td;
  TensorFactory<ScalarType::Bool> tb;
  int8_t small = 0;
  EXPECT_TRUE(extract_scalar_tensor(tl.make({}, {100}), &small));
  EXPECT_EQ(small, 100);
  EXPECT_FALSE(extract_scalar_tensor(tl.make({1}, {128}), &small));
  EXPECT_FALSE(extract_scalar_tensor(tl.make({2}, {1, 2}), &small));
  EXPECT_FALSE(extract_scalar_tensor(td.make({1}, {1.0}), &small));
  float real = 0;
  EXPECT_TRUE(extract_scalar_tensor(td.make({1}, {0.5}), &real));
  EXPECT_TRUE(extract_scalar_tensor(td.make({1}, {INFINITY}), &real));
  EXPECT_TRUE(std::isinf(real));
  EXPECT_FALSE(extract_scalar_tensor(td.make({1}, {1e300}), &real));
  bool truth = false;
  EXPECT_TRUE(extract_scalar_tensor(tb.make({1}, {1}), &truth));
  EXPECT_TRUE(truth);
  EXPECT_FALSE(extract_scalar_tensor(tl.make({1}, {1}), &truth));
}

TEST(TensorUtilTest, DataOfTensorsIsSetWithItsSize) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor t = tf.zeros({4});
  float other[4] = {1, 2, 3, 4};
  EXPECT_EQ(internal::set_tensor_data(t, other, 15), Error::InvalidArgument);
  EXPECT_EQ(internal::set_tensor_data(t, other, 16), Error::Ok);
  EXPECT_EQ(t.const_data_ptr<float>()[3], 4);
  EXPECT_EQ(internal::copy_tensor_data(tf.zeros({3}), t), Error::InvalidArgument);
  const Tensor copy = tf.zeros({2, 2});
  EXPECT_EQ(internal::copy_tensor_data(copy, t), Error::Ok);
  EXPECT_EQ(copy.const_data_ptr<float>()[0], 1);
  internal::reset_data_ptr(t);
  EXPECT_EQ(internal::share_tensor_data(copy, t), Error::InvalidArgument);
  EXPECT_EQ(internal::copy_tensor_data(copy, t), Error::InvalidArgument);
  uint8_t order[2];
  EXPECT_EQ(get_dim_order(copy, order, 1), Error::InvalidArgument);
  EXPECT_EQ(get_dim_order(copy, order, 2), Error::Ok);
}

Tensor& checked_kernel(KernelRuntimeContext& ctx, int64_t dim, Tensor& out) {
  ET_KERNEL_CHECK(ctx, dim_is_valid(dim, 2), InvalidArgument, out);
  ET_KERNEL_CHECK_MSG(ctx, dim != 1, NotSupported, out, "dim %d", static_cast<int>(dim));
  out.mutable_data_ptr<float>()[0] = 5;
  return out;
}

TEST(TensorUtilTest, KernelChecksFailTheContext) {
  TensorFactory<ScalarType::Float> tf;
  Tensor out = tf.zeros({1});
  for (const auto& [dim, expected] :
       {std::pair{0, Error::Ok}, {1, Error::NotSupported}, {2, Error::InvalidArgument}}) {
    KernelRuntimeContext ctx;
    checked_kernel(ctx, dim, out);
    EXPECT_EQ(ctx.failure_state(), expected);
  }
  EXPECT_EQ(out.const_data_ptr<float>()[0], 5);
}

TEST(TensorComparisonTest, EqualCloseAndNot) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor a = tf.make({2, 2}, {1, 2, 3, NAN});
  EXPECT_TENSOR_EQ(a, tf.make({2, 2}, {1, 2, 3, NAN}));
  EXPECT_TENSOR_NE(a, tf.make({2, 2}, {1, 2, 4, NAN}));
  EXPECT_TENSOR_NE(a, tf.make({4}, {1, 2, 3, NAN}));
  EXPECT_TENSOR_DATA_EQ(a, tf.make({4}, {1, 2, 3, NAN}));
  EXPECT_TENSOR_CLOSE(a, tf.make({2, 2}, {1.000001f, 2, 3, NAN}));
  EXPECT_TENSOR_NOT_CLOSE(a, tf.make({2, 2}, {1.001f, 2, 3, NAN}));
  EXPECT_TENSOR_CLOSE_WITH_TOL(a, tf.make({2, 2}, {1.001f, 2, 3, NAN}), 0, 0.01);
  EXPECT_TENSOR_NOT_CLOSE(tf.make({1}, {INFINITY}), tf.make({1}, {-INFINITY}));
  TensorFactory<ScalarType::Int> ti;
  EXPECT_TENSOR_NE(ti.ones({2}), tf.ones({2}));
  EXPECT_DEATH(EXPECT_TENSOR_NE(tf.ones({1, 2, 2, 2}), tf.full_channels_last({1, 2, 2, 2}, 1)), "");
  TensorListFactory<ScalarType::Float> lists;
  const auto list = lists.zeros_like({a, a});
  EXPECT_TENSOR_LISTS_EQ(list, list);
  EXPECT_TENSOR_LISTS_NE(list, lists.zeros_like({a}));
}

TEST(TensorComparisonTest, ChannelsLastLikeMovesTheElements) {
  TensorFactory<ScalarType::Int> ti;
  const Tensor nhwc = ti.channels_last_like(ti.make({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_TENSOR_EQ(nhwc, ti.make_channels_last({1, 2, 1, 3}, {1, 4, 2, 5, 3, 6}));
}

}  // namespace
