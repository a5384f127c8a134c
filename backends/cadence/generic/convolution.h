// SPDX-License-Identifier: BSD-3-Clause
// Sizes and places of convolutions of up to three dimensions, channels first or last.
#pragma once

#include <executorch/backends/cadence/generic/quantized_values.h>

namespace executorch::backends::cadence {

// A tensor of an image or of weights: where the element of [first, channel, spatial...] lies. Fewer
// than three spatial dimensions stand at the end; the others are 1.
struct Layout {
  ssize_t first, channel, spatial[3];

  ssize_t at(ssize_t i, ssize_t c, const int32_t (&place)[3]) const {
    return i * first + c * channel + place[0] * spatial[0] + place[1] * spatial[1] +
           place[2] * spatial[2];
  }
};

// `sizes`: spatial. Channels between the first dimension and the spatial ones, or behind them.
inline Layout layout_of(ssize_t channels, const int32_t (&sizes)[3], bool channels_last) {
  const ssize_t step = channels_last ? channels : 1;
  const ssize_t plane = static_cast<ssize_t>(sizes[0]) * sizes[1] * sizes[2];
  return {plane * channels,
          channels_last ? 1 : plane,
          {sizes[1] * sizes[2] * step, sizes[2] * step, step}};
}

struct Convolution {
  int32_t rank, batch, inputs, outputs, groups;
  int32_t image[3], kernel[3], placed[3], stride[3], padding[3], dilation[3];
  // Of a transposed one: the input with stride - 1 zeros between its elements, whose padding is
  // `edge`, and stride 1.
  bool transposed;
  int32_t edge[3];
  Layout input, weight, out;

