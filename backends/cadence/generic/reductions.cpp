// SPDX-License-Identifier: BSD-3-Clause
// What looks at several values for one: pools, norms, softmax.
#include <executorch/backends/cadence/CustomOpsNativeFunctions.h>
#include <executorch/backends/cadence/generic/quantized_values.h>

namespace impl::generic::native {

using namespace executorch::backends::cadence;
using executorch::aten::optional;

// ---- Pools ----

namespace {

// A pool of images [N, C, H, W], or [N, H, W, C].
struct Pool {
  int64_t batch, channels, size[2], placed[2];
  int64_t kernel[2], stride[2], padding[2], dilation[2];
  bool channels_last;

  int64_t at(const int64_t (&sizes)[2], int64_t n, int64_t c, int64_t y, int64_t x) const {
    return channels_last ? ((n * sizes[0] + y) * sizes[1] + x) * channels + c
                         : ((n * channels + c) * sizes[0] + y) * sizes[1] + x;
  }
};

struct PoolArguments {
  ArrayRef<int64_t> kernel, stride, padding, dilation;
  bool ceil_mode, channels_last;
};

// One value holds for both dimensions.
bool fill_pair(ArrayRef<int64_t> values, int64_t least, int64_t absent, int64_t (&made)[2]) {
  for (size_t i = 0; i < 2; ++i) {
    made[i] = values.empty() ? absent : values[values.size() == 1 ? 0 : i];
    if (made[i] < least || made[i] > 32767) {
      return false;
    }
  }
  return values.size() <= 2;
}

// A window that begins behind the image and its padding is left out.
int64_t placed(int64_t size, const Pool& pool, int i, bool ceil_mode) {
  const int64_t reach = pool.dilation[i] * (pool.kernel[i] - 1) + 1;
  const int64_t room = size + 2 * pool.padding[i] - reach;
  if (room < 0) {
    return 0;
  }
  const int64_t count = (room + (ceil_mode ? pool.stride[i] - 1 : 0)) / pool.stride[i] + 1;
  const bool begins_behind = (count - 1) * pool.stride[i] >= size + pool.padding[i];
  return ceil_mode && begins_behind ? count - 1 : count;
}

bool make_pool(const Tensor& input, const PoolArguments& arguments, Pool& made) {
  if (input.dim() != 4 || !fill_pair(arguments.kernel, 1, 1, made.kernel) ||
      !fill_pair(arguments.dilation, 1, 1, made.dilation) ||
      !fill_pair(arguments.padding, 0, 0, made.padding)) {
    return false;
  }
  if (arguments.stride.empty()) {
    made.stride[0] = made.kernel[0];
    made.stride[1] = made.kernel[1];
  } else if (!fill_pair(arguments.stride, 1, 1, made.stride)) {
    return false;
  }
  made.channels_last = arguments.channels_last;
  made.batch = input.size(0);
  made.channels = input.size(made.channels_last ? 3 : 1);
  for (int i = 0; i < 2; ++i) {
    if (2 * made.padding[i] > made.kernel[i]) {
      return false;
    }
    made.size[i] = input.size((made.channels_last ? 1 : 2) + i);
    made.placed[i] = placed(made.size[i], made, i, arguments.ceil_mode);
  }
  return made.placed[0] > 0 && made.placed[1] > 0;
}

bool take_pool_size(const Pool& pool, Tensor& out) {
  Sizes sizes;
  sizes.add(pool.batch);
  if (!pool.channels_last) {
    sizes.add(pool.channels);
  }
  sizes.add(pool.placed[0]);
  sizes.add(pool.placed[1]);
  if (pool.channels_last) {
    sizes.add(pool.channels);
  }
  return sizes.take(out);
}

// Calls `run(from, to, y, x)` for each place of a result: `from` gives the element of the input at
// a row and a column.
template <typename Run>
void for_each_window(const Pool& pool, Run&& run) {
  for (int64_t n = 0; n < pool.batch; ++n) {
    for (int64_t c = 0; c < pool.channels; ++c) {
      for (int64_t y = 0; y < pool.placed[0]; ++y) {
        for (int64_t x = 0; x < pool.placed[1]; ++x) {
          const auto from = [&](int64_t row, int64_t column) {
            return pool.at(pool.size, n, c, row, column);
          };
          run(from, pool.at(pool.placed, n, c, y, x), y * pool.stride[0] - pool.padding[0],
              x * pool.stride[1] - pool.padding[1]);
        }
      }
    }
  }
}

// Calls `read` with the elements of a window that are in the image.
template <typename From, typename Read>
void for_each_element(const Pool& pool, From&& from, int64_t row, int64_t column, Read&& read) {
  for (int64_t i = 0; i < pool.kernel[0]; ++i) {
    const int64_t y = row + i * pool.dilation[0];
    for (int64_t j = 0; j < pool.kernel[1] && y >= 0 && y < pool.size[0]; ++j) {
      const int64_t x = column + j * pool.dilation[1];
      if (x >= 0 && x < pool.size[1]) {
        read(from(y, x));
      }
    }
  }
}

Tensor& max_pool(KernelRuntimeContext& context, const Tensor& input, const PoolArguments& arguments,
                 Tensor& out) {
  Pool pool{};
  CADENCE_CHECK(out.scalar_type() == input.scalar_type() && is_contiguous(input) &&
                    make_pool(input, arguments, pool) && take_pool_size(pool, out),
                "quantized_max_pool2d: expected a contiguous image that the kernel fits into");
  const bool is_known = with_integer_type(input.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const T* values = input.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    for_each_window(pool, [&](auto from, int64_t place, int64_t row, int64_t column) {
      T largest = std::numeric_limits<T>::min();
      for_each_element(pool, from, row, column, [&](int64_t element) {
        largest = values[element] > largest ? values[element] : largest;
      });
      to[place] = largest;
    });
  });
  CADENCE_CHECK(is_known, "quantized_max_pool2d: expected int8, uint8 or int16");
  return out;
}

// How many elements a mean is of: of the window with its padding, or of those in the image.
int64_t divisor(const Pool& pool, int64_t row, int64_t column, int64_t inside, bool with_padding) {
  if (!with_padding) {
    return inside;
  }
  const int64_t bottom = row + pool.kernel[0], right = column + pool.kernel[1];
  const int64_t last_row = pool.size[0] + pool.padding[0];
  const int64_t last_column = pool.size[1] + pool.padding[1];
  return ((bottom < last_row ? bottom : last_row) - row) *
         ((right < last_column ? right : last_column) - column);
}

struct Mean {
  bool with_padding;
  int64_t divisor;  // 0: as many as the window has
};

template <typename T, typename Store>
void run_average(const Pool& pool, const Mean& mean, const T* values, int64_t zero_point,
                 Store&& store) {
  for_each_window(pool, [&](auto from, int64_t place, int64_t row, int64_t column) {
    double total = 0;
    int64_t inside = 0;
    for_each_element(pool, from, row, column, [&](int64_t element) {
      total += static_cast<double>(values[element]) - static_cast<double>(zero_point);
      ++inside;
    });
    const int64_t of =
        mean.divisor != 0 ? mean.divisor : divisor(pool, row, column, inside, mean.with_padding);
    store(place, total / static_cast<double>(of));
  });
}

}  // namespace

