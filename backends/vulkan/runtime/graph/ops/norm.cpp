// SPDX-License-Identifier: BSD-3-Clause
// Layer, group, batch and root-mean-square norms.
#include <executorch/backends/vulkan/runtime/graph/ops/elementwise.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <algorithm>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

enum NormCode : int32_t { kMeanAndDeviation, kRootMeanSquare, kGiven };

struct Norm {
  const Tensor* x = nullptr;
  const Tensor* weight = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* y = nullptr;
  const Tensor* mean = nullptr;
  const Tensor* rstd = nullptr;
  int32_t code = kMeanAndDeviation;
  int64_t count = 0;  // of a row
  int64_t row_groups = 1;
  int64_t per_channel = 1;
  float epsilon = 0;
};

Error run(Call& call, const Norm& norm) {
  if (norm.count < 1) {
    return norm.x->numel() == 0 ? Error::Ok : call.mismatch("expected rows of elements");
  }
  const int64_t rows = norm.x->numel() / norm.count;
  const int64_t channels = norm.row_groups * (norm.count / norm.per_channel);
  for (const Tensor* each : {norm.weight, norm.bias}) {
    if (each != nullptr && each->numel() < channels) {
      return call.mismatch("expected a weight and a bias for each channel");
    }
  }
  const bool writes = norm.mean != nullptr && norm.code != kGiven;
  const bool is_long = norm.count >= 128;
  const auto or_x = [&](const Tensor* tensor) -> const Tensor& {
    return tensor == nullptr ? *norm.x : *tensor;
  };
  DispatchBuilder builder = call.dispatch("norm");
  builder.read(*norm.x).read(or_x(norm.weight)).read(or_x(norm.bias)).write(*norm.y);
  if (writes) {
    builder.write(*norm.mean).write(*norm.rstd);
  } else {
    builder.read(or_x(norm.mean)).read(or_x(norm.rstd));
  }
  return builder.constant(is_long ? 64 : 1)
      .constant(norm.code)
      .param(rows)
      .param(norm.count)
      .param(norm.row_groups)
      .param(norm.per_channel)
      .param(int64_t{norm.weight != nullptr})
      .param(int64_t{norm.bias != nullptr})
      .param(int64_t{writes})
      .param(norm.epsilon)
      .groups(is_long ? rows : (rows + 63) / 64);
}

Error layer_norm(Call& call) {
  Norm norm;
  norm.x = ET_UNWRAP(call.tensor(0));
  const size_t last = ET_UNWRAP(call.integers(1))
  .size();
  norm.weight = ET_UNWRAP(call.optional_tensor(2));
  norm.bias = ET_UNWRAP(call.optional_tensor(3));
  norm.epsilon = to_float(ET_UNWRAP(call.number(4)));
  const auto outs = ET_UNWRAP(call.outputs());
  const size_t rank = norm.x->shape.rank;
  if (last < 1 || last > rank) {
    return call.mismatch("expected some of its input's last dimensions");
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[0], norm.x->shape));
  Shape statistics = norm.x->shape;
  norm.count = 1;
  for (size_t dim = rank - last; dim < rank; ++dim) {
    norm.count *= norm.x->shape[dim];
    statistics[dim] = 1;
  }
  norm.y = outs[0];
  if (outs.size() > 2) {
    ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[1], statistics));
    ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[2], statistics));
    norm.mean = outs[1];
    norm.rstd = outs[2];
  }
  return run(call, norm);
}

Error rms_norm(Call& call) {
  Norm norm;
  norm.x = ET_UNWRAP(call.tensor(0));
  norm.weight = ET_UNWRAP(call.optional_tensor(1));
  norm.epsilon = to_float(ET_UNWRAP(call.number(2)));
  norm.code = kRootMeanSquare;
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, norm.x->shape));
  norm.y = &out;
  norm.count = norm.x->shape.rank == 0 ? 1 : norm.x->shape.at(-1);
  return run(call, norm);
}

Error group_norm(Call& call) {
  Norm norm;
  norm.x = ET_UNWRAP(call.tensor(0));
  norm.weight = ET_UNWRAP(call.optional_tensor(1));
  norm.bias = ET_UNWRAP(call.optional_tensor(2));
  const int64_t groups = ET_UNWRAP(call.integer(6));
  norm.epsilon = to_float(ET_UNWRAP(call.number(7)));
  const auto outs = ET_UNWRAP(call.outputs());
  const Shape& x = norm.x->shape;
  if (x.rank < 2 || groups < 1 || x[1] % groups != 0) {
    return call.mismatch("expected channels that are a multiple of its groups");
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[0], x));
  norm.y = outs[0];
  norm.row_groups = groups;
  const int64_t rows = x[0] * groups;
  norm.count = rows == 0 ? 0 : norm.x->numel() / rows;
  norm.per_channel = std::max<int64_t>(norm.count / std::max<int64_t>(x[1] / groups, 1), 1);
  if (outs.size() > 2) {
    ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[1], {x[0], groups}));
    ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[2], {x[0], groups}));
    norm.mean = outs[1];
    norm.rstd = outs[2];
  }
  return run(call, norm);
}

Error batch_norm(Call& call) {
  Norm norm;
  norm.x = ET_UNWRAP(call.tensor(0));
  norm.weight = ET_UNWRAP(call.optional_tensor(1));
  norm.bias = ET_UNWRAP(call.optional_tensor(2));
  norm.mean = ET_UNWRAP(call.tensor(3));
  norm.rstd = ET_UNWRAP(call.tensor(4));
  norm.epsilon = to_float(ET_UNWRAP(call.number(6)));
  norm.code = kGiven;
  const auto outs = ET_UNWRAP(call.outputs());
  const Shape& x = norm.x->shape;
  if (x.rank < 2 || norm.mean->numel() < x[1] || norm.rstd->numel() < x[1]) {
    return call.mismatch("expected statistics for each channel");
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[0], x));
  for (size_t i = 1; i < outs.size(); ++i) {
    ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[i], {0}));  // of training
  }
  norm.y = outs[0];
  const int64_t rows = int64_t{x[0]} * x[1];
  norm.count = rows == 0 ? 0 : norm.x->numel() / rows;
  norm.per_channel = std::max<int64_t>(norm.count, 1);
  norm.row_groups = x[1];
  return run(call, norm);
}

constexpr Operator kRows[] = {
    {"aten.native_layer_norm.default", layer_norm},
    {"aten.native_group_norm.default", group_norm},
    {"aten._native_batch_norm_legit_no_training.default", batch_norm},
    {"et_vk.rms_norm.default", rms_norm},
};

}  // namespace

Operators norm_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
