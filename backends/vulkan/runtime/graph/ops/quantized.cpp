// SPDX-License-Identifier: BSD-3-Clause
// Numbers to 8-bit integers and back, and what computes with the integers element by element.
#include <executorch/backends/vulkan/runtime/graph/ops/elementwise.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <algorithm>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

enum Direction : int32_t { kThere, kBack };

/// x, scale, zero point, lowest, highest, ...: numbers.
Error by_numbers(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const double scale = ET_UNWRAP(call.number(1));
  const bool is_back = call.code() == kBack;
  UnaryParams params;
  params.p = to_float(is_back ? scale : 1 / scale);
  params.zero_point = ET_UNWRAP(call.integer(2));
  params.i0 = ET_UNWRAP(call.integer(3));
  params.i1 = ET_UNWRAP(call.integer(4));
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, x.shape));
  return apply_unary(call, is_back ? kDequantize : kQuantize, x, out, params);
}

/// With scales and zero points at `strides` of their tensors over x's dimensions, or more of them.
Error by_tensors(Call& call, const Tensor& scales, const Tensor* zeros, int64_t low, int64_t high,
                 const Shape& walk, const int32_t (&strides)[kMaxRank]) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  int64_t last = 0;
  for (size_t i = 0; i < walk.rank; ++i) {
    last += int64_t{strides[i]} * std::max(walk[i] - 1, 0);
  }
  if (scales.numel() <= last || (zeros != nullptr && zeros->numel() <= last)) {
    return call.mismatch("expected a scale and a zero point for each part of its input");
  }
  Iteration iteration(walk);
  iteration.add(walk).add(strides, 0).add(walk).merge();
  return call.dispatch("quantize")
      .read(x)
      .read(scales)
      .read(zeros == nullptr ? scales : *zeros)
      .write(out)
      .constant(call.code())
      .params(iteration)
      .param(int64_t{zeros != nullptr})
      .param(low)
      .param(high)
      .elements(iteration.numel());
}

/// x, scales, zero points, [axis,] lowest, highest: one for all, for each row, or along the axis.
Error along(Call& call, bool has_axis, bool by_row) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const Tensor& scales = *ET_UNWRAP(call.tensor(1));
  const Tensor* zeros = ET_UNWRAP(call.optional_tensor(2));
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, x.shape));
  int32_t strides[kMaxRank] = {};
  if (has_axis) {
    strides[ET_UNWRAP(call.dim(3, x.shape.rank))] = x.shape.rank > 0 ? 1 : 0;
  } else if (by_row && x.shape.rank > 1) {
    Shape rows = x.shape;
    rows.rank -= 1;
    dense_strides(rows, strides);
  }
  const size_t at = has_axis ? 4 : 3;
  return by_tensors(call, scales, zeros, ET_UNWRAP(call.integer(at)),
                    ET_UNWRAP(call.integer(at + 1)), x.shape, strides);
}

Error by_tensor(Call& call) {
  return along(call, false, false);
}

Error by_channel(Call& call) {
  return along(call, true, false);
}

Error by_token(Call& call) {
  return along(call, false, true);
}

/// torchao: x, block sizes, scales, zero points, dtype, lowest, highest. Each dimension of x is
/// blocks and what is in a block.
Error by_block(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const auto blocks = ET_UNWRAP(call.integers(1));
  const Tensor& scales = *ET_UNWRAP(call.tensor(2));
  const Tensor* zeros = ET_UNWRAP(call.optional_tensor(3));
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, x.shape));
  if (blocks.size() != x.shape.rank) {
    return call.mismatch("expected a block size for each dimension");
  }
  Shape counts;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const int64_t block = blocks[i] == 0 || blocks[i] == -1 ? x.shape[i] : blocks[i];
    if (block < 1 || x.shape[i] % block != 0) {
      return call.mismatch("expected dimensions that are multiples of their blocks");
    }
    counts.push(x.shape[i] / block);
  }
  int32_t dense[kMaxRank] = {};
  int32_t strides[kMaxRank] = {};
  dense_strides(counts, dense);
  Shape walk;
  for (size_t i = 0; i < counts.rank; ++i) {
    const int64_t block = x.shape[i] / std::max(counts[i], 1);
    if (walk.rank + 2 > kMaxRank) {
      return call.refuse("more than 4 dimensions");
    }
    strides[walk.rank] = counts[i] == 1 ? 0 : dense[i];
    walk.push(counts[i]);
    walk.push(block);
  }
  const size_t low_at = 5;
  return by_tensors(call, scales, zeros, ET_UNWRAP(call.integer_or(low_at, -128)),
                    ET_UNWRAP(call.integer_or(low_at + 1, 127)), walk, strides);
}

