// SPDX-License-Identifier: BSD-3-Clause
// The helpers that kernels of users check arguments and compute shapes with. Expected shapes are
// those of eager PyTorch.
#include <executorch/kernels/portable/cpu/util/activation_ops_util.h>
#include <executorch/kernels/portable/cpu/util/advanced_index_util.h>
#include <executorch/kernels/portable/cpu/util/arange_util.h>
#include <executorch/kernels/portable/cpu/util/copy_ops_util.h>
#include <executorch/kernels/portable/cpu/util/distance_util.h>
#include <executorch/kernels/portable/cpu/util/grid_sampler_2d_util.h>
#include <executorch/kernels/portable/cpu/util/index_util.h>
#include <executorch/kernels/portable/cpu/util/kernel_ops_util.h>
#include <executorch/kernels/portable/cpu/util/matmul_ops_util.h>
#include <executorch/kernels/portable/cpu/util/normalization_ops_util.h>
#include <executorch/kernels/portable/cpu/util/padding_util.h>
#include <executorch/kernels/portable/cpu/util/repeat_util.h>
#include <executorch/kernels/portable/cpu/util/select_copy_util.h>
#include <executorch/kernels/portable/cpu/util/slice_util.h>
#include <executorch/kernels/portable/cpu/util/stack_util.h>
#include <executorch/kernels/portable/cpu/util/upsample_util.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_factory.h>
#include <executorch/runtime/core/exec_aten/testing_util/tensor_util.h>

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace {

using namespace torch::executor;
using torch::executor::testing::TensorFactory;

constexpr auto kDynamic = TensorShapeDynamism::DYNAMIC_BOUND;

// Sizes that a function writes.
struct Shape {
  Tensor::SizesType sizes[kTensorDimensionLimit] = {};
  size_t rank = 0;
  std::vector<int> list() const { return {sizes, sizes + rank}; }
};

#define EXPECT_SHAPE(call, ...)                              \
  do {                                                       \
    Shape shape;                                             \
    call;                                                    \
    EXPECT_EQ(shape.list(), (std::vector<int> __VA_ARGS__)); \
  } while (0)

class ShapesTest : public ::testing::Test {
 protected:
  TensorFactory<ScalarType::Float> tf;
  TensorFactory<ScalarType::Long> tl;
  TensorFactory<ScalarType::Bool> tb;
};

TEST_F(ShapesTest, Views) {
  const Tensor in = tf.zeros({2, 3, 4});
  Tensor out = tf.zeros({24});
  const int64_t order[] = {2, 0, -2};
  EXPECT_SHAPE(get_permute_copy_out_target_size(in, order, shape.sizes, &shape.rank), {4, 2, 3});
  const int64_t twice[] = {0, 0, 1};
  EXPECT_FALSE(check_permute_copy_args(in, twice, out));
  EXPECT_SHAPE(get_transpose_out_target_size(in, -1, 0, shape.sizes, &shape.rank), {4, 3, 2});
  EXPECT_SHAPE(get_select_copy_out_target_size(in, 1, shape.sizes, &shape.rank), {2, 4});
  EXPECT_FALSE(check_select_copy_out_args(in, 1, 3, out));
  EXPECT_TRUE(check_select_copy_out_args(in, 1, -3, out));
  EXPECT_SHAPE(get_unfold_copy_out_target_size(in, 2, 2, 1, shape.sizes, &shape.rank),
               {2, 3, 3, 2});
  EXPECT_FALSE(check_unfold_copy_args(in, 2, 5, 1));
  EXPECT_FALSE(check_unfold_copy_args(in, 2, 2, 0));
  EXPECT_SHAPE(get_diagonal_copy_out_target_size(in, 1, 1, 2, shape.sizes, &shape.rank), {2, 3});
  EXPECT_FALSE(check_diagonal_copy_args(in, 1, -2, out));
  const int64_t ones[] = {0, 2};
  EXPECT_SHAPE(
      get_squeeze_copy_dims_out_target_size(tf.zeros({1, 2, 1, 1}), ones, shape.sizes, &shape.rank),
      {2, 1});
  const int64_t wanted[] = {-1, 3};
  Tensor viewed = tf.zeros({8, 3});
  EXPECT_TRUE(check_view_copy_args(in, wanted, viewed));
  EXPECT_FALSE(check_view_copy_args(in, wanted, out));
  const int64_t unknown[] = {-1, -1};
  EXPECT_FALSE(check_view_copy_args(in, unknown, viewed));
  EXPECT_TRUE(check_unsqueeze_copy_args(in, -1, tf.zeros({2, 3, 4, 1})));
  EXPECT_FALSE(check_unsqueeze_copy_args(in, 0, tf.zeros({2, 3, 4, 1})));
  const int64_t expanded[] = {5, -1, 3};
  Shape shape;
  EXPECT_TRUE(get_expand_copy_out_target_size(tf.zeros({2, 1}).sizes(), expanded, shape.sizes,
                                              &shape.rank));
  EXPECT_EQ(shape.list(), (std::vector<int>{5, 2, 3}));
  EXPECT_FALSE(get_expand_copy_out_target_size(tf.zeros({2, 2}).sizes(), expanded, shape.sizes,
                                               &shape.rank));
  EXPECT_FALSE(check_expand_copy_args(in, expanded, true, out));
  Tensor strided = tf.zeros({2, 2});
  const int64_t sizes[] = {2, 2};
  const int64_t strides[] = {1, 2};
  EXPECT_TRUE(check_as_strided_copy_args(in, sizes, strides, 20, strided));
  EXPECT_FALSE(check_as_strided_copy_args(in, sizes, strides, 21, strided));
  as_strided_copy<float>(tf.make({4}, {0, 1, 2, 3}), sizes, strides, 0, strided);
  EXPECT_TENSOR_EQ(strided, tf.make({2, 2}, {0, 2, 1, 3}));
  Tensor turned = tf.zeros({3, 2});
  transpose_tensors<float>(tf.make({2, 3}, {0, 1, 2, 3, 4, 5}), 0, 1, turned);
  EXPECT_TENSOR_EQ(turned, tf.make({3, 2}, {0, 3, 1, 4, 2, 5}));
}

TEST_F(ShapesTest, JoinsAndPieces) {
  const Tensor in = tf.zeros({2, 3});
  Tensor out = tf.zeros({2, 5});
  const Tensor parts[] = {in, tf.zeros({2, 2}), tf.zeros({0})};
  EXPECT_TRUE(check_cat_args(parts, 1, out));
  EXPECT_FALSE(check_cat_args(parts, 0, out));
  EXPECT_SHAPE(get_cat_out_target_size(parts, 1, shape.sizes, &shape.rank), {2, 5});
  const Tensor alike[] = {in, in};
  EXPECT_SHAPE(get_stack_out_target_size(alike, -1, shape.sizes, &shape.rank), {2, 3, 2});
  EXPECT_TRUE(check_stack_args(alike, 2, out));
  EXPECT_FALSE(check_stack_args(alike, 3, out));
  EXPECT_EQ(std::get<0>(native::utils::stack_out_shape(parts, 0)), Error::InvalidArgument);
  KernelRuntimeContext ctx;
  Tensor stacked = tf.zeros({2, 2});
  const Tensor lines[] = {tf.make({2}, {1, 2}), tf.make({2}, {3, 4})};
  EXPECT_TENSOR_EQ(native::utils::stack_out_impl(ctx, lines, 0, stacked),
                   tf.make({2, 2}, {1, 2, 3, 4}));
  const Tensor pieces[] = {tf.zeros({2, 2}), tf.zeros({2, 1})};
  EXPECT_TRUE(check_split_copy_args(in, 2, 1, pieces));
  EXPECT_FALSE(check_split_copy_args(in, 3, 1, pieces));
  const int64_t sizes[] = {2, 1};
  EXPECT_TRUE(check_split_with_sizes_copy_args(in, sizes, 1, pieces));
  EXPECT_FALSE(check_split_with_sizes_copy_args(in, sizes, 0, pieces));
  const Tensor rows[] = {tf.zeros({3}), tf.zeros({3})};
  EXPECT_TRUE(check_unbind_copy_args(in, 0, rows));
  EXPECT_FALSE(check_unbind_copy_args(in, 1, rows));
  EXPECT_SHAPE(
      get_pixel_shuffle_out_target_size(tf.zeros({1, 8, 2, 3}), 2, shape.sizes, &shape.rank),
      {1, 2, 4, 6});
  EXPECT_SHAPE(
      get_pixel_unshuffle_out_target_size(tf.zeros({1, 2, 4, 6}), 2, shape.sizes, &shape.rank),
      {1, 8, 2, 3});
  EXPECT_FALSE(check_pixel_shuffle_args(tf.zeros({1, 6, 2, 3}), 2, out));
  Tensor tiles = tf.zeros({2, 4});
  const int64_t repeats[] = {2, 2};
  EXPECT_EQ(repeat_tensor(tf.make({2}, {1, 2}), repeats, tiles), Error::Ok);
  EXPECT_TENSOR_EQ(tiles, tf.make({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}));
  Tensor row = tf.zeros({4});
  EXPECT_EQ(select_copy_util(tiles, 0, 1, row), Error::Ok);
  EXPECT_TENSOR_EQ(row, tf.make({4}, {1, 2, 1, 2}));
  EXPECT_EQ(select_copy_util(tiles, 0, 2, row), Error::InvalidArgument);
}

TEST_F(ShapesTest, Slices) {
  const Tensor in = tf.make({5}, {0, 1, 2, 3, 4});
  int64_t start = -4, end = 100;
  EXPECT_EQ(adjust_slice_indices(5, &start, &end, 2), 2);
  EXPECT_EQ(start, 1);
  EXPECT_EQ(end, 5);
  start = 3, end = 1;
  EXPECT_EQ(adjust_slice_indices(5, &start, &end, 1), 0);
  Tensor out = tf.zeros({2});
  KernelRuntimeContext ctx;
  compute_slice(ctx, in, 0, 1, 2, 2, out);
  EXPECT_TENSOR_EQ(out, tf.make({2}, {1, 3}));
  compute_slice(ctx, in, 0, 4, 2, 2, out);
  EXPECT_EQ(ctx.failure_state(), Error::InvalidArgument);
  EXPECT_TRUE(check_narrow_copy_args(in, 0, -2, 2, out));
  EXPECT_FALSE(check_narrow_copy_args(in, 0, 4, 2, out));
  EXPECT_FALSE(check_slice_copy_args(in, 0, 0, out));
  EXPECT_TRUE(check_slice_scatter_args(in, out, 0, 2, 2, in));
  EXPECT_FALSE(check_slice_scatter_args(in, out, 0, 3, 1, in));
}

TEST_F(ShapesTest, Indices) {
  const Tensor in = tf.zeros({2, 3});
  Tensor out = tf.zeros({2, 3});
  EXPECT_TRUE(check_gather_args(in, 1, tl.make({2, 1}, {0, 2}), false, out));
  EXPECT_FALSE(check_gather_args(in, 1, tl.make({2, 1}, {0, 3}), false, out));
  EXPECT_FALSE(check_gather_args(in, 1, tl.make({3, 1}, {0, 0, 0}), false, out));
  EXPECT_FALSE(check_gather_args(in, 1, tl.make({2, 1}, {0, 0}), true, out));
  EXPECT_TRUE(check_index_select_args(in, 0, tl.make({3}, {0, 1, 0}), out));
  EXPECT_FALSE(check_index_select_args(in, 0, tl.make({1}, {2}), out));
  EXPECT_SHAPE(get_index_select_out_target_size(in, 0, tl.zeros({5}), shape.sizes, &shape.rank),
               {5, 3});
  EXPECT_TRUE(check_scatter_add_args(in, 0, tl.zeros({1, 3}), in, out));
  EXPECT_FALSE(check_scatter_add_args(in, 0, tl.zeros({1, 4}), in, out));
  EXPECT_TRUE(check_scatter_value_args(in, 0, tl.zeros({1, 3}), Scalar(1), out));
  EXPECT_TRUE(check_select_scatter_args(in, tf.zeros({3}), 0, 1, out));
  EXPECT_FALSE(check_select_scatter_args(in, tf.zeros({2}), 0, 1, out));
  EXPECT_TRUE(check_nonzero_args(in, tl.zeros({1, 2})));

  // x[:, index, mask], x of [2, 3, 4].
  const Tensor x = tf.zeros({2, 3, 4});
  const std::optional<Tensor> indices[] = {std::nullopt, tl.make({2}, {0, -1}),
                                           tb.make({4}, {true, false, true, false})};
  EXPECT_TRUE(check_index_args(x, indices, out));
  EXPECT_EQ(get_num_indexed_dims(indices), 2u);
  EXPECT_EQ(get_num_null_indices(indices), 1u);
  EXPECT_EQ(get_num_leading_null_indices(indices), 1u);
  EXPECT_EQ(count_index_blocks(indices), 1u);
  EXPECT_EQ(count_trues_in_mask_index(*indices[2]), 2u);
  EXPECT_EQ(get_indices_broadcast_ndim(indices), 1u);
  EXPECT_SHAPE(EXPECT_TRUE(get_index_out_target_size(x, indices, true, shape.sizes, &shape.rank)),
               {2, 2});
  const std::optional<Tensor> beyond[] = {tl.make({1}, {2})};
  EXPECT_FALSE(check_index_args(x, beyond, out));
  int32_t dim_map[3], ix_map[3];
  compute_dim_map(x, indices, dim_map, true);
  compute_index_map(x, indices, ix_map);
  EXPECT_EQ(std::vector<int>(dim_map, dim_map + 3), (std::vector<int>{0, -1, -1}));
  EXPECT_EQ(std::vector<int>(ix_map, ix_map + 3), (std::vector<int>{-1, 1, 2}));
  Tensor result = tf.zeros({2, 2});
  // result[1, 1] is x[1, -1, 2].
  EXPECT_EQ(get_in_ix(x, indices, result, 3, 1, 1, dim_map, ix_map),
            std::make_pair(size_t{22}, true));
}

TEST_F(ShapesTest, Windows) {
  const Tensor in = tf.zeros({1, 4, 5, 7});
  const int64_t three[] = {3}, two[] = {2}, one[] = {1};
  EXPECT_SHAPE(get_max_pool2d_with_indices_out_target_size(in, three, two, one, one, false,
                                                           shape.sizes, &shape.rank),
               {1, 4, 3, 4});
  EXPECT_SHAPE(get_avg_pool2d_out_target_size(in, two, {}, {}, true, shape.sizes, &shape.rank),
               {1, 4, 3, 4});
  const Tensor weight = tf.zeros({6, 2, 3, 3});
  EXPECT_SHAPE(get_convolution_out_target_size(in, weight, two, one, one, false, {}, 2, shape.sizes,
                                               &shape.rank),
               {1, 6, 3, 4});
  EXPECT_SHAPE(get_convolution_out_target_size(in, tf.zeros({4, 3, 3, 3}), two, one, one, true, one,
                                               2, shape.sizes, &shape.rank),
               {1, 6, 10, 14});
  Tensor out = tf.zeros({1, 6, 3, 4});
  EXPECT_TRUE(check_convolution_args(in, weight, tf.zeros({6}), two, one, one, false, {}, 2, out));
  EXPECT_FALSE(check_convolution_args(in, weight, tf.zeros({5}), two, one, one, false, {}, 2, out));
  EXPECT_FALSE(check_convolution_args(in, weight, {}, two, one, one, false, {}, 3, out));
  EXPECT_FALSE(padding_is_valid(two, three, 2, true));
  EXPECT_FALSE(stride_is_valid({}, 2, false));
  Tensor pooled = tf.zeros({1, 2, 2});
  Tensor where = tl.zeros({1, 2, 2});
  const Tensor image = tf.make({1, 3, 3}, {1, 2, 3, 4, 9, 6, 7, 8, 5});
  const int64_t zero[] = {0};
  apply_kernel_2d_reduce_then_map_fn<float>(
      [](float v, int64_t ix, float acc, int64_t acc_ix) {
        return v > acc ? std::make_tuple(v, ix) : std::make_tuple(acc, acc_ix);
      },
      [](int64_t, float v) { return v; }, false, image, two, one, zero, one, pooled, where);
  EXPECT_TENSOR_EQ(pooled, tf.make({1, 2, 2}, {9, 9, 9, 9}));
  EXPECT_TENSOR_EQ(where, tl.make({1, 2, 2}, {4, 4, 4, 4}));
  Tensor mean = tf.zeros({1, 2, 2});
  apply_kernel_2d_reduce_then_map_fn<float>(
      [](float v, int64_t, float acc, int64_t) { return std::make_tuple(v + acc, int64_t{0}); },
      [](int64_t count, float v) { return v / static_cast<float>(count); }, true, image, two, two,
      one, one, mean);
  // The windows begin in the padding: 1/4, (2+3)/4, (4+7)/4, (9+6+8+5)/4.
  EXPECT_TENSOR_EQ(mean, tf.make({1, 2, 2}, {0.25, 1.25, 2.75, 7}));
}

TEST_F(ShapesTest, PaddingAndResizing) {
  const Tensor in = tf.make({1, 3}, {1, 2, 3});
  const int64_t padding[] = {2, 1};
  Tensor out = tf.zeros({1, 6});
  EXPECT_TRUE(check_padding_args(1, in, padding, out, true));
  const int64_t large[] = {3, 0};
  EXPECT_FALSE(check_padding_args(1, in, large, out, true));
  EXPECT_SHAPE(get_padding_out_target_size(1, in, padding, shape.sizes, &shape.rank), {1, 6});
  pad1d<float>(reflection_ix, in, out, padding);
  EXPECT_TENSOR_EQ(out, tf.make({1, 6}, {3, 2, 1, 2, 3, 2}));
  pad1d<float>(replication_ix, in, out, padding);
  EXPECT_TENSOR_EQ(out, tf.make({1, 6}, {1, 1, 1, 2, 3, 3}));
  Tensor grown = tf.zeros({4, 9}, kDynamic);
  const int64_t around[] = {1, 0, 0, 2};
  EXPECT_TRUE(check_constant_pad_args(in, around, Scalar(0), grown));
  EXPECT_EQ(resize_constant_pad_output(in, around, grown), Error::Ok);
  EXPECT_EQ(grown.size(0), 3);
  EXPECT_EQ(grown.size(1), 4);

  const Tensor image = tf.zeros({1, 1, 2, 4});
  Tensor larger = tf.zeros({1, 1, 4, 6});
  const int64_t sizes[] = {4, 6};
  double h = 0, w = 0;
  using executorch::aten::OptionalArrayRef;
  const OptionalArrayRef<int64_t> size(sizes);
  EXPECT_TRUE(check_upsample_bilinear2d_args(image, size, false, {}, larger));
  EXPECT_FALSE(check_upsample_nearest2d_args(image, {}, {}, larger));
  EXPECT_EQ(resize_upsample_2d(image, size, {}, h, w, larger), Error::Ok);
  EXPECT_EQ(h, 2.0);
  EXPECT_EQ(w, 1.5);
  EXPECT_EQ(area_pixel_compute_scale<float>(4, 7, true, {}), 0.5f);
  EXPECT_EQ(area_pixel_compute_scale<float>(4, 8, false, 2.0), 0.5f);
  EXPECT_EQ(nearest_neighbor_compute_source_index(0.5f, 3, 2), 1);
  int64_t below = 0, above = 0;
  float lambda0 = 0, lambda1 = 0;
  compute_source_index_and_lambda(below, above, lambda0, lambda1, 0.5f, 3, 4, 8, false);
  EXPECT_EQ(below, 1);  // (3 + 0.5) * 0.5 - 0.5 = 1.25
  EXPECT_EQ(above, 2);
  EXPECT_FLOAT_EQ(lambda1, 0.25f);
  Tensor sampled = tf.zeros({1, 1, 5, 3});
  EXPECT_EQ(check_grid_sampler_2d_args_and_resize_out(image, tf.zeros({1, 5, 3, 2}), sampled),
            Error::Ok);
  EXPECT_EQ(check_grid_sampler_2d_args_and_resize_out(image, tf.zeros({2, 5, 3, 2}), sampled),
            Error::InvalidArgument);
  EXPECT_EQ(grid_sampler_compute_source_index(2.0f, 4, GridSamplerPadding::Border, true), 3.0f);
  EXPECT_EQ(grid_sampler_compute_source_index(2.0f, 4, GridSamplerPadding::Reflection, true), 1.5f);
}

TEST_F(ShapesTest, ProductsAndNorms) {
  Tensor out = tf.zeros({2, 4});
  EXPECT_TRUE(check_mm_args(tf.zeros({2, 3}), tf.zeros({3, 4}), out));
  EXPECT_FALSE(check_mm_args(tf.zeros({2, 3}), tf.zeros({4, 3}), out));
  EXPECT_TRUE(check_linear_args(tf.zeros({2, 3}), tf.zeros({4, 3}), out));
  EXPECT_SHAPE(
      get_linear_out_target_size(tf.zeros({5, 2, 3}), tf.zeros({4, 3}), shape.sizes, &shape.rank),
      {5, 2, 4});
  EXPECT_SHAPE(
      get_bmm_out_target_size(tf.zeros({5, 2, 3}), tf.zeros({5, 3, 4}), shape.sizes, &shape.rank),
      {5, 2, 4});
  Tensor product = tf.zeros({1, 1, 2});
  torch::executor::internal::bmm_out_impl<float>(tf.make({1, 1, 2}, {1, 2}),
                                                 tf.make({1, 2, 2}, {3, 4, 5, 6}), product);
  EXPECT_TENSOR_EQ(product, tf.make({1, 1, 2}, {13, 16}));

  float normalized[4], mean[1], rstd[1];
  const float row[] = {1, 2, 3, 4};
  layer_norm_scalar<float>(row, nullptr, nullptr, normalized, mean, rstd, 1, 4, 0.0f);
  EXPECT_EQ(mean[0], 2.5f);
  EXPECT_NEAR(rstd[0], 1 / std::sqrt(1.25), 1e-6);
  EXPECT_NEAR(normalized[3], 1.5 / std::sqrt(1.25), 1e-6);
  const int64_t normalized_shape[] = {4};
  EXPECT_SHAPE(
      get_layer_norm_out_target_size(tf.zeros({2, 4}), normalized_shape, shape.sizes, &shape.rank),
      {2, 1});
  EXPECT_TRUE(
      check_layer_norm_args(tf.zeros({2, 4}), normalized_shape, tf.zeros({4}), {}, out, out, out));
  EXPECT_FALSE(check_layer_norm_args(tf.zeros({2, 3}), normalized_shape, {}, {}, out, out, out));
  EXPECT_FALSE(
      check_batch_norm_args(tf.zeros({2, 3}), tf.zeros({2}), {}, {}, {}, 0.1, 1e-5, out, out, out));
  EXPECT_TRUE(check_group_norm_args(tf.zeros({2, 4, 3}), {}, {}, 2, 4, 3, 2, out, out, out));
  EXPECT_FALSE(check_group_norm_args(tf.zeros({2, 4, 3}), {}, {}, 2, 4, 3, 3, out, out, out));

  Tensor distances = tf.zeros({3});
  const Tensor points = tf.make({3, 2}, {0, 0, 3, 4, 0, 1});
  pdist<float>(points, distances, 2.0);
  EXPECT_TENSOR_CLOSE(distances, tf.make({3}, {5, 1, std::sqrt(18.0f)}));
  pdist<float>(points, distances, INFINITY);
  EXPECT_TENSOR_EQ(distances, tf.make({3}, {4, 1, 3}));
  EXPECT_FALSE(check_pdist_args(points, -1.0, distances));
  EXPECT_SHAPE(get_pdist_out_target_size(points, shape.sizes, &shape.rank), {3});
  EXPECT_FALSE(check_cdist_args(points, tf.zeros({3, 3}), 2.0, {}, distances));

  EXPECT_FALSE(check_gelu_args(points, "sigmoid", out));
  EXPECT_FALSE(check_glu_args(tf.zeros({3}), 0, out));
  EXPECT_FALSE(check_softmax_args(points, 2, false, out));
  Tensor half = tf.zeros({3, 2}, kDynamic);
  EXPECT_EQ(resize_glu_out(tf.zeros({3, 2}), 1, half), Error::Ok);
  EXPECT_EQ(half.size(1), 1);
  EXPECT_TRUE(check_embedding_args(points, tl.zeros({2}), out));
  Tensor embedded = tf.zeros({2, 2});
  EXPECT_EQ(resize_embedding_output(points, tl.zeros({2}), embedded), Error::Ok);
  EXPECT_FALSE(check_alpha_type(ScalarType::Double, ScalarType::Int));
  EXPECT_FALSE(check_cumsum_args(points, 2, {}, out));
  EXPECT_FALSE(check_masked_fill_args(points, points, Scalar(1), out));

  EXPECT_EQ(native::compute_arange_out_size(1, 8, 3), 3);
  Tensor numbers = tf.zeros({3});
  native::arange_out_impl(1, 8, 3, numbers);
  EXPECT_TENSOR_EQ(numbers, tf.make({3}, {1, 4, 7}));
}

}  // namespace