Tensor& quantized_max_pool2d_nchw_out(KernelRuntimeContext& context, const Tensor& input,
                                      ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                      ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                      bool ceil_mode, Tensor& out) {
  return max_pool(context, input, {kernel_size, stride, padding, dilation, ceil_mode, false}, out);
}

Tensor& quantized_max_pool2d_nhwc_out(KernelRuntimeContext& context, const Tensor& input,
                                      ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                                      ArrayRef<int64_t> padding, ArrayRef<int64_t> dilation,
                                      bool ceil_mode, Tensor& out) {
  return max_pool(context, input, {kernel_size, stride, padding, dilation, ceil_mode, true}, out);
}

Tensor& avg_pool2d_out(KernelRuntimeContext& context, const Tensor& input,
                       ArrayRef<int64_t> kernel_size, ArrayRef<int64_t> stride,
                       ArrayRef<int64_t> padding, bool ceil_mode, bool count_include_pad,
                       optional<int64_t> divisor_override, const optional<Tensor>& in_zero_point,
                       bool channel_last, Tensor& out) {
  Pool pool{};
  CADENCE_CHECK(
      out.scalar_type() == input.scalar_type() && is_contiguous(input) &&
          (!in_zero_point.has_value() || has_integers(*in_zero_point, 1)) &&
          make_pool(input, {kernel_size, stride, padding, {}, ceil_mode, channel_last}, pool) &&
          take_pool_size(pool, out),
      "avg_pool2d: expected a contiguous image that the kernel fits into");
  const int64_t zero_point = in_zero_point.has_value() ? integer_at(*in_zero_point, 0) : 0;
  const Mean mean{count_include_pad, divisor_override.value_or(0)};
  if (input.scalar_type() == ScalarType::Float) {
    float* to = out.mutable_data_ptr<float>();
    run_average(pool, mean, input.const_data_ptr<float>(), zero_point,
                [&](int64_t place, double value) { to[place] = static_cast<float>(value); });
    return out;
  }
  const bool is_known = with_integer_type(input.scalar_type(), [&](auto type) {
    using T = decltype(type);
    T* to = out.mutable_data_ptr<T>();
    const double least = std::numeric_limits<T>::min(), largest = std::numeric_limits<T>::max();
    run_average(pool, mean, input.const_data_ptr<T>(), zero_point,
                [&](int64_t place, double value) {
                  const double steps = std::nearbyint(value) + static_cast<double>(zero_point);
                  to[place] = static_cast<T>(std::fmin(std::fmax(steps, least), largest));
                });
  });
  CADENCE_CHECK(is_known, "avg_pool2d: expected float32, int8, uint8 or int16");
  return out;
}