enum Formula : int32_t { kAsymmetric, kSymmetric, kWithoutClipping, kOfTokens };

Error choose(Call& call, int32_t code, int64_t count, double low, double high, double epsilon) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const auto outs = ET_UNWRAP(call.outputs());
  if (outs.size() != 2 || count < 1) {
    return call.mismatch("expected a scale and a zero point as outputs");
  }
  const int64_t rows = x.numel() / count;
  for (Tensor* out : outs) {
    Shape shape = out->bound;
    if (shape.numel() > 1 || rows > 1) {
      shape = x.shape;
      shape[shape.rank - 1] = 1;
      if (out->bound.rank + 1 == x.shape.rank) {
        shape.rank -= 1;
      }
    }
    ET_CHECK_OK_OR_RETURN_ERROR(call.resize(*out, shape));
    if (out->numel() < rows) {
      return call.mismatch("expected an output for each row");
    }
  }
  const bool is_long = count >= 128;
  return call.dispatch("choose_qparams")
      .read(x)
      .write(*outs[0])
      .write(*outs[1])
      .constant(code)
      .constant(is_long ? 64 : 1)
      .param(rows)
      .param(count)
      .param(to_float(low))
      .param(to_float(high))
      .param(to_float(epsilon))
      .groups(is_long ? rows : (rows + 63) / 64);
}

/// By row, or of the whole tensor.
Error choose_affine(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const auto mapping = ET_UNWRAP(call.text(1));
  const auto blocks = ET_UNWRAP(call.integers(2));
  const int32_t code = mapping == "SYMMETRIC"                   ? kSymmetric
                       : mapping == "SYMMETRIC_NO_CLIPPING_ERR" ? kWithoutClipping
                                                                : kAsymmetric;
  const double low = ET_UNWRAP(call.number_or(4, -128));
  const double high = ET_UNWRAP(call.number_or(5, 127));
  const double epsilon = ET_UNWRAP(call.number_or(6, 1.1920928955078125e-07));
  if (x.shape.rank < 1 || blocks.size() != x.shape.rank) {
    return call.mismatch("expected a block size for each dimension");
  }
  int64_t block = 1;
  bool is_row = true;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool is_last = i + 1 == blocks.size();
    const int64_t size = is_last ? x.bound[i] : 1;
    is_row = is_row && (blocks[i] == size || (is_last && blocks[i] == -1));
    block *= blocks[i] > 0 ? std::min<int64_t>(blocks[i], 1 << 24) : x.shape[i];
  }
  if (!is_row && block != x.bound.numel()) {
    return call.refuse("expected blocks that are rows, or the whole tensor");
  }
  return choose(call, code, is_row ? x.shape.at(-1) : x.numel(), low, high, epsilon);
}

Error choose_per_token(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  return choose(call, kOfTokens, x.shape.rank < 1 ? 1 : x.shape.at(-1), -128, 127,
                1.1920928955078125e-07);
}

Error choose_per_tensor(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  return choose(call, kAsymmetric, x.numel(), ET_UNWRAP(call.number(1)), ET_UNWRAP(call.number(2)),
                ET_UNWRAP(call.number_or(3, 1.1920928955078125e-07)));
}

