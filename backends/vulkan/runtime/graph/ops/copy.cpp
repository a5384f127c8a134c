// SPDX-License-Identifier: BSD-3-Clause
// Elements that move: views, permutations, pieces and their concatenation, constants.
#include <executorch/backends/vulkan/runtime/graph/ops/elementwise.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

/// As many elements, in their order.
Error same(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize_view(out, x, x.shape));
  return copy_or_alias(call, x, out);
}

Error view(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const auto sizes = ET_UNWRAP(call.integers(1));
  Shape shape;
  int64_t product = 1;
  int unknown = -1;
  for (const int64_t size : sizes) {
    unknown = size == -1 ? static_cast<int>(shape.rank) : unknown;
    product *= size == -1 ? 1 : std::clamp<int64_t>(size, 0, std::numeric_limits<int32_t>::max());
    product = std::min<int64_t>(product, std::numeric_limits<int32_t>::max());
    shape.push(size);
  }
  if (sizes.size() > kMaxRank) {
    return call.refuse("more than 8 dimensions");
  }
  if (unknown >= 0) {
    shape[static_cast<size_t>(unknown)] =
        static_cast<int32_t>(product == 0 ? 0 : x.numel() / product);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize_view(out, x, shape));
  return copy_or_alias(call, x, out);
}

