// SPDX-License-Identifier: BSD-3-Clause
// Normalisations over rows: layer norm, group norm.
#include <executorch/kernels/portable/norm/norm.h>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <tuple>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

struct Moments {
  double mean;
  double rstd;
};

// Mean and 1 / sqrt(variance + eps) of a dense row.
template <typename C>
Moments row_moments(const StridedReader<C>& in, int64_t offset, int64_t length, double eps) {
  C buffer[kChunk];
  double sum = 0;
  for (int64_t begin = 0; begin < length; begin += kChunk) {
    const int64_t n = std::min(kChunk, length - begin);
    const C* x = in.read(offset + begin, 1, n, buffer);
    sum += lane_sum<C>(n, [x](int64_t i) { return x[i]; });
  }
  const double mean = length == 0 ? 0.0 : sum / static_cast<double>(length);
  double squares = 0;
  for (int64_t begin = 0; begin < length; begin += kChunk) {
    const int64_t n = std::min(kChunk, length - begin);
    const C* x = in.read(offset + begin, 1, n, buffer);
    const C center = static_cast<C>(mean);
    squares += lane_sum<C>(n, [x, center](int64_t i) { return (x[i] - center) * (x[i] - center); });
  }
  return {mean, 1.0 / std::sqrt(squares / static_cast<double>(length) + eps)};
}

// out = in * scale + shift over a dense line.
template <typename C>
void scale_line(const StridedReader<C>& in, const StridedWriter<C>& out, int64_t start,
                int64_t length, C scale, C shift) {
  C buffer[kChunk];
  C y[kChunk];
  for (int64_t begin = 0; begin < length; begin += kChunk) {
    const int64_t n = std::min(kChunk, length - begin);
    const C* x = in.read(start + begin, 1, n, buffer);
    for (int64_t i = 0; i < n; ++i) {
      y[i] = x[i] * scale + shift;
    }
    out.write(start + begin, 1, n, y);
  }
}

bool check_dense(const OpCall& call, const Tensor& self, const Tensor& out) {
  ET_KERNEL_CHECK_MSG(call.ctx, is_row_major(self) && is_row_major(out), InvalidArgument, false,
                      "%s: expected self and out in row-major order, found another order", call.op);
  return true;
}

// weight or bias of a piece of a row; `absent` where there is none.
template <typename C>
class Affine {
 public:
  Affine(const std::optional<Tensor>& tensor, const Tensor& stand_in, C absent)
      : reader_(tensor.has_value() ? *tensor : stand_in), present_(tensor.has_value()) {
    std::fill_n(buffer_, kChunk, absent);
  }
  const C* piece(int64_t offset, int64_t n) {
    return present_ ? reader_.read(offset, 1, n, buffer_) : buffer_;
  }

 private:
  StridedReader<C> reader_;
  bool present_;
  C buffer_[kChunk];
};

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> native_layer_norm_out(
    KernelRuntimeContext& ctx, const Tensor& input, IntArrayRef normalized_shape,
    const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, double eps,
    Tensor& out0, Tensor& out1, Tensor& out2) {
  const OpCall call{ctx, "native_layer_norm.out"};
  const std::tuple<Tensor&, Tensor&, Tensor&> result{out0, out1, out2};
  const int64_t lead = input.dim() - static_cast<int64_t>(normalized_shape.size());
  ET_KERNEL_CHECK_MSG(
      ctx, lead >= 0 && normalized_shape.size() > 0, InvalidArgument, result,
      "native_layer_norm.out: expected 1 to %d entries of normalized_shape, found %zu",
      static_cast<int>(input.dim()), normalized_shape.size());
  Shape statistics(input);
  int64_t length = 1;
  for (size_t i = 0; i < normalized_shape.size(); ++i) {
    const int64_t size = input.sizes()[lead + i];
    ET_KERNEL_CHECK_MSG(ctx, normalized_shape[i] == size, InvalidArgument, result,
                        "native_layer_norm.out: expected normalized_shape to end input's shape, "
                        "found at %zu %" PRId64 " for %" PRId64,
                        i, static_cast<int64_t>(normalized_shape[i]), size);
    length *= size;
    statistics.sizes[lead + i] = 1;
  }
  if (!check_floating(call, "input", input) ||
      !check_same_dtype(call, "out0", out0, "input", input) ||
      !check_floating(call, "out1", out1) || !check_floating(call, "out2", out2) ||
      !check_affine(call, "weight", weight, length) || !check_affine(call, "bias", bias, length) ||
      !resize_output(call, out0, Shape(input)) || !resize_output(call, out1, statistics) ||
      !resize_output(call, out2, statistics) || !check_dense(call, input, out0)) {
    return result;
  }
  const int64_t rows = length == 0 ? 0 : input.numel() / length;
  with_float_compute_type(compute_type_of(input.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> in(input);
    const StridedWriter<C> out(out0);
    const StridedWriter<C> means(out1);
    const StridedWriter<C> rstds(out2);
    const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, length));
    ::executorch::extension::parallel_for(0, rows, grain, [&](int64_t first, int64_t last) {
      Affine<C> scale(weight, input, C(1));
      Affine<C> shift(bias, input, C(0));
      C buffer[kChunk];
      C y[kChunk];
      for (int64_t row = first; row < last; ++row) {
        const Moments moments = row_moments<C>(in, row * length, length, eps);
        const C mean = static_cast<C>(moments.mean);
        const C rstd = static_cast<C>(moments.rstd);
        for (int64_t begin = 0; begin < length; begin += kChunk) {
          const int64_t n = std::min(kChunk, length - begin);
          const C* x = in.read(row * length + begin, 1, n, buffer);
          const C* w = scale.piece(begin, n);
          const C* b = shift.piece(begin, n);
          for (int64_t i = 0; i < n; ++i) {
            y[i] = (x[i] - mean) * rstd * w[i] + b[i];
          }
          out.write(row * length + begin, 1, n, y);
        }
        means.put(row, mean);
        rstds.put(row, rstd);
      }
    });
  });
  return result;
}

