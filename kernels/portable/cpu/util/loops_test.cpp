// SPDX-License-Identifier: BSD-3-Clause
// The helpers that kernels of users loop with: broadcasting, reductions, elementwise functions.
#include <executorch/kernels/portable/cpu/pattern/bitwise_op.h>
#include <executorch/kernels/portable/cpu/pattern/comparison_op.h>
#include <executorch/kernels/portable/cpu/pattern/logical_op.h>
#include <executorch/kernels/portable/cpu/pattern/pattern.h>
#include <executorch/kernels/portable/cpu/util/broadcast_util.h>
#include <executorch/kernels/portable/cpu/util/functional_util.h>
#include <executorch/kernels/portable/cpu/util/math_util.h>
#include <executorch/kernels/portable/cpu/util/reduce_util.h>
#include <executorch/kernels/portable/cpu/util/vectorized_math.h>
#include <executorch/kernels/portable/cpu/vec_ops.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace torch::executor;
using torch::executor::testing::TensorFactory;
namespace utils = torch::executor::native::utils;
using utils::SupportedTensorDtypes;

using Index = std::vector<size_t>;

TEST(BroadcastTest, ShapesMeet) {
  TensorFactory<ScalarType::Int> tf;
  const Tensor a = tf.zeros({2, 1, 3});
  const Tensor b = tf.zeros({4, 1});
  Tensor out = tf.zeros({2, 4, 3});
  EXPECT_TRUE(tensors_are_broadcastable_between(a, b));
  EXPECT_FALSE(tensors_are_broadcastable_between(tf.zeros({2}), tf.zeros({3})));
  EXPECT_TRUE(tensor_is_broadcastable_to(b, out));
  EXPECT_FALSE(tensor_is_broadcastable_to(out, b));
  Tensor::SizesType sizes[3];
  size_t rank = 0;
  ASSERT_EQ(get_broadcast_target_size(a, b, sizes, 3, &rank), Error::Ok);
  EXPECT_EQ(std::vector<int>(sizes, sizes + rank), (std::vector<int>{2, 4, 3}));
  EXPECT_EQ(get_broadcast_target_size(a, b, sizes, 2, &rank), Error::InvalidArgument);
  EXPECT_EQ(get_broadcast_target_size(tf.zeros({2}), tf.zeros({3}), sizes, 3, &rank),
            Error::InvalidArgument);
  // A size of 1 yields to 0.
  ASSERT_EQ(get_broadcast_target_size(tf.zeros({0}), tf.zeros({1}), sizes, 3, &rank), Error::Ok);
  EXPECT_EQ(sizes[0], 0);
  EXPECT_EQ(resize_to_broadcast_target_size(a, b, out), Error::Ok);
  EXPECT_EQ(resize_to_broadcast_target_size(a, b, tf.zeros({1}), out), Error::Ok);
  EXPECT_EQ(resize_to_broadcast_target_size(a, tf.zeros({5, 1}), out), Error::NotSupported);
}

TEST(BroadcastTest, IndexesBelongTogether) {
  TensorFactory<ScalarType::Int> tf;
  const Tensor a = tf.make({2, 1}, {10, 20});
  const Tensor b = tf.make({3}, {1, 2, 3});
  Tensor out = tf.zeros({2, 3});
  std::vector<std::array<ssize_t, 3>> seen;
  for (const auto& indexes : BroadcastIndexesRange<2>(out, a, b)) {
    seen.push_back(indexes);
  }
  const std::vector<std::array<ssize_t, 3>> expected = {{0, 0, 0}, {1, 0, 1}, {2, 0, 2},
                                                        {3, 1, 0}, {4, 1, 1}, {5, 1, 2}};
  EXPECT_EQ(seen, expected);
  const auto range = BroadcastIndexesRange<2>(out, a, b);
  EXPECT_EQ(*(range.begin() + 4), expected[4]);
  EXPECT_EQ(range.end() - range.begin(), 6);
  apply_binary_elementwise_fn<int32_t, int32_t, int32_t>([](int x, int y) { return x + y; }, a, b,
                                                         out);
  EXPECT_TENSOR_EQ(out, tf.make({2, 3}, {11, 12, 13, 21, 22, 23}));
  apply_ternary_elementwise_fn<int32_t, int32_t, int32_t, int32_t>(
      [](int x, int y, int z) { return x + y - z; }, a, b, b, out);
  EXPECT_TENSOR_EQ(out, tf.make({2, 3}, {10, 10, 10, 20, 20, 20}));
  // Channels last in, channels last out: a line of channels for every pixel.
  const Tensor image = tf.make_channels_last({1, 2, 1, 2}, {0, 1, 2, 3});
  Tensor sum = tf.zeros_channels_last({1, 2, 1, 2});
  const Tensor per_channel = tf.make({2, 1, 1}, {100, 200});
  apply_binary_elementwise_fn<int32_t, int32_t, int32_t>([](int x, int y) { return x + y; }, image,
                                                         per_channel, sum);
  EXPECT_TENSOR_EQ(sum, tf.make_channels_last({1, 2, 1, 2}, {100, 201, 102, 203}));
}