Error squeeze(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  std::vector<bool> is_gone(kMaxRank + 1, false);
  for (const int64_t dim : ET_UNWRAP(call.integers(1))) {
    is_gone[ET_UNWRAP(call.wrap_dim(dim, x.shape.rank))] = true;
  }
  Shape shape;
  for (size_t dim = 0; dim < x.shape.rank; ++dim) {
    // Which ones go is the file's: sizes that are 1 this time stay.
    if (!is_gone[dim] || x.bound[dim] != 1) {
      shape.push(x.shape[dim]);
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize_view(out, x, shape));
  return copy_or_alias(call, x, out);
}

Error unsqueeze(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const size_t place = ET_UNWRAP(call.dim(1, x.shape.rank + 1));
  Shape shape;
  for (size_t dim = 0; dim <= x.shape.rank; ++dim) {
    if (dim == place) {
      shape.push(1);
    }
    if (dim < x.shape.rank) {
      shape.push(x.shape[dim]);
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize_view(out, x, shape));
  return copy_or_alias(call, x, out);
}

/// out dense, read with the strides and the place of `x`.
Error gather_strided(Call& call, const Tensor& x, const Tensor& out,
                     const int32_t (&strides)[kMaxRank], int64_t offset) {
  return apply_unary(call, kIdentity, x, out,
                     Iteration(out.shape).add(strides, offset).add(out.shape));
}

Error permute_by(Call& call, const std::vector<int64_t>& dims) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  if (dims.size() != x.shape.rank) {
    return call.mismatch("expected a permutation of its input's dimensions");
  }
  int32_t dense[kMaxRank] = {};
  int32_t strides[kMaxRank] = {};
  bool is_taken[kMaxRank] = {};
  dense_strides(x.shape, dense);
  Shape shape;
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t dim = ET_UNWRAP(call.wrap_dim(dims[i], x.shape.rank));
    if (is_taken[dim]) {
      return call.mismatch("expected a permutation of its input's dimensions");
    }
    is_taken[dim] = true;
    shape.push(x.shape[dim]);
    strides[i] = dense[dim];
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  return gather_strided(call, x, out, strides, 0);
}

Error permute(Call& call) {
  return permute_by(call, ET_UNWRAP(call.integers(1)));
}

Error transpose(Call& call) {
  const size_t rank = ET_UNWRAP(call.tensor(0))
  ->shape.rank;
  return permute_by(call, rank < 2 ? (rank == 0 ? std::vector<int64_t>{} : std::vector<int64_t>{0})
                                   : std::vector<int64_t>{1, 0});
}

Error expand(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const auto sizes = ET_UNWRAP(call.integers(1));
  if (sizes.size() > kMaxRank || sizes.size() < x.shape.rank) {
    return call.mismatch("expected at least as many sizes as dimensions");
  }
  Shape shape;
  const size_t missing = sizes.size() - x.shape.rank;
  for (size_t i = 0; i < sizes.size(); ++i) {
    shape.push(sizes[i] == -1 && i >= missing ? x.shape[i - missing] : sizes[i]);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  Shape both;
  if (!broadcast(x.shape, out.shape, both) || both != out.shape) {
    return call.mismatch("sizes do not go together");
  }
  return apply_unary(call, kIdentity, x, out, Iteration(out.shape).add(x.shape).add(out.shape));
}

/// A size or place along a dimension of `size`, which may count from the end.
int64_t clamp_place(int64_t value, int64_t size) {
  return std::clamp<int64_t>(value < 0 ? value + size : value, 0, size);
}

Error slice(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const size_t dim = ET_UNWRAP(call.dim(1, x.shape.rank));
  const int64_t size = x.shape.rank == 0 ? 1 : x.shape[dim];
  const int64_t step = ET_UNWRAP(call.integer_or(4, 1));
  const int64_t start = clamp_place(ET_UNWRAP(call.integer_or(2, 0)), size);
  const int64_t end =
      clamp_place(ET_UNWRAP(call.integer_or(3, std::numeric_limits<int64_t>::max())), size);
  if (step <= 0 || x.shape.rank == 0) {
    return call.mismatch("expected a step above 0");
  }
  Shape shape = x.shape;
  shape[dim] = static_cast<int32_t>(end <= start ? 0 : (end - start + step - 1) / step);
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  int32_t strides[kMaxRank] = {};
  dense_strides(x.shape, strides);
  const int64_t offset = start * strides[dim];
  strides[dim] = static_cast<int32_t>(
      std::min<int64_t>(int64_t{strides[dim]} * step, std::numeric_limits<int32_t>::max()));
  return gather_strided(call, x, out, strides, offset);
}

Error select(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const size_t dim = ET_UNWRAP(call.dim(1, x.shape.rank));
  int64_t index = ET_UNWRAP(call.integer(2));
  if (x.shape.rank == 0) {
    return call.mismatch("expected at least one dimension");
  }
  index += index < 0 ? x.shape[dim] : 0;
  if (index < 0 || index >= x.shape[dim]) {
    return call.mismatch("an index beyond the dimension");
  }
  int32_t dense[kMaxRank] = {};
  int32_t strides[kMaxRank] = {};
  dense_strides(x.shape, dense);
  Shape shape;
  for (size_t i = 0; i < x.shape.rank; ++i) {
    if (i != dim) {
      strides[shape.rank] = dense[i];
      shape.push(x.shape[i]);
    }
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  return gather_strided(call, x, out, strides, index * dense[dim]);
}

Error split(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const auto sizes = ET_UNWRAP(call.integers(1));
  const size_t dim = ET_UNWRAP(call.dim(2, x.shape.rank));
  const auto outs = ET_UNWRAP(call.outputs());
  if (outs.size() != sizes.size() || x.shape.rank == 0) {
    return call.mismatch("expected an output for each size");
  }
  int32_t strides[kMaxRank] = {};
  dense_strides(x.shape, strides);
  int64_t start = 0;
  for (size_t i = 0; i < outs.size(); ++i) {
    Shape shape = x.shape;
    shape[dim] = static_cast<int32_t>(sizes[i]);
    ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*outs[i], shape));
    const int64_t size = outs[i]->shape[dim];
    if (start + size > x.shape[dim]) {
      return call.mismatch("sizes beyond the dimension");
    }
    ET_CHECK_OK_OR_RETURN_ERROR(gather_strided(call, x, *outs[i], strides, start * strides[dim]));
    start += size;
  }
  return Error::Ok;
}

Error cat(Call& call) {
  const auto inputs = ET_UNWRAP(call.tensors(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const size_t rank = out.bound.rank;
  const size_t dim = ET_UNWRAP(call.dim(1, rank));
  Shape shape;
  for (const Tensor* each : inputs) {
    const bool is_empty = each->shape.rank == 1 && each->numel() == 0;  // historic
    if (each->shape.rank != rank && !is_empty) {
      return call.mismatch("expected inputs of as many dimensions as its output");
    }
    if (each->shape.rank != rank) {
      continue;
    }
    if (shape.rank == 0) {
      shape = each->shape;
      continue;
    }
    for (size_t i = 0; i < rank; ++i) {
      if (i != dim && each->shape[i] != shape[i]) {
        return call.mismatch("sizes of its inputs do not go together");
      }
    }
    shape[dim] += each->shape[dim];
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  int32_t strides[kMaxRank] = {};
  dense_strides(out.shape, strides);
  int64_t start = 0;
  for (const Tensor* each : inputs) {
    if (each->shape.rank != rank || each->numel() == 0) {
      continue;
    }
    if (start + each->shape[dim] > out.shape[dim]) {
      return call.mismatch("sizes of its inputs beyond its output's");
    }
    ET_CHECK_OK_OR_RETURN_ERROR(
        apply_unary(call, kIdentity, *each, out,
                    Iteration(each->shape).add(each->shape).add(strides, start * strides[dim])));
    start += each->shape[dim];
  }
  return Error::Ok;
}

Error flip(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, x.shape));
  int32_t strides[kMaxRank] = {};
  dense_strides(x.shape, strides);
  int64_t offset = 0;
  bool is_flipped[kMaxRank] = {};
  for (const int64_t each : ET_UNWRAP(call.integers(1))) {
    const size_t dim = ET_UNWRAP(call.wrap_dim(each, x.shape.rank));
    if (x.shape.rank > 0 && !is_flipped[dim]) {
      is_flipped[dim] = true;
      offset += int64_t{strides[dim]} * (x.shape[dim] - 1);
      strides[dim] = -strides[dim];
    }
  }
  return gather_strided(call, x, out, strides, offset);
}

/// Each repeat is a copy into another place: dimensions of repeats stand before those of the input.
Error repeat(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const auto repeats = ET_UNWRAP(call.integers(1));
  if (repeats.size() < x.shape.rank || repeats.size() > kMaxRank) {
    return call.mismatch("expected at least as many repeats as dimensions");
  }
  const size_t missing = repeats.size() - x.shape.rank;
  Shape shape;
  Shape walk;
  int32_t dense[kMaxRank] = {};
  int32_t from[kMaxRank] = {};
  int32_t to[kMaxRank] = {};
  dense_strides(x.shape, dense);
  for (size_t i = 0; i < repeats.size(); ++i) {
    shape.push((i < missing ? 1 : x.shape[i - missing]) *
               std::clamp<int64_t>(repeats[i], 0, std::numeric_limits<int32_t>::max()));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  int32_t out_dense[kMaxRank] = {};
  dense_strides(out.shape, out_dense);
  const auto push = [&](int64_t size, int64_t source, int64_t target) {
    if (size == 1) {
      return true;
    }
    if (walk.rank == kMaxRank) {
      return false;
    }
    from[walk.rank] = static_cast<int32_t>(source);
    to[walk.rank] = static_cast<int32_t>(target);
    walk.push(size);
    return true;
  };
  for (size_t i = 0; i < repeats.size(); ++i) {
    const int64_t size = i < missing ? 1 : x.shape[i - missing];
    const int64_t count = size == 0 ? 0 : out.shape[i] / size;
    if (!push(count, 0, size * out_dense[i]) ||
        !push(size, i < missing ? 0 : dense[i - missing], out_dense[i])) {
      return call.refuse("more than 8 dimensions and repeats");
    }
  }
  return apply_unary(call, kIdentity, x, out, Iteration(walk).add(from, 0).add(to, 0));
}

Error repeat_interleave(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const int64_t count = ET_UNWRAP(call.integer(1));
  const size_t dim = ET_UNWRAP(call.dim(2, x.shape.rank));
  if (x.shape.rank == 0 || x.shape.rank == kMaxRank || count < 1) {
    return call.refuse("expected 1 to 7 dimensions");
  }
  Shape shape = x.shape;
  shape[dim] = static_cast<int32_t>(x.shape[dim] * count);
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  int32_t dense[kMaxRank] = {};
  int32_t strides[kMaxRank] = {};
  dense_strides(x.shape, dense);
  Shape walk;
  for (size_t i = 0; i < x.shape.rank; ++i) {
    strides[walk.rank] = dense[i];
    walk.push(x.shape[i]);
    if (i == dim) {
      strides[walk.rank] = 0;
      walk.push(count);
    }
  }
  return apply_unary(call, kIdentity, x, out, Iteration(walk).add(strides, 0).add(walk));
}

Error pixel_shuffle(Call& call) {
  return shuffle_pixels(call, ET_UNWRAP(call.integer(1)), kIdentity, {});
}

Error fill(Call& call, Tensor& out, double value) {
  UnaryParams params;
  params.p = to_float(value);
  const bool is_bool = out.dtype == VkDataType::BOOL;
  params.i0 = is_bool                ? (value != 0 ? 1 : 0)
              : std::isfinite(value) ? static_cast<int64_t>(value)
                                     : 0;
  return apply_unary(call, kFill, out, out, params);
}

Error pad(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const auto pads = ET_UNWRAP(call.integers(1));
  const double value = ET_UNWRAP(call.number_or(2, 0));
  const size_t rank = x.shape.rank;
  if (pads.size() % 2 != 0 || pads.size() > 2 * rank) {
    return call.mismatch("expected two pads for each of the last dimensions");
  }
  Shape shape = x.shape;
  Shape walk = x.shape;
  int64_t before[kMaxRank] = {};
  for (size_t i = 0; i < pads.size() / 2; ++i) {
    const size_t dim = rank - 1 - i;
    shape[dim] = static_cast<int32_t>(x.shape[dim] + pads[2 * i] + pads[2 * i + 1]);
    before[dim] = pads[2 * i];
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  int32_t from[kMaxRank] = {};
  int32_t to[kMaxRank] = {};
  dense_strides(x.shape, from);
  dense_strides(out.shape, to);
  int64_t source = 0;
  int64_t target = 0;
  for (size_t dim = 0; dim < rank; ++dim) {
    // Negative pads cut.
    const int64_t skipped = std::max<int64_t>(-before[dim], 0);
    const int64_t place = std::max<int64_t>(before[dim], 0);
    walk[dim] = static_cast<int32_t>(
        std::max<int64_t>(0, std::min<int64_t>(x.shape[dim] - skipped, out.shape[dim] - place)));
    source += skipped * from[dim];
    target += place * to[dim];
  }
  if (walk != out.shape) {
    ET_CHECK_OK_OR_RETURN_ERROR(fill(call, out, value));
  }
  return apply_unary(call, kIdentity, x, out, Iteration(walk).add(from, source).add(to, target));
}

enum FillCode : int32_t { kFull, kFullLike, kZeros, kOnes, kZerosLike, kOnesLike };

Error full(Call& call) {
  Tensor& out = *ET_UNWRAP(call.output());
  const bool is_like =
      call.code() == kFullLike || call.code() == kZerosLike || call.code() == kOnesLike;
  Shape shape;
  if (is_like) {
    shape = ET_UNWRAP(call.tensor(0))
    ->shape;
  } else {
    for (const int64_t size : ET_UNWRAP(call.integers(0))) {
      shape.push(size);
    }
  }
  double value = call.code() == kOnes || call.code() == kOnesLike ? 1 : 0;
  if (call.code() == kFull || call.code() == kFullLike) {
    value = ET_UNWRAP(call.number(1));
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  return fill(call, out, value);
}

Error scalar_tensor(Call& call) {
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, {}));
  return fill(call, out, ET_UNWRAP(call.number(0)));
}

Error arange(Call& call) {
  Tensor& out = *ET_UNWRAP(call.output());
  const double start = ET_UNWRAP(call.number_or(0, 0));
  const double end = ET_UNWRAP(call.number(1));
  const double step = ET_UNWRAP(call.number_or(2, 1));
  if (step == 0) {
    return call.mismatch("expected a step that is not 0");
  }
  const double count = std::clamp(std::ceil((end - start) / step), 0.0, 2147483647.0);
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, {static_cast<int64_t>(count)}));
  UnaryParams params;
  params.p = to_float(start);
  params.q = to_float(step);
  params.i0 = static_cast<int64_t>(start);
  params.i1 = static_cast<int64_t>(step);
  return apply_unary(call, kArange, out, out, params);
}

/// Writes into what a constant holds.
Error write_back(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& target = *ET_UNWRAP(call.output());
  return apply_unary(call, kIdentity, x, target);
}

constexpr Operator kRows[] = {
    {"et_vk.prepack.default", same},
    {"aten._to_copy.default", same},
    {"dim_order_ops._to_dim_order_copy.default", same},
    {"dim_order_ops._clone_dim_order.default", same},
    {"aten.alias_copy.default", same},
    {"aten.clone.default", same},
    {"aten.view_copy.default", view},
    {"aten.permute.default", permute},
    {"aten.permute_copy.default", permute},
    {"aten.t_copy.default", transpose},
    {"aten.squeeze_copy.dims", squeeze},
    {"aten.unsqueeze_copy.default", unsqueeze},
    {"aten.expand_copy.default", expand},
    {"aten.cat.default", cat},
    {"aten.select_copy.int", select},
    {"aten.select.int", select},
    {"aten.slice_copy.Tensor", slice},
    {"aten.slice.Tensor", slice},
    {"aten.split_with_sizes_copy.default", split},
    {"aten.flip.default", flip},
    {"aten.repeat.default", repeat},
    {"aten.repeat_interleave.self_int", repeat_interleave},
    {"aten.pixel_shuffle.default", pixel_shuffle},
    {"aten.constant_pad_nd.default", pad},
    {"aten.full.default", full, kFull},
    {"aten.full_like.default", full, kFullLike},
    {"aten.zeros.default", full, kZeros},
    {"aten.ones.default", full, kOnes},
    {"aten.zeros_like.default", full, kZerosLike},
    {"aten.ones_like.default", full, kOnesLike},
    {"aten.scalar_tensor.default", scalar_tensor},
    {"aten.arange.start_step", arange},
    {"write_back", write_back},
};

}  // namespace