  // Where the element below a place of the kernel lies; false outside of the image, and between
  // elements.
  bool source(const int32_t (&place)[3], const int32_t (&tap)[3], int32_t (&found)[3]) const {
    for (int32_t i = 0; i < 3; ++i) {
      if (transposed) {
        const int32_t spread = place[i] + tap[i] * dilation[i] - edge[i];
        if (spread < 0 || spread % stride[i] != 0) {
          return false;
        }
        found[i] = spread / stride[i];
      } else {
        found[i] = place[i] * stride[i] - padding[i] + tap[i] * dilation[i];
      }
      if (found[i] < 0 || found[i] >= image[i]) {
        return false;
      }
    }
    return true;
  }
};

// Calls `run` with each place of three dimensions, the last one fastest.
template <typename Run>
void for_each_place(const int32_t (&sizes)[3], Run&& run) {
  int32_t place[3];
  for (place[0] = 0; place[0] < sizes[0]; ++place[0]) {
    for (place[1] = 0; place[1] < sizes[1]; ++place[1]) {
      for (place[2] = 0; place[2] < sizes[2]; ++place[2]) {
        run(place);
      }
    }
  }
}

// The arguments that say how a kernel moves; lists of one value hold for all dimensions.
struct Movement {
  ArrayRef<int64_t> stride, padding, dilation;
  int64_t groups;
  bool channels_last = false;
  bool transposed = false;
  ArrayRef<int64_t> output_padding = {};
};

inline bool fill(ArrayRef<int64_t> values, int32_t rank, int64_t least, int32_t absent,
                 int32_t (&made)[3]) {
  made[0] = made[1] = made[2] = absent;
  const auto count = int32(static_cast<int64_t>(values.size()));
  if (count != rank && count != 1) {
    return false;
  }
  for (int32_t i = 0; i < rank; ++i) {
    const int64_t value = values[static_cast<size_t>(count == 1 ? 0 : i)];
    if (value < least || value > 32767) {
      return false;
    }
    made[3 - rank + i] = int32(value);
  }
  return true;
}

// Spatial sizes of an image [N, C, ...], or of weights [outputs, inputs of a group, ...].
inline void fill_spatial(const Tensor& tensor, int32_t rank, ssize_t start, int32_t (&made)[3]) {
  made[0] = made[1] = made[2] = 1;
  for (int32_t i = 0; i < rank; ++i) {
    made[3 - rank + i] = int32(tensor.size(start + i));
  }
}

inline bool fill_placed(const Movement& movement, Convolution& made) {
  int32_t extra[3] = {0, 0, 0};
  if (made.transposed && !fill(movement.output_padding, made.rank, 0, 0, extra)) {
    return false;
  }
  for (int32_t i = 0; i < 3; ++i) {
    const int64_t reach = static_cast<int64_t>(made.dilation[i]) * (made.kernel[i] - 1);
    made.edge[i] = int32(reach) - made.padding[i];
    const int64_t room = static_cast<int64_t>(made.image[i]) + 2 * made.padding[i] - reach - 1;
    const int64_t grown = static_cast<int64_t>(made.image[i] - 1) * made.stride[i] + reach + 1 +
                          extra[i] - 2 * made.padding[i];
    const int64_t size = made.transposed ? grown : (room < 0 ? 0 : room / made.stride[i] + 1);
    if (size < 1 || size > INT32_MAX) {
      return false;
    }
    made.placed[i] = int32(size);
  }
  return true;
}

// False where sizes do not belong together. Weights [outputs, inputs of a group, kernel...], or
// with channels last; a depthwise one may be [kernel..., outputs]. Of a transposed one: [outputs of
// a group, inputs, kernel...].
inline bool make_convolution(const Tensor& input, const Tensor& weight, const Movement& movement,
                             Convolution& made) {
  const ssize_t dims = input.dim();
  made.rank = int32(dims - 2);
  const bool is_last = movement.channels_last;
  const bool is_short = is_last && weight.dim() == dims - 1;
  made.transposed = movement.transposed;
  if (made.rank < 1 || made.rank > 3 || (weight.dim() != dims && !is_short) ||
      !fill(movement.stride, made.rank, 1, 1, made.stride) ||
      !fill(movement.padding, made.rank, 0, 0, made.padding) ||
      !fill(movement.dilation, made.rank, 1, 1, made.dilation)) {
    return false;
  }
  made.batch = int32(input.size(0));
  made.inputs = int32(input.size(is_last ? dims - 1 : 1));
  fill_spatial(input, made.rank, is_last ? 1 : 2, made.image);
  fill_spatial(weight, made.rank, is_short ? 0 : (is_last ? 1 : 2), made.kernel);
  const auto depth = int32(is_short ? 1 : weight.size(is_last ? dims - 1 : 1));
  const auto first = int32(weight.size(is_short ? weight.dim() - 1 : 0));
  if (movement.groups < 1 || movement.groups > made.inputs || made.inputs % movement.groups != 0) {
    return false;
  }
  made.groups = int32(movement.groups);
  made.outputs = made.transposed ? first * made.groups : first;
  const bool fits = made.transposed ? depth == made.inputs
                                    : static_cast<int64_t>(depth) * made.groups == made.inputs;
  if (!fits || made.outputs % made.groups != 0 || !fill_placed(movement, made)) {
    return false;
  }
  made.input = layout_of(made.inputs, made.image, is_last);
  made.out = layout_of(made.outputs, made.placed, is_last);
  made.weight = layout_of(depth, made.kernel, is_last);
  if (is_short) {  // as if its channels were the outputs
    made.weight = layout_of(first, made.kernel, true);
    made.weight.first = 1;
    made.weight.channel = 0;
  }
  return true;
}

inline bool take_convolution_size(const Convolution& made, bool channels_last, Tensor& out) {
  Sizes sizes;
  sizes.add(made.batch);
  if (!channels_last) {
    sizes.add(made.outputs);
  }
  for (int32_t i = 3 - made.rank; i < 3; ++i) {
    sizes.add(made.placed[i]);
  }
  if (channels_last) {
    sizes.add(made.outputs);
  }
  return sizes.take(out);
}

}  // namespace executorch::backends::cadence