std::tuple<Tensor&, Tensor&, Tensor&> native_group_norm_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps,
    Tensor& out0, Tensor& out1, Tensor& out2) {
  const OpCall call{ctx, "native_group_norm.out"};
  const std::tuple<Tensor&, Tensor&, Tensor&> result{out0, out1, out2};
  ET_KERNEL_CHECK_MSG(ctx,
                      group > 0 && C % group == 0 && HxW >= 0 && N >= 0 && C >= 0 &&
                          ((input.numel() == 0 && (N == 0 || C == 0 || HxW == 0)) ||
                           (input.dim() >= 2 && N == input.sizes()[0] && C == input.sizes()[1] &&
                            input.numel() / (N * C) == HxW)),
                      InvalidArgument, result,
                      "native_group_norm.out: expected N, C, HxW and group that fit input, found "
                      "%" PRId64 ", %" PRId64 ", %" PRId64 " and %" PRId64,
                      N, C, HxW, group);
  Shape statistics;
  statistics.push(N);
  statistics.push(group);
  if (!check_floating(call, "input", input) ||
      !check_same_dtype(call, "out0", out0, "input", input) ||
      !check_floating(call, "out1", out1) || !check_floating(call, "out2", out2) ||
      !check_affine(call, "weight", weight, C) || !check_affine(call, "bias", bias, C) ||
      !resize_output(call, out0, Shape(input)) || !resize_output(call, out1, statistics) ||
      !resize_output(call, out2, statistics) || !check_dense(call, input, out0)) {
    return result;
  }
  const int64_t channels = C / group;
  const int64_t length = channels * HxW;
  with_float_compute_type(compute_type_of(input.scalar_type()), [&](auto zero) {
    using V = decltype(zero);
    const StridedReader<V> in(input);
    const StridedWriter<V> out(out0);
    const StridedReader<V> weights(weight.has_value() ? *weight : input);
    const StridedReader<V> biases(bias.has_value() ? *bias : input);
    const StridedWriter<V> means(out1);
    const StridedWriter<V> rstds(out2);
    const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, length));
    ::executorch::extension::parallel_for(0, N * group, grain, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        const Moments moments = row_moments<V>(in, row * length, length, eps);
        for (int64_t c = 0; c < channels; ++c) {
          const int64_t channel = row % group * channels + c;
          const V w = weight.has_value() ? weights.at(channel) : V(1);
          const V b = bias.has_value() ? biases.at(channel) : V(0);
          const V scale = static_cast<V>(moments.rstd) * w;
          const V shift = b - static_cast<V>(moments.mean) * scale;
          scale_line(in, out, row * length + c * HxW, HxW, scale, shift);
        }
        means.put(row, static_cast<V>(moments.mean));
        rstds.put(row, static_cast<V>(moments.rstd));
      }
    });
  });
  return result;
}

}  // namespace torch::executor::native