TEST(BroadcastTest, LinearAndCoordinates) {
  TensorFactory<ScalarType::Int> tf;
  const Tensor from = tf.zeros({3, 1});
  const size_t at[] = {1, 2, 4};
  EXPECT_EQ(linearize_access_indexes(at, 3, from), 2u);
  size_t coordinate[3];
  delinearize_index(13, tf.zeros({2, 3, 4}), coordinate, 3);
  EXPECT_EQ(Index(coordinate, coordinate + 3), (Index{1, 0, 1}));
  EXPECT_DEATH(delinearize_index(0, tf.zeros({2, 3, 4}), coordinate, 2), "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const Tensor repeated = broadcast_tensor(tf.make({2, 1}, {1, 2}), tf.zeros({2, 2}));
  EXPECT_TENSOR_EQ(repeated, tf.make({2, 2}, {1, 1, 2, 2}));
  free_broadcast_tensor(repeated);
#pragma GCC diagnostic pop
}

TEST(ReduceTest, ListsOfDimensions) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor in = tf.make({2, 3}, {1, 2, 3, 4, 5, 6});
  const int64_t last[] = {-1};
  const int64_t twice[] = {1, -1};
  const int64_t absent[] = {2};
  EXPECT_TRUE(check_dim_list_is_valid(in, ArrayRef<int64_t>(last)));
  EXPECT_FALSE(check_dim_list_is_valid(in, ArrayRef<int64_t>(twice)));
  EXPECT_FALSE(check_dim_list_is_valid(in, ArrayRef<int64_t>(absent)));
  EXPECT_TRUE(check_dim_in_dim_list(1, 2, last));
  EXPECT_FALSE(check_dim_in_dim_list(0, 2, last));
  EXPECT_EQ(get_reduced_dim_product(in, std::optional<int64_t>(0)), 2u);
  EXPECT_EQ(get_reduced_dim_product(in, DimList(ArrayRef<int64_t>(last))), 3u);
  EXPECT_EQ(get_reduced_dim_product(in, DimList()), 6u);
  EXPECT_EQ(get_out_numel(in, int64_t{0}), 3u);
  EXPECT_EQ(get_out_numel(in, DimList()), 1u);
  EXPECT_EQ(get_init_index(in, int64_t{1}, 1), 3u);
  EXPECT_EQ(get_init_index(in, int64_t{0}, 2), 2u);
}