// ---- Norms ----

namespace {

template <typename T>
struct LayerNorm {
  Scaled real;
  float eps;
  const float* weight;
  const float* bias;
  Quantizer store;

  void row(const T* x, int64_t count, T* to) const {
    int64_t total = 0, squares = 0;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t step = x[i] - real.zero_point;
      total += step;
      squares += step * step;
    }
    const double scale = real.scale, size = static_cast<double>(count);
    const double spread = size * static_cast<double>(squares) -
                          static_cast<double>(total) * static_cast<double>(total);
    const auto mean = static_cast<float>(scale * static_cast<double>(total) / size);
    const auto variance = static_cast<float>(scale * scale * spread / (size * size));
    const float deviation = std::sqrt(variance + eps);
    for (int64_t i = 0; i < count; ++i) {
      const float norm = (real(x[i]) - mean) / deviation;
      to[i] = store.operator()<T>(norm * weight[i] + bias[i]);
    }
  }
};

}  // namespace

Tensor& quantized_layer_norm_per_tensor_out(KernelRuntimeContext& context, const Tensor& input,
                                            double in_scale, int64_t in_zero_point,
                                            ArrayRef<int64_t> normalized_shape,
                                            const Tensor& weight, const Tensor& bias, double eps,
                                            double output_scale, int64_t output_zero_point,
                                            Tensor& out) {
  int64_t count = 1;
  for (const int64_t size : normalized_shape) {
    count *= size;
  }
  CADENCE_CHECK(weight.scalar_type() == ScalarType::Float && weight.numel() == count &&
                    bias.scalar_type() == ScalarType::Float && bias.numel() == count && count > 0 &&
                    input.numel() % count == 0,
                "quantized_layer_norm: expected a weight and a bias of float32 of each value of "
                "the last dimensions");
  CADENCE_CHECK(out.scalar_type() == input.scalar_type() && take_size_of(out, input),
                "quantized_layer_norm: expected contiguous tensors of one dtype and size");
  const bool is_known = with_integer_type(input.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const LayerNorm<T> norm{{static_cast<float>(in_scale), in_zero_point},
                            static_cast<float>(eps),
                            weight.const_data_ptr<float>(),
                            bias.const_data_ptr<float>(),
                            Quantizer::of_scale<T>(output_scale, output_zero_point)};
    for (int64_t i = 0; i < out.numel(); i += count) {
      norm.row(input.const_data_ptr<T>() + i, count, out.mutable_data_ptr<T>() + i);
    }
  });
  CADENCE_CHECK(is_known, "quantized_layer_norm: expected int8, uint8 or int16");
  return out;
}

Tensor& quantized_layer_norm_out(KernelRuntimeContext& context, const Tensor& input,
                                 const Tensor& in_scale, const Tensor& in_zero_point,
                                 ArrayRef<int64_t> normalized_shape, const Tensor& weight,
                                 const Tensor& bias, double eps, double output_scale,
                                 int64_t output_zero_point, Tensor& out) {
  CADENCE_CHECK(has_number(in_scale) && has_integers(in_zero_point, 1),
                "quantized_layer_norm: expected tensors of one scale and of one zero point");
  return quantized_layer_norm_per_tensor_out(context, input, number_of(in_scale),
                                             integer_at(in_zero_point, 0), normalized_shape, weight,
                                             bias, eps, output_scale, output_zero_point, out);
}

// ---- Softmax ----

