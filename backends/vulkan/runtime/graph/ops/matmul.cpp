// SPDX-License-Identifier: BSD-3-Clause
// Matmuls; linear layers, also with weights of 8 and 4 bits.
#include <executorch/backends/vulkan/runtime/graph/ops/elementwise.h>
#include <executorch/backends/vulkan/runtime/graph/ops/matmul.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <algorithm>

namespace executorch::backends::vulkan {

using runtime::Error;

Error multiply(Call& call, const Matmul& product) {
  const Tensor& a = *product.a;
  const auto or_a = [&](const Tensor* tensor) -> const Tensor& {
    return tensor == nullptr ? a : *tensor;
  };
  const int64_t rows = product.m == 1 ? 1 : 4;
  const int64_t tiles = (product.m + rows - 1) / rows * ((product.n + 3) / 4) * product.batches;
  const auto& x = product.a_strides;
  const auto& w = product.w_strides;
  const auto& y = product.y_strides;
  const auto& bias = product.bias_strides;
  return call.dispatch("matmul")
      .read(a)
      .read(*product.w)
      .read(or_a(product.bias))
      .read(or_a(product.scales))
      .read(or_a(product.row_scales))
      .read(or_a(product.row_zeros))
      .write(*product.y)
      .constant(static_cast<int32_t>(rows))
      .constant(static_cast<int32_t>(product.format))
      .constant(product.row_scales == nullptr ? 0 : 1)
      .params(x[0], x[1], x[2], 0)
      .params(w[0], w[1], w[2], product.weight_row)
      .params(y[0], y[1], y[2], 0)
      .params(bias[0], bias[1], bias[2], 0)
      .param(product.batches)
      .param(product.m)
      .param(product.n)
      .param(product.k)
      .param(product.group_size)
      .param(product.scales_stride)
      .param(product.alpha)
      .param(product.bias == nullptr ? 0.0F : product.beta)
      .param(product.low)
      .param(product.high)
      .elements(tiles);
}

namespace {

/// mm, bmm.
Error matmul(Call& call) {
  const Tensor& a = *ET_UNWRAP(call.tensor(0));
  const Tensor& b = *ET_UNWRAP(call.tensor(1));
  Tensor& out = *ET_UNWRAP(call.output());
  const size_t rank = a.shape.rank;
  if ((rank != 2 && rank != 3) || b.shape.rank != rank || a.shape.at(-1) != b.shape.at(-2) ||
      (rank == 3 && a.shape[0] != b.shape[0])) {
    return call.mismatch("expected matrices that go together");
  }
  Matmul product;
  product.batches = rank == 3 ? a.shape[0] : 1;
  product.m = a.shape.at(-2);
  product.n = b.shape.at(-1);
  product.k = a.shape.at(-1);
  const Shape shape =
      rank == 3 ? Shape{product.batches, product.m, product.n} : Shape{product.m, product.n};
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  product.a = &a;
  product.w = &b;
  product.y = &out;
  const int64_t a_strides[] = {product.m * product.k, product.k, 1};
  const int64_t w_strides[] = {product.k * product.n, product.n, 1};
  const int64_t y_strides[] = {product.m * product.n, product.n, 1};
  std::copy_n(a_strides, 3, product.a_strides);
  std::copy_n(w_strides, 3, product.w_strides);
  std::copy_n(y_strides, 3, product.y_strides);
  return multiply(call, product);
}

Error addmm(Call& call) {
  const Tensor& bias = *ET_UNWRAP(call.tensor(0));
  const Tensor& a = *ET_UNWRAP(call.tensor(1));
  const Tensor& b = *ET_UNWRAP(call.tensor(2));
  Tensor& out = *ET_UNWRAP(call.output());
  if (a.shape.rank != 2 || b.shape.rank != 2 || a.shape[1] != b.shape[0]) {
    return call.mismatch("expected matrices that go together");
  }
  const Shape shape = {a.shape[0], b.shape[1]};
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  Shape both;
  if (!broadcast(bias.shape, shape, both) || both != shape) {
    return call.mismatch("expected a first argument that is added to their product");
  }
  Matmul product;
  product.a = &a;
  product.w = &b;
  product.y = &out;
  product.bias = &bias;
  product.beta = to_float(ET_UNWRAP(call.number_or(3, 1)));
  product.alpha = to_float(ET_UNWRAP(call.number_or(4, 1)));
  product.m = shape[0];
  product.n = shape[1];
  product.k = a.shape[1];
  product.a_strides[1] = product.k;
  product.a_strides[2] = 1;
  product.w_strides[1] = product.n;
  product.w_strides[2] = 1;
  product.y_strides[1] = product.n;
  product.y_strides[2] = 1;
  const Iteration walk = Iteration(shape).add(bias.shape);
  product.bias_strides[1] = walk.strides(0)[0];
  product.bias_strides[2] = walk.strides(0)[1];
  return multiply(call, product);
}

/// x [..., K], weights by row of the output; `num_columns` where packed weights do not say it.
Error linear_with(Call& call, Matmul product, int64_t num_columns) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  if (x.shape.rank < 1 || num_columns < 1) {
    return call.mismatch("expected at least one dimension");
  }
  Shape shape = x.shape;
  shape[shape.rank - 1] = static_cast<int32_t>(num_columns);
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  product.a = &x;
  product.y = &out;
  product.n = num_columns;
  product.k = x.shape.at(-1);
  product.m = product.k == 0 ? out.numel() / num_columns : x.numel() / product.k;
  product.a_strides[1] = product.k;
  product.a_strides[2] = 1;
  product.y_strides[1] = num_columns;
  product.y_strides[2] = 1;
  product.bias_strides[2] = 1;
  if (product.bias != nullptr && product.bias->numel() < num_columns) {
    return call.mismatch("expected a bias for each output");
  }
  return multiply(call, product);
}

Error linear(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const Tensor& weight = *ET_UNWRAP(call.tensor(1));
  if (weight.shape.rank != 2 || x.shape.rank < 1 || x.shape.at(-1) != weight.shape[1]) {
    return call.mismatch("expected weights [outputs, inputs] for its input");
  }
  Matmul product;
  product.w = &weight;
  product.bias = ET_UNWRAP(call.optional_tensor(2));
  product.w_strides[1] = 1;
  product.w_strides[2] = weight.shape[1];
  return linear_with(call, product, weight.shape[0]);
}

/// Weights of integers: whether there are enough for `columns` and its input.
Error check_packed(Call& call, const Matmul& product, int64_t columns) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const int64_t k = x.shape.rank < 1 ? 0 : x.shape.at(-1);
  const bool is_bytes = product.format == WeightFormat::kInt8;
  const int64_t needed = is_bytes ? k : (k + 1) / 2;
  const int64_t groups = product.format == WeightFormat::kLowNibble
                             ? (k + product.group_size - 1) / product.group_size
                             : 1;
  if (product.w->shape.rank != 2 || product.weight_row < needed ||
      product.scales->numel() < columns + (groups - 1) * product.scales_stride) {
    return call.mismatch("expected weights and scales for its input");
  }
  return Error::Ok;
}