Error add(Call& call) {
  const Tensor& a = *ET_UNWRAP(call.tensor(0));
  const Tensor& b = *ET_UNWRAP(call.tensor(1));
  Tensor& out = *ET_UNWRAP(call.output());
  Shape shape;
  if (!broadcast(a.shape, b.shape, shape)) {
    return call.mismatch("sizes of its inputs do not go together");
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  Iteration iteration(out.shape);
  iteration.add(a.shape).add(b.shape).add(out.shape).merge();
  return call.dispatch("quantized_add")
      .read(a)
      .read(b)
      .write(out)
      .params(iteration)
      .param(to_float(ET_UNWRAP(call.number(2))))
      .param(to_float(ET_UNWRAP(call.number(4)) * ET_UNWRAP(call.number(8))))
      .param(to_float(1 / ET_UNWRAP(call.number(6))))
      .param(ET_UNWRAP(call.integer(3)))
      .param(ET_UNWRAP(call.integer(5)))
      .param(ET_UNWRAP(call.integer(7)))
      .elements(iteration.numel());
}

Error relu(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, x.shape));
  UnaryParams params;
  params.p = to_float(ET_UNWRAP(call.number(1)));
  params.zero_point = ET_UNWRAP(call.integer(2));
  params.q = to_float(1 / ET_UNWRAP(call.number(3)));
  params.i0 = ET_UNWRAP(call.integer(4));
  return apply_unary(call, kRequantizeRelu, x, out, params);
}

Error pixel_shuffle(Call& call) {
  UnaryParams params;
  params.p = to_float(ET_UNWRAP(call.number(1)));
  params.zero_point = ET_UNWRAP(call.integer(2));
  params.q = to_float(ET_UNWRAP(call.number(3)));
  params.i0 = ET_UNWRAP(call.integer(4));
  return shuffle_pixels(call, ET_UNWRAP(call.integer(5)), kRequantize, params);
}

Error embedding(Call& call) {
  const Tensor& table = *ET_UNWRAP(call.tensor(0));
  const Tensor& scales = *ET_UNWRAP(call.tensor(1));
  const int64_t group_size = ET_UNWRAP(call.integer(2));
  const Tensor& index = *ET_UNWRAP(call.tensor(3));
  const bool is_linear = ET_UNWRAP(call.boolean(4));
  Tensor& out = *ET_UNWRAP(call.output());
  if (table.shape.rank != 2 || scales.shape.rank < 1 || out.bound.rank < 1 || group_size < 1 ||
      index.shape.rank == kMaxRank) {
    return call.mismatch("expected a table of two dimensions");
  }
  const int64_t width = out.bound.at(-1);
  const int64_t stride = scales.numel() / std::max<int64_t>(table.shape[0], 1);
  if ((width + 1) / 2 > table.shape[1] || (width + group_size - 1) / group_size > stride ||
      table.shape[0] < 1) {
    return call.mismatch("expected weights and scales for its output's rows");
  }
  Shape shape = index.shape;
  shape.push(width);
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  return call.dispatch("embedding_4_bits")
      .read(table)
      .read(scales)
      .read(index)
      .write(out)
      .constant(is_linear ? 1 : 0)
      .param(out.numel())
      .param(width)
      .param(int64_t{table.shape[0]})
      .param(int64_t{table.shape[1]})
      .param(group_size)
      .param(stride)
      .elements(out.numel());
}

constexpr Operator kRows[] = {
    {"quantized_decomposed.quantize_per_tensor.default", by_numbers, kThere},
    {"quantized_decomposed.dequantize_per_tensor.default", by_numbers, kBack},
    {"quantized_decomposed.quantize_per_tensor.tensor", by_tensor, kThere},
    {"quantized_decomposed.dequantize_per_tensor.tensor", by_tensor, kBack},
    {"quantized_decomposed.quantize_per_channel.default", by_channel, kThere},
    {"quantized_decomposed.dequantize_per_channel.default", by_channel, kBack},
    {"quantized_decomposed.quantize_per_token.default", by_token, kThere},
    {"quantized_decomposed.dequantize_per_token.default", by_token, kBack},
    {"torchao.quantize_affine.default", by_block, kThere},
    {"torchao.dequantize_affine.default", by_block, kBack},
    {"torchao.choose_qparams_affine.default", choose_affine},
    {"quantized_decomposed.choose_qparams_per_token_asymmetric.default", choose_per_token},
    {"quantized_decomposed.choose_qparams.tensor", choose_per_tensor},
    {"et_vk.q8ta_add.default", add},
    {"et_vk.q8ta_relu.default", relu},
    {"et_vk.q8ta_pixel_shuffle.default", pixel_shuffle},
    {"et_vk.embedding_q4gsw.default", embedding},
};

}  // namespace

Operators quantized_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