namespace {

// The largest of `count` values and the sum of exp(value - largest).
template <typename Read>
void softmax_of(int64_t count, Read&& read, float& largest, float& total) {
  largest = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < count; ++i) {
    largest = std::fmax(largest, read(i));
  }
  total = 0;
  for (int64_t i = 0; i < count; ++i) {
    total += std::exp(read(i) - largest);
  }
}

}  // namespace

Tensor& _softmax_f32_f32_out(KernelRuntimeContext& context, const Tensor& self, int64_t dim,
                             optional<bool> /*half_to_float*/, Tensor& out) {
  const int64_t rank = self.dim(), place = dim < 0 ? dim + rank : dim;
  CADENCE_CHECK(self.scalar_type() == ScalarType::Float && out.scalar_type() == ScalarType::Float &&
                    place >= 0 && place < rank && take_size_of(out, self),
                "_softmax_f32_f32: expected contiguous float32 tensors with that dimension");
  int64_t step = 1;
  for (int64_t i = place + 1; i < rank; ++i) {
    step *= self.size(i);
  }
  const int64_t count = self.size(place);
  const float* from = self.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i) {
    if (i / step % count != 0) {
      continue;
    }
    float largest = 0, total = 0;
    softmax_of(count, [&](int64_t j) { return from[i + j * step]; }, largest, total);
    for (int64_t j = 0; j < count; ++j) {
      to[i + j * step] = std::exp(from[i + j * step] - largest) / total;
    }
  }
  return out;
}

Tensor& quantized_softmax_per_tensor_out(KernelRuntimeContext& context, const Tensor& input,
                                         const Tensor& /*mask*/, int64_t dim, int64_t mask_type,
                                         const Tensor& pos, double in_scale, int64_t in_zero_point,
                                         double out_scale, int64_t out_zero_point, Tensor& out) {
  const int64_t rank = input.dim();
  CADENCE_CHECK(
      (dim == -1 || dim == rank - 1) && rank >= (mask_type == 1 ? 2 : 1) &&
          (mask_type == 0 || mask_type == 1) && is_integers(pos) && pos.numel() >= 1,
      "quantized_softmax: expected the last dimension, a mask type of 0 or 1, a position");
  CADENCE_CHECK(out.scalar_type() == input.scalar_type() && take_size_of(out, input),
                "quantized_softmax: expected contiguous tensors of one dtype and size");
  const int64_t width = input.size(rank - 1), rows = rank > 1 ? input.size(rank - 2) : 1;
  const Scaled real{static_cast<float>(in_scale), in_zero_point};
  const bool is_known = with_integer_type(input.scalar_type(), [&](auto type) {
    using T = decltype(type);
    const Quantizer store = Quantizer::of_scale<T>(out_scale, out_zero_point);
    const T* from = input.const_data_ptr<T>();
    T* to = out.mutable_data_ptr<T>();
    for (int64_t start = 0; start < out.numel(); start += width) {
      const int64_t seen = integer_at(pos, 0) + start / width % rows + 1;
      const int64_t most = mask_type == 1 ? (seen < 0 ? 0 : (seen < width ? seen : width)) : width;
      float largest = 0, total = 0;
      softmax_of(most, [&](int64_t i) { return real(from[start + i]); }, largest, total);
      for (int64_t i = 0; i < width; ++i) {
        const float share = i < most ? std::exp(real(from[start + i]) - largest) / total : 0;
        to[start + i] = store.operator()<T>(share);
      }
    }
  });
  CADENCE_CHECK(is_known, "quantized_softmax: expected int8, uint8 or int16");
  return out;
}

Tensor& quantized_softmax_out(KernelRuntimeContext& context, const Tensor& input,
                              const Tensor& mask, int64_t dim, int64_t mask_type, const Tensor& pos,
                              const Tensor& in_scale, const Tensor& in_zero_point,
                              const Tensor& out_scale, const Tensor& out_zero_point, Tensor& out) {
  CADENCE_CHECK(has_number(in_scale) && has_integers(in_zero_point, 1) && has_number(out_scale) &&
                    has_integers(out_zero_point, 1),
                "quantized_softmax: expected tensors of one scale and of one zero point");
  return quantized_softmax_per_tensor_out(context, input, mask, dim, mask_type, pos,
                                          number_of(in_scale), integer_at(in_zero_point, 0),
                                          number_of(out_scale), integer_at(out_zero_point, 0), out);
}

}  // namespace impl::generic::native