/// _weight_int8pack_mm, linear_qcs4w: x, weights, scales[, bias].
Error linear_by_channel(Call& call) {
  Matmul product;
  product.w = ET_UNWRAP(call.tensor(1));
  product.scales = ET_UNWRAP(call.tensor(2));
  product.format = static_cast<WeightFormat>(call.code());
  if (call.num_args() > 4) {
    product.bias = ET_UNWRAP(call.optional_tensor(3));
  }
  product.weight_row = product.w->shape.rank < 1 ? 0 : product.w->shape.at(-1);
  const int64_t columns = product.w->shape.rank == 2 ? product.w->shape[0] : 0;
  ET_CHECK_OK_OR_RETURN_ERROR(check_packed(call, product, columns));
  return linear_with(call, product, columns);
}

/// Weights of 4 bits in groups, from argument `first` on: weights[, sums], scales, group size,
/// bias.
Error linear_in_groups(Call& call, size_t first, bool has_sums, Matmul product) {
  const size_t after = first + (has_sums ? 2 : 1);
  product.w = ET_UNWRAP(call.tensor(first));
  product.scales = ET_UNWRAP(call.tensor(after));
  product.group_size = ET_UNWRAP(call.integer(after + 1));
  product.bias = ET_UNWRAP(call.optional_tensor(after + 2));
  product.format = WeightFormat::kLowNibble;
  if (product.group_size < 1 || product.scales->shape.rank != 2 || product.w->shape.rank != 2) {
    return call.mismatch("expected weights and scales of two dimensions");
  }
  product.scales_stride = product.scales->shape[1];
  product.weight_row = product.w->shape[1];
  ET_CHECK_OK_OR_RETURN_ERROR(check_packed(call, product, product.w->shape[0]));
  return linear_with(call, product, product.w->shape[0]);
}

Error linear_4_bits(Call& call) {
  return linear_in_groups(call, 1, false, {});
}

Error linear_dynamic_4_bits(Call& call) {
  Matmul product;
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  product.row_scales = ET_UNWRAP(call.tensor(1));
  product.row_zeros = ET_UNWRAP(call.tensor(2));
  const int64_t k = x.shape.rank < 1 ? 0 : x.shape.at(-1);
  if (k < 1 || product.row_scales->numel() < x.numel() / k ||
      product.row_zeros->numel() < x.numel() / k) {
    return call.mismatch("expected a scale and a zero point for each row");
  }
  return linear_in_groups(call, 3, true, product);
}

constexpr Operator kRows[] = {
    {"aten.mm.default", matmul},
    {"aten.bmm.default", matmul},
    {"aten.addmm.default", addmm},
    {"aten.linear.default", linear},
    {"aten._weight_int8pack_mm.default", linear_by_channel, 1},
    {"et_vk.linear_q8csw.default", linear_by_channel, 1},
    {"et_vk.linear_qcs4w.default", linear_by_channel, 2},
    {"et_vk.linear_q4gsw.default", linear_4_bits},
    {"et_vk.q4gsw_linear.default", linear_4_bits},
    {"et_vk.linear_dq8ca_q4gsw.default", linear_dynamic_4_bits},
};

}  // namespace

Operators matmul_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
