// SPDX-License-Identifier: BSD-3-Clause
// What puts values elsewhere: rows of an image, rows of a table, rotated positions, bits of a mask,
// copies by DMA.
#include <cstring>

#include <executorch/backends/cadence/CustomOpsNativeFunctions.h>
#include <executorch/backends/cadence/generic/convolution.h>

namespace impl::generic::native {

using namespace executorch::backends::cadence;
using executorch::aten::optional;

// ---- Windows of an image as rows ----

namespace {

struct RowArguments {
  ArrayRef<int64_t> kernel;
  Movement movement;
  int64_t zero_point;
};

// As a convolution whose weights would be [1, inputs, kernel...].
bool make_rows(const Tensor& input, const RowArguments& arguments, Convolution& made) {
  const Movement& movement = arguments.movement;
  made.rank = 2;
  made.transposed = movement.transposed;
  if (input.dim() != 4 || !fill(arguments.kernel, 2, 1, 1, made.kernel) ||
      !fill(movement.stride, 2, 1, 1, made.stride) ||
      !fill(movement.padding, 2, 0, 0, made.padding) ||
      !fill(movement.dilation, 2, 1, 1, made.dilation)) {
    return false;
  }
  const bool is_last = movement.channels_last;
  made.batch = int32(input.size(0));
  made.inputs = int32(input.size(is_last ? 3 : 1));
  fill_spatial(input, 2, is_last ? 1 : 2, made.image);
  made.input = layout_of(made.inputs, made.image, is_last);
  return fill_placed(movement, made);
}

template <typename T>
void write_rows(const Convolution& c, const T* from, T outside, bool channel_by_channel, T* to) {
  const ssize_t taps = static_cast<ssize_t>(c.kernel[1]) * c.kernel[2];
  for (int32_t image = 0; image < c.batch; ++image) {
    for_each_place(c.placed, [&](const int32_t(&place)[3]) {
      ssize_t tap_index = 0;
      for_each_place(c.kernel, [&](const int32_t(&tap)[3]) {
        int32_t found[3];
        const bool is_inside = c.source(place, tap, found);
        for (int32_t channel = 0; channel < c.inputs; ++channel) {
          const ssize_t at =
              channel_by_channel ? channel * taps + tap_index : tap_index * c.inputs + channel;
          to[at] = is_inside ? from[c.input.at(image, channel, found)] : outside;
        }
        ++tap_index;
      });
      to += taps * c.inputs;
    });
  }
}

Tensor& rows_of(KernelRuntimeContext& context, const char* name, const Tensor& input,
                const RowArguments& arguments, bool channel_by_channel, Tensor& out) {
  Convolution c{};
  CADENCE_CHECK(out.scalar_type() == input.scalar_type() && is_contiguous(input) &&
                    make_rows(input, arguments, c),
                "%s: expected a contiguous image that the kernel fits into", name);
  Sizes sizes;
  sizes.add(c.batch);
  sizes.add(static_cast<int64_t>(c.placed[1]) * c.placed[2]);
  sizes.add(static_cast<int64_t>(c.inputs) * c.kernel[1] * c.kernel[2]);
  CADENCE_CHECK(sizes.take(out), "%s: expected an output [images, places, values]", name);
  if (input.scalar_type() == ScalarType::Float) {
    write_rows(c, input.const_data_ptr<float>(), static_cast<float>(arguments.zero_point),
               channel_by_channel, out.mutable_data_ptr<float>());
    return out;
  }
  const bool is_known = with_integer_type(input.scalar_type(), [&](auto type) {
    using T = decltype(type);
    write_rows(c, input.const_data_ptr<T>(), static_cast<T>(arguments.zero_point),
               channel_by_channel, out.mutable_data_ptr<T>());
  });
  CADENCE_CHECK(is_known, "%s: expected float32, int8, uint8 or int16", name);
  return out;
}

}  // namespace

Tensor& im2row_per_tensor_out(KernelRuntimeContext& context, const Tensor& input,
                              ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> dilation,
                              ArrayRef<int64_t> padding, ArrayRef<int64_t> stride,
                              int64_t in_zero_point, bool channel_last, Tensor& out) {
  return rows_of(context, "im2row", input,
                 {kernel_size, {stride, padding, dilation, 1, channel_last}, in_zero_point}, true,
                 out);
}

Tensor& im2row_out(KernelRuntimeContext& context, const Tensor& input,
                   ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> dilation,
                   ArrayRef<int64_t> padding, ArrayRef<int64_t> stride, const Tensor& in_zero_point,
                   bool channel_last, Tensor& out) {
  CADENCE_CHECK(has_integers(in_zero_point, 1), "im2row: expected a tensor of one zero point");
  return im2row_per_tensor_out(context, input, kernel_size, dilation, padding, stride,
                               integer_at(in_zero_point, 0), channel_last, out);
}

Tensor& transposed_im2row_out(KernelRuntimeContext& context, const Tensor& input,
                              ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> dilation,
                              ArrayRef<int64_t> padding, ArrayRef<int64_t> stride,
                              ArrayRef<int64_t> output_padding, const Tensor& in_zero_point,
                              bool channel_last, Tensor& out) {
  CADENCE_CHECK(has_integers(in_zero_point, 1),
                "transposed_im2row: expected a tensor of one zero point");
  const Movement movement{stride, padding, dilation, 1, channel_last, true, output_padding};
  return rows_of(context, "transposed_im2row", input,
                 {kernel_size, movement, integer_at(in_zero_point, 0)}, !channel_last, out);
}

// ---- Rows of a table ----

namespace {

// Of a tensor [rows], or [rows, groups].
bool is_by_row(const Tensor& numbers, const Tensor& weight) {
  const ssize_t rank = numbers.dim();
  return numbers.scalar_type() == ScalarType::Float && (rank == 1 || rank == 2) &&
         numbers.size(0) == weight.size(0) &&
         (rank == 1 || (numbers.size(1) > 0 && weight.size(1) % numbers.size(1) == 0));
}

float number_at(const Tensor& numbers, ssize_t row, ssize_t column, ssize_t width) {
  const ssize_t groups = numbers.dim() == 1 ? 1 : numbers.size(1);
  return numbers.const_data_ptr<float>()[row * groups + column / (width / groups)];
}

}  // namespace

Tensor& quantized_embedding_byte_out(KernelRuntimeContext& context, const Tensor& weight,
                                     const Tensor& weight_scales,
                                     const optional<Tensor>& weight_zero_points,
                                     const Tensor& indices, bool pruned_weights, Tensor& out) {
  CADENCE_CHECK(!pruned_weights, "quantized_embedding_byte: pruned weights are not supported");
  CADENCE_CHECK(weight.dim() == 2 && is_contiguous(weight) && is_by_row(weight_scales, weight) &&
                    (!weight_zero_points.has_value() || is_by_row(*weight_zero_points, weight)) &&
                    is_integers(indices) && out.scalar_type() == ScalarType::Float,
                "quantized_embedding_byte: expected weights [rows, columns], scales and zero "
                "points of float32 of each row or of its groups, and an output of float32");
  const ssize_t width = weight.size(1);
  for (ssize_t i = 0; i < indices.numel(); ++i) {
    const int64_t row = integer_at(indices, i);
    CADENCE_CHECK(row >= 0 && row < weight.size(0),
                  "quantized_embedding_byte: expected indices of rows, found %lld of %lld",
                  static_cast<long long>(row), static_cast<long long>(weight.size(0)));
  }
  Sizes sizes;
  sizes.add_leading(indices, indices.dim());
  sizes.add(width);
  CADENCE_CHECK(is_contiguous(indices) && sizes.take(out),
                "quantized_embedding_byte: expected an output [indices.., columns]");
  const bool is_known = with_integer_type(weight.scalar_type(), [&](auto type) {
    const auto* values = weight.const_data_ptr<decltype(type)>();
    float* to = out.mutable_data_ptr<float>();
    for (ssize_t i = 0; i < indices.numel(); ++i) {
      const auto row = static_cast<ssize_t>(integer_at(indices, i));
      for (ssize_t j = 0; j < width; ++j) {
        const float point =
            weight_zero_points.has_value() ? number_at(*weight_zero_points, row, j, width) : 0;
        *to++ = (static_cast<float>(values[row * width + j]) - point) *
                number_at(weight_scales, row, j, width);
      }
    }
  });
  CADENCE_CHECK(is_known, "quantized_embedding_byte: expected int8 or uint8");
  return out;
}

// ---- Positions ----

namespace {

// `pairs`: whether the two values of a pair are neighbours; else one is in each half of a row.
Tensor& rotate(KernelRuntimeContext& context, const char* name, const Tensor& input,
               const Tensor& sin_tensor, const Tensor& cos_tensor, const optional<Tensor>& pos,
               bool pairs, Tensor& out) {
  CADENCE_CHECK(
      (input.dim() == 4 || input.dim() == 5) && input.size(0) == 1 &&
          input.scalar_type() == ScalarType::Float && out.scalar_type() == ScalarType::Float &&
          sin_tensor.scalar_type() == ScalarType::Float && sin_tensor.dim() == 2 &&
          cos_tensor.scalar_type() == ScalarType::Float && cos_tensor.sizes() == sin_tensor.sizes(),
      "%s: expected float32 [1, positions, heads, width], sines and cosines [positions, width / 2]",
      name);
  const int64_t half = sin_tensor.size(1), length = input.size(1);
  CADENCE_CHECK(half > 0 && length > 0 && input.numel() % (2 * half * length) == 0 &&
                    (pos.has_value() ? is_integers(*pos) && pos->numel() == length
                                     : sin_tensor.size(0) >= length) &&
                    take_size_of(out, input),
                "%s: expected a row of sines for each position, or a position for each", name);
  const int64_t rows = input.numel() / (2 * half), each = rows / length;
  const float* from = input.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row, from += 2 * half, to += 2 * half) {
    const int64_t place = pos.has_value() ? integer_at(*pos, row / each) : row / each;
    CADENCE_CHECK(place >= 0 && place < sin_tensor.size(0), "%s: expected positions of rows", name);
    for (int64_t i = 0; i < half; ++i) {
      const float sine = sin_tensor.const_data_ptr<float>()[place * half + i];
      const float cosine = cos_tensor.const_data_ptr<float>()[place * half + i];
      const int64_t first = pairs ? 2 * i : i, second = pairs ? 2 * i + 1 : i + half;
      const float x = from[first], y = from[second];
      to[first] = x * cosine - y * sine;
      to[second] = x * sine + y * cosine;
    }
  }
  return out;
}

}  // namespace