TEST(ReduceTest, VisitsWhatFallsTogether) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor in = tf.make({2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  Index seen;
  apply_over_dim([&](size_t in_ix, size_t) { seen.push_back(in_ix); }, in, 1, 2);
  EXPECT_EQ(seen, (Index{6, 8, 10}));  // in[1, :, 0]
  seen.clear();
  const int64_t outer[] = {0, 2};
  const DimList list = ArrayRef<int64_t>(outer);
  apply_over_dim_list([&](size_t in_ix) { seen.push_back(in_ix); }, in, list, 1);
  EXPECT_EQ(seen, (Index{2, 3, 8, 9}));  // in[:, 1, :]
  seen.clear();
  apply_over_dim_list([&](size_t in_ix) { seen.push_back(in_ix); }, in, list, 1, 1, 2);
  EXPECT_EQ(seen, (Index{3, 8}));
  EXPECT_DEATH(apply_over_dim_list([](size_t) {}, in, list, 3), "");
  EXPECT_DEATH(apply_over_dim_list([](size_t) {}, in, list, 0, 0, 4), "");
  // Without elements, what is wrong is wrong, too.
  const Tensor none = tf.make({2, 0, 3}, {});
  const auto nothing = [](size_t, size_t) { FAIL(); };
  apply_over_dim(nothing, none, 1, 0);
  apply_over_dim_list([](size_t) { FAIL(); }, none, DimList(), 0);
  const int64_t absent[] = {3};
  EXPECT_DEATH(apply_over_dim(nothing, none, 3, 0), "");
  EXPECT_DEATH(apply_over_dim(nothing, none, 1, 6), "");
  EXPECT_DEATH(apply_over_dim(nothing, none, 0, 0), "");
  EXPECT_DEATH(apply_over_dim([](size_t, size_t, size_t) {}, none, -4), "");
  EXPECT_DEATH(apply_over_dim_list([](size_t) {}, none, DimList(ArrayRef<int64_t>(absent)), 0), "");
  EXPECT_DEATH(apply_over_dim_list([](size_t) {}, none, list, 0), "");
  size_t lines = 0;
  apply_over_dim(
      [&](size_t size, size_t stride, size_t base) {
        EXPECT_EQ(size, 3u);
        EXPECT_EQ(stride, 2u);
        lines += base;
      },
      in, 1);
  EXPECT_EQ(lines, 0u + 1 + 6 + 7);
}

TEST(ReduceTest, ReducesAndTellsWhere) {
  TensorFactory<ScalarType::Float> tf;
  const Tensor in = tf.make({2, 3}, {3, 9, 1, -4, -6, -5});
  const auto larger = [](float v, long ix, float acc, long acc_ix) {
    return v > acc ? std::make_tuple(v, ix) : std::make_tuple(acc, acc_ix);
  };
  EXPECT_EQ((reduce_over_dim<float>(larger, in, 1, 0)), (std::tuple<float, long>(9.0f, 1)));
  EXPECT_EQ((reduce_over_dim<float>(larger, in, std::nullopt, 0)),
            (std::tuple<float, long>(9.0f, 1)));
  EXPECT_EQ((map_reduce_over_dim<float, float>([](float v) { return v * v; }, larger, in, 1, 1)),
            (std::tuple<float, long>(36.0f, 1)));
  const int64_t first[] = {0};
  const auto sum = [](float v, float acc) { return v + acc; };
  EXPECT_EQ((reduce_over_dim_list<float>(sum, in, ArrayRef<int64_t>(first), 2)), -4.0f);
  EXPECT_EQ((map_reduce_over_dim_list<float, double>([](float v) { return v * 2.0; },
                                                     [](double v, double acc) { return v + acc; },
                                                     in, std::nullopt, 0)),
            -4.0);
}

TEST(ReduceTest, ShapesAndChecks) {
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Long> tl;
  const Tensor in = tf.zeros({2, 3, 4});
  Tensor::SizesType sizes[3];
  EXPECT_EQ(compute_reduced_out_size(in, std::optional<int64_t>(1), true, sizes), 3u);
  EXPECT_EQ(std::vector<int>(sizes, sizes + 3), (std::vector<int>{2, 1, 4}));
  EXPECT_EQ(compute_reduced_out_dim(in, std::optional<int64_t>(1), false), 2);
  Tensor out = tf.zeros({2, 4}, TensorShapeDynamism::DYNAMIC_BOUND);
  EXPECT_EQ(resize_reduction_out(in, int64_t{1}, false, out), Error::Ok);
  const int64_t middle[] = {1};
  EXPECT_TRUE(check_reduction_args(in, ArrayRef<int64_t>(middle), false, {}, out));
  EXPECT_FALSE(check_reduction_args(in, ArrayRef<int64_t>(middle), true, {}, out));
  EXPECT_TRUE(check_mean_dim_args(in, ArrayRef<int64_t>(middle), false, {}, out));
  Tensor positions = tl.zeros({2, 4});
  EXPECT_TRUE(check_argmin_argmax_args(in, 1, false, positions));
  EXPECT_FALSE(check_argmin_argmax_args(in, 1, false, out));
  EXPECT_TRUE(check_min_max_args(in, 1, false, out, positions));
  EXPECT_FALSE(check_amin_amax_args(in, middle, false, positions));
  EXPECT_TRUE(check_prod_out_args(in, {}, out));
  EXPECT_FALSE(check_prod_out_args(positions, {}, out));
  size_t visited = 0;
  EXPECT_TRUE(parallel_for_each_reduce_over_dim_output_index(
      in, 1, out,
      [&](int64_t first, int64_t last) { visited += static_cast<size_t>(last - first); }));
  EXPECT_EQ(visited, 8u);
}

constexpr char kName[] = "test";

TEST(ElementwiseTest, ConvertsAndBroadcasts) {
  TensorFactory<ScalarType::Int> ti;
  TensorFactory<ScalarType::Half> th;
  TensorFactory<ScalarType::Float> tf;
  KernelRuntimeContext ctx;
  Tensor out = tf.zeros({2, 2});
  const auto product = [](float x, float y) { return x * y; };
  utils::apply_bitensor_elementwise_fn<float, kName, SupportedTensorDtypes::FLOATHBF16>(
      product, ctx, ti.make({2, 1}, {3, 4}), SupportedTensorDtypes::REALHBBF16,
      th.make({2}, {0.5f, 2.0f}), SupportedTensorDtypes::FLOATHBF16, out);
  EXPECT_EQ(ctx.failure_state(), Error::Ok);
  EXPECT_TENSOR_EQ(out, tf.make({2, 2}, {1.5, 6, 2, 8}));
  // The older form, and three tensors.
  utils::apply_tritensor_elementwise_fn<float, kName>(
      [](float x, float y, float z) { return x + y + z; }, ctx, out,
      SupportedTensorDtypes::SAME_AS_COMPUTE, out, SupportedTensorDtypes::SAME_AS_COMMON, out,
      SupportedTensorDtypes::REALHBF16, out, SupportedTensorDtypes::REALHBBF16);
  EXPECT_TENSOR_EQ(out, tf.make({2, 2}, {4.5, 18, 6, 24}));
  // A dtype that is not among those: nothing is written.
  utils::apply_unitensor_elementwise_fn<float, kName, SupportedTensorDtypes::BOOL>(
      [](float x) { return x; }, ctx, out, SupportedTensorDtypes::REALHBBF16, out);
  EXPECT_EQ(ctx.failure_state(), Error::InvalidArgument);
  EXPECT_TENSOR_EQ(out, tf.make({2, 2}, {4.5, 18, 6, 24}));
  ScalarType half = ScalarType::Half;
  EXPECT_EQ(utils::get_compute_type(half), ScalarType::Float);
}

DEFINE_UNARY_UFUNC_REALHBF16(my_floor_out, std::floor)
DEFINE_UNARY_UFUNC_REALHBBF16_TO_BOOL(my_isnan_out, std::isnan)
DEFINE_UNARY_UFUNC_REALHBBF16_TO_FLOATHBF16(my_sqrt_out, std::sqrt)

TEST(PatternTest, OneInput) {
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Bool> tb;
  TensorFactory<ScalarType::Int> ti;
  KernelRuntimeContext ctx;
  Tensor out = tf.zeros({2});
  EXPECT_TENSOR_EQ(my_floor_out(ctx, tf.make({2}, {1.5, -1.5}), out), tf.make({2}, {1, -2}));
  EXPECT_TENSOR_EQ(my_sqrt_out(ctx, ti.make({2}, {4, 9}), out), tf.make({2}, {2, 3}));
  Tensor mask = tb.zeros({2});
  EXPECT_TENSOR_EQ(my_isnan_out(ctx, tf.make({2}, {NAN, 1}), mask), tb.make({2}, {true, false}));
  EXPECT_EQ(ctx.failure_state(), Error::Ok);
  my_floor_out(ctx, ti.zeros({2}), out);
  EXPECT_EQ(ctx.failure_state(), Error::InvalidArgument);
  KernelRuntimeContext other;
  my_sqrt_out(other, tf.zeros({3}), out);
  EXPECT_EQ(other.failure_state(), Error::InvalidArgument);
}

TEST(PatternTest, TwoOperands) {
  using namespace torch::executor::native::internal;
  TensorFactory<ScalarType::Int> ti;
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Bool> tb;
  KernelRuntimeContext ctx;
  Tensor mask = tb.zeros({2, 2});
  comparison_tensor_out<std::less, kName>(ctx, ti.make({2, 1}, {1, 3}), tf.make({2}, {2, 4}), mask);
  EXPECT_TENSOR_EQ(mask, tb.make({2, 2}, {true, true, false, true}));
  Tensor line = tb.zeros({2});
  comparison_scalar_out<std::equal_to, kName>(ctx, ti.make({2}, {1, 3}), Scalar(3), line);
  EXPECT_TENSOR_EQ(line, tb.make({2}, {false, true}));
  Tensor bits = ti.zeros({2});
  bitwise_tensor_out<std::bit_and, kName>(ctx, ti.make({2}, {6, 5}), ti.make({2}, {3, 3}), bits);
  EXPECT_TENSOR_EQ(bits, ti.make({2}, {2, 1}));
  bitwise_scalar_out<bit_lshift, kName>(ctx, ti.make({2}, {6, 5}), Scalar(2), bits);
  EXPECT_TENSOR_EQ(bits, ti.make({2}, {24, 20}));
  EXPECT_EQ(bit_rshift<int32_t>()(-8, 40), -1);
  EXPECT_EQ(bit_lshift<int32_t>()(1, 32), 0);
  EXPECT_EQ((BitwiseFnForOp<int, std::bit_xor>::get_bitwise_fn()(6, 3)), 5);
  logical_tensor_out<kName>([](bool a, bool b) { return a && !b; }, ctx, tf.make({2}, {0.5, 0}),
                            ti.make({2}, {0, 0}), line);
  EXPECT_TENSOR_EQ(line, tb.make({2}, {true, false}));
  EXPECT_EQ(ctx.failure_state(), Error::Ok);
  bitwise_tensor_out<std::bit_or, kName>(ctx, tf.zeros({2}), tf.zeros({2}), bits);
  EXPECT_EQ(ctx.failure_state(), Error::InvalidArgument);
}

TEST(ScalarUtilsTest, PromotesAndExtracts) {
  EXPECT_EQ(utils::get_scalar_dtype(Scalar(true)), ScalarType::Bool);
  EXPECT_EQ(utils::get_scalar_dtype(Scalar(1)), ScalarType::Long);
  EXPECT_FALSE(utils::scalars_have_same_dtype(Scalar(1), Scalar(1.0)));
  EXPECT_EQ(utils::promote_type_with_scalar(ScalarType::Int, Scalar(1.5)), ScalarType::Float);
  EXPECT_EQ(utils::promote_type_with_scalar(ScalarType::Bool, Scalar(1)), ScalarType::Long);
  EXPECT_EQ(utils::promote_type_with_scalar(ScalarType::Half, Scalar(1.5)), ScalarType::Half);
  EXPECT_EQ(utils::promote_type_with_scalar(ScalarType::Half, Scalar(1.5), true),
            ScalarType::Float);
  EXPECT_EQ(utils::promote_type_with_scalar(ScalarType::ComplexFloat, Scalar(1)),
            ScalarType::ComplexFloat);
  EXPECT_DEATH((void)utils::promote_type_with_scalar(ScalarType::QInt8, Scalar(1)), "");
  static_assert(std::is_same_v<utils::promote_type_with_scalar_type<bool, int64_t>::type, int64_t>);
  static_assert(std::is_same_v<utils::promote_type_with_scalar_type<int, double>::type, float>);
  static_assert(
      std::is_same_v<utils::promote_type_with_scalar_type<Half, double, true>::type, float>);
  int8_t narrow = 0;
  EXPECT_TRUE(utils::extract_scalar(Scalar(-128), &narrow));
  EXPECT_EQ(narrow, -128);
  EXPECT_FALSE(utils::extract_scalar(Scalar(128), &narrow));
  EXPECT_FALSE(utils::extract_scalar(Scalar(1.0), &narrow));
  EXPECT_FALSE(utils::extract_scalar(Scalar(true), &narrow));
  uint8_t positive = 0;
  EXPECT_FALSE(utils::extract_scalar(Scalar(-1), &positive));
  float number = 0;
  EXPECT_TRUE(utils::extract_scalar(Scalar(3), &number));
  EXPECT_EQ(number, 3.0f);
  EXPECT_TRUE(utils::extract_scalar(Scalar(INFINITY), &number));
  EXPECT_FALSE(utils::extract_scalar(Scalar(1e300), &number));
  bool flag = false;
  EXPECT_TRUE(utils::extract_scalar(Scalar(2), &flag));
  EXPECT_TRUE(flag);
  EXPECT_FALSE(utils::extract_scalar(Scalar(2.0), &flag));
  EXPECT_DEATH(ET_EXTRACT_SCALAR(Scalar(300), narrow), "");
  EXPECT_DEATH(ET_CHECK_SCALAR_SAME_TYPE(Scalar(1), Scalar(1.0)), "");
  EXPECT_EQ(utils::check_overflow_scalar_cast<uint8_t>(Scalar(256)), std::nullopt);
  EXPECT_EQ(utils::check_overflow_scalar_cast<uint8_t>(Scalar(-1)), uint8_t{255});
  EXPECT_EQ(utils::check_overflow_scalar_cast<int8_t>(Scalar(1000.0)), std::nullopt);
  EXPECT_EQ(utils::scalar_to<double>(Scalar(true)), 1.0);
}

TEST(MathTest, NumbersAsPyTorchHasThem) {
  EXPECT_EQ(utils::floor_divide(-7, 2), -4);
  EXPECT_EQ(utils::floor_divide(-7.0, 2.0), -4.0);
  EXPECT_EQ(utils::floor_divide(1.0f, 0.0f), INFINITY);
  EXPECT_EQ(utils::remainder_override(-7, 3), 2);
  EXPECT_EQ(utils::remainder_override(7.0, -3.0), -2.0);
  EXPECT_TRUE(std::isnan(utils::min_override(1.0f, NAN)));
  EXPECT_TRUE(std::isnan(utils::max_override(NAN, 1.0f)));
  EXPECT_EQ(utils::max_override(1, 2), 2);
  EXPECT_EQ(executorch::math::rsqrt(4.0f), 0.5f);
  EXPECT_EQ(executorch::math::abs(-2), 2);
}

TEST(VecOpsTest, LoopsOverArrays) {
  const float x[] = {1, 2, 3, 4};
  const float y[] = {5, 6, 7, 8};
  float z[4];
  vec_matmul(z, x, y, 2, 2, 2);
  EXPECT_EQ(std::vector<float>(z, z + 4), (std::vector<float>{19, 22, 43, 50}));
  vec_addmm(z, x, x, y, 2, 2, 2, 10.0f, 1.0f);
  EXPECT_EQ(std::vector<float>(z, z + 4), (std::vector<float>{29, 42, 73, 90}));
  const int8_t weights[] = {1, -1, 2, 0};
  const float scales[] = {0.5f, 2.0f};
  vec_quantized_matmul_int8(z, x, weights, scales, 2, 2, 2);  // rows of weights times 0.5 and 2
  EXPECT_EQ(std::vector<float>(z, z + 4), (std::vector<float>{8.5f, -0.5f, 17.5f, -1.5f}));
  vec_quantized_matmul_transb_int8(z, x, weights, scales, 2, 2, 2, int64_t{2});
  EXPECT_EQ(std::vector<float>(z, z + 4), (std::vector<float>{-0.5f, 4, -0.5f, 12}));
  EXPECT_EQ(vec_minf(x, 4), 1);
  EXPECT_EQ(vec_maxf(x, 4), 4);
  EXPECT_EQ(reduce_add(x, 4), 10);
  EXPECT_EQ(vec_powerf(x, 4), 30);
  vec_softmax(z, x, 2);
  EXPECT_NEAR(z[1], 1 / (1 + std::exp(-1.0f)), 1e-6);
  int8_t quantized[3];
  const float reals[] = {0.5f, -200, 200};
  quantize_i8_f32(quantized, reals, 2.0f, 1, 3);
  EXPECT_EQ(std::vector<int>(quantized, quantized + 3), (std::vector<int>{2, -128, 127}));
  float back[1];
  dequantize_i8_f32(back, quantized, 0.5f, 1, 1);
  EXPECT_EQ(back[0], 0.5f);
  EXPECT_EQ((apply_unary_reduce_fn([](float v, float acc) { return v - acc; }, x, 2, 2)), 2.0f);
  EXPECT_EQ(
      (apply_unary_map_reduce_fn<float, double>(
          [](float v) { return v * 2.0; }, [](double v, double acc) { return v + acc; }, x, 4)),
      20.0);
  apply_unary_map_fn<float, float>([](float v) { return -v; }, x, z, 4);
  EXPECT_EQ(z[3], -4);
}

}  // namespace