/// (n, c, r, r, h, w) as (n, c, h, r, w, r).
Error shuffle_pixels(Call& call, int64_t r, int32_t code, const UnaryParams& params) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const size_t rank = x.shape.rank;
  if (rank < 3 || r < 1 || r > 1024 || x.shape.at(-3) % (r * r) != 0) {
    return call.mismatch("expected channels that are a multiple of the factor's square");
  }
  Shape shape = x.shape;
  const int64_t channels = x.shape.at(-3) / (r * r);
  const int64_t height = x.shape.at(-2);
  const int64_t width = x.shape.at(-1);
  shape[rank - 3] = static_cast<int32_t>(channels);
  shape[rank - 2] = static_cast<int32_t>(height * r);
  shape[rank - 1] = static_cast<int32_t>(width * r);
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  const int64_t plane = height * width;
  const int64_t images = plane * channels == 0 ? 0 : x.numel() / (plane * channels * r * r);
  const Shape walk = {images * channels, height, r, width, r};
  const int32_t strides[] = {static_cast<int32_t>(plane * r * r), static_cast<int32_t>(width),
                             static_cast<int32_t>(plane * r), 1, static_cast<int32_t>(plane)};
  return apply_unary(call, code, x, out, Iteration(walk).add(strides, 0).add(walk), params);
}

Operators copy_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