Tensor& rope_out(KernelRuntimeContext& context, const Tensor& input, const Tensor& sin_tensor,
                 const Tensor& cos_tensor, const optional<Tensor>& pos, Tensor& out) {
  return rotate(context, "rope", input, sin_tensor, cos_tensor, pos, true, out);
}

Tensor& rope_rotate_stacked_halves_out(KernelRuntimeContext& context, const Tensor& input,
                                       const Tensor& sin_tensor, const Tensor& cos_tensor,
                                       const optional<Tensor>& pos, Tensor& out) {
  return rotate(context, "rope_rotate_stacked_halves", input, sin_tensor, cos_tensor, pos, false,
                out);
}

Tensor& sdpa_bitwise_mask_gen_out(KernelRuntimeContext& context, const Tensor& mask,
                                  double threshold, Tensor& out) {
  const ssize_t rank = mask.dim();
  const bool is_bool = mask.scalar_type() == ScalarType::Bool;
  CADENCE_CHECK((is_bool || mask.scalar_type() == ScalarType::Float) &&
                    out.scalar_type() == ScalarType::Byte && rank >= 1 &&
                    mask.size(rank - 1) % 8 == 0 && is_contiguous(mask),
                "sdpa_bitwise_mask_gen: expected a contiguous mask of bool or float32 whose last "
                "size is a multiple of 8, and an output of uint8");
  Sizes sizes;
  sizes.add_leading(mask, rank - 1);
  sizes.add(mask.size(rank - 1) / 8);
  CADENCE_CHECK(sizes.take(out), "sdpa_bitwise_mask_gen: expected an output of an eighth");
  const auto least = static_cast<float>(threshold);
  for (ssize_t i = 0; i < out.numel(); ++i) {
    int32_t bits = 0;
    for (ssize_t j = 0; j < 8; ++j) {
      const bool is_hidden = is_bool ? !mask.const_data_ptr<bool>()[i * 8 + j]
                                     : mask.const_data_ptr<float>()[i * 8 + j] < least;
      bits |= is_hidden ? 1 << j : 0;
    }
    out.mutable_data_ptr<uint8_t>()[i] = static_cast<uint8_t>(bits);
  }
  return out;
}

// ---- Copies ----

Tensor& idma_copy_out(KernelRuntimeContext& context, const Tensor& src, int64_t /*task_num*/,
                      int64_t /*channel*/, Tensor& out) {
  CADENCE_CHECK(src.scalar_type() == out.scalar_type() && take_size_of(out, src),
                "idma_copy: expected contiguous tensors of one dtype and size");
  if (src.nbytes() > 0 && src.const_data_ptr() != out.const_data_ptr()) {
    std::memmove(out.mutable_data_ptr(), src.const_data_ptr(), src.nbytes());
  }
  return out;
}

Tensor& idma_wait_out(KernelRuntimeContext& context, const Tensor& src, int64_t task_num,
                      Tensor& out) {
  return idma_copy_out(context, src, task_num, 0, out);
}

}  // namespace impl::generic::native
