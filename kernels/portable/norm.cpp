// SPDX-License-Identifier: BSD-3-Clause
// Normalisations: over rows (layer norm, group norm) and over all but the channels (batch norm).
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/lines.h>
#include <executorch/kernels/portable/loops/strided.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <tuple>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;
using ::executorch::aten::TensorImpl;

namespace {

struct Moments {
  double mean;
  double rstd;
};

// Mean and 1 / sqrt(variance + eps) of a dense row.
template <typename C>
Moments row_moments(const LineReader<C>& in, int64_t offset, int64_t length, double eps) {
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
void scale_line(const LineReader<C>& in, const LineWriter<C>& out, int64_t start, int64_t length,
                C scale, C shift) {
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

bool check_affine(const OpCall& call, const char* name, const std::optional<Tensor>& tensor,
                  int64_t numel) {
  if (!tensor.has_value()) {
    return true;
  }
  ET_KERNEL_CHECK_MSG(call.ctx, tensor->numel() == numel && is_row_major(*tensor), InvalidArgument,
                      false, "%s: expected %s to have %" PRId64 " elements, found %" PRId64,
                      call.op, name, numel, static_cast<int64_t>(tensor->numel()));
  return check_computable(call, name, *tensor);
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
  LineReader<C> reader_;
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
    const LineReader<C> in(input);
    const LineWriter<C> out(out0);
    const LineWriter<C> means(out1);
    const LineWriter<C> rstds(out2);
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
    const LineReader<V> in(input);
    const LineWriter<V> out(out0);
    const LineReader<V> weights(weight.has_value() ? *weight : input);
    const LineReader<V> biases(bias.has_value() ? *bias : input);
    const LineWriter<V> means(out1);
    const LineWriter<V> rstds(out2);
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

namespace {

struct BatchNorm {
  const Tensor& input;
  const std::optional<Tensor>& weight;
  const std::optional<Tensor>& bias;
  double eps;
  int64_t channels;
};

// Without training, an empty batch asks for nothing but outputs of its shape; a batch without
// channels, for parameters of its own dtype.
bool is_empty_inference(const OpCall& call, const BatchNorm& norm, const Tensor& running_mean,
                        Tensor& out) {
  const ScalarType type = norm.input.scalar_type();
  const bool same_types = running_mean.scalar_type() == type &&
                          (!norm.weight.has_value() || norm.weight->scalar_type() == type) &&
                          (!norm.bias.has_value() || norm.bias->scalar_type() == type);
  return norm.input.numel() == 0 && (norm.input.dim() >= 2 || same_types) &&
         check_same_dtype(call, "out", out, "input", norm.input) &&
         resize_output(call, out, Shape(norm.input));
}

bool check_batch_norm(const OpCall& call, const BatchNorm& norm, Tensor& out) {
  ET_KERNEL_CHECK_MSG(call.ctx, norm.input.dim() >= 2, InvalidArgument, false,
                      "%s: expected at least 2 dims for input, found %d", call.op,
                      static_cast<int>(norm.input.dim()));
  return check_floating(call, "input", norm.input) &&
         check_same_dtype(call, "out", out, "input", norm.input) &&
         check_affine(call, "weight", norm.weight, norm.channels) &&
         check_affine(call, "bias", norm.bias, norm.channels) &&
         resize_output(call, out, Shape(norm.input));
}

// out = input * scale + shift per channel; `mean(c)` and `rstd(c)` are doubles.
template <typename Mean, typename Rstd>
void apply_batch_norm(const OpCall& call, const BatchNorm& norm, const Mean& mean, const Rstd& rstd,
                      Tensor& out) {
  with_float_compute_type(compute_type_of(norm.input.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const size_t bytes = 2 * sizeof(C) * static_cast<size_t>(norm.channels > 0 ? norm.channels : 1);
    const auto memory = call.ctx.allocate_temp(bytes, sizeof(C));
    ET_KERNEL_CHECK_MSG(call.ctx, memory.ok(), MemoryAllocationFailed, ,
                        "%s: no temporary memory for %zu bytes of scales", call.op, bytes);
    C* scales = static_cast<C*>(memory.get());
    C* shifts = scales + norm.channels;
    const LineReader<C> weights(norm.weight.has_value() ? *norm.weight : norm.input);
    const LineReader<C> biases(norm.bias.has_value() ? *norm.bias : norm.input);
    for (int64_t c = 0; c < norm.channels; ++c) {
      const double w = norm.weight.has_value() ? weights.at(c) : 1.0;
      const double b = norm.bias.has_value() ? biases.at(c) : 0.0;
      scales[c] = static_cast<C>(rstd(c) * w);
      shifts[c] = static_cast<C>(b - mean(c) * rstd(c) * w);
    }
    // Both as tensors of shape (channels, 1, ...), which broadcast to the input.
    TensorImpl::SizesType sizes[Shape::kMaxDims];
    TensorImpl::DimOrderType order[Shape::kMaxDims];
    TensorImpl::StridesType strides[Shape::kMaxDims];
    const int rank = static_cast<int>(norm.input.dim()) - 1;
    for (int d = 0; d < rank; ++d) {
      sizes[d] = d == 0 ? static_cast<TensorImpl::SizesType>(norm.channels) : 1;
      order[d] = static_cast<TensorImpl::DimOrderType>(d);
      strides[d] = 1;
    }
    const ScalarType type = sizeof(C) == sizeof(float) ? ScalarType::Float : ScalarType::Double;
    TensorImpl scale_impl(type, rank, sizes, scales, order, strides);
    TensorImpl shift_impl(type, rank, sizes, shifts, order, strides);
    constexpr ComputeType kType = compute_type_v<C>;
    map_elements<C, C, C, C>(
        [](C x, C scale, C shift) { return x * scale + shift; }, out,
        {RangeReader(norm.input, out, kType), RangeReader(Tensor(&scale_impl), out, kType),
         RangeReader(Tensor(&shift_impl), out, kType)});
  });
}

// With given statistics, as inference does.
void normalize_by(const OpCall& call, const BatchNorm& norm, const Tensor& mean, const Tensor& var,
                  Tensor& out) {
  if (!check_affine(call, "running_mean", mean, norm.channels) ||
      !check_affine(call, "running_var", var, norm.channels)) {
    return;
  }
  const LineReader<double> means(mean);
  const LineReader<double> vars(var);
  apply_batch_norm(
      call, norm, [&](int64_t c) { return means.at(c); },
      [&](int64_t c) { return 1.0 / std::sqrt(vars.at(c) + norm.eps); }, out);
}

// The step between neighbours when dimensions [first, ndim) of the view are one run of elements, in
// order; 0 when they are not.
int64_t run_stride(const StridedView& view, int first) {
  int64_t stride = 0;
  int64_t expected = 0;
  for (int d = view.ndim - 1; d >= first; --d) {
    if (view.sizes[d] == 1) {
      continue;
    }
    stride = stride == 0 ? view.strides[d] : stride;
    if (expected != 0 && view.strides[d] != expected) {
      return 0;
    }
    expected = view.strides[d] * view.sizes[d];
  }
  return stride == 0 ? 1 : stride;
}

// The sum of term(x) over all elements of a channel.
template <typename C, typename Term>
double channel_sum(const LineReader<C>& in, const StridedView& view, int64_t start,
                   const Term& term) {
  const int64_t stride = run_stride(view, 2);
  const int64_t plane = view.numel() / std::max<int64_t>(1, view.sizes[0]);
  double sum = 0;
  C buffer[kChunk];
  if (stride != 0) {
    for (int64_t n = 0; n < view.sizes[0]; ++n) {
      for (int64_t i = 0; i < plane; i += kChunk) {
        const int64_t count = std::min(kChunk, plane - i);
        const C* const x = in.read(start + n * view.strides[0] + i * stride, stride, count, buffer);
        sum += lane_sum<double>(count, [&](int64_t k) { return term(x[k]); });
      }
    }
    return sum;
  }
  Odometer<1> odometer(view.ndim, view.sizes);
  odometer.set_strides(0, view.strides);
  for (int64_t i = view.numel(); i > 0; --i, odometer.next()) {
    sum += term(in.at(start + odometer.offset(0)));
  }
  return sum;
}

// Mean and biased variance of one channel.
Moments channel_statistics(const Tensor& input, int64_t channel) {
  const StridedView view = StridedView::of(input).sliced(1, channel, 1);
  const int64_t start = channel * input.strides()[1];
  const int64_t count = view.numel();
  Moments moments{};
  with_float_compute_type(compute_type_of(input.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const LineReader<C> in(input);
    const double mean = channel_sum(in, view, start, [](C x) { return double(x); }) / count;
    const auto square = [mean](C x) { return (x - mean) * (x - mean); };
    moments = {mean, channel_sum(in, view, start, square) / count};
  });
  return moments;
}

// With the batch's own statistics, which are given back; running ones are updated when they are
// there.
void normalize_batch(const OpCall& call, const BatchNorm& norm, Tensor* running_mean,
                     Tensor* running_var, double momentum, Tensor& out, Tensor& save_mean,
                     Tensor& save_invstd) {
  Shape statistics;
  statistics.push(norm.channels);
  if (!check_floating(call, "save_mean", save_mean) ||
      !check_floating(call, "save_invstd", save_invstd) ||
      !resize_output(call, save_mean, statistics) ||
      !resize_output(call, save_invstd, statistics)) {
    return;
  }
  const int64_t count = norm.channels == 0 ? 0 : norm.input.numel() / norm.channels;
  const auto normalize_channel = [&](int64_t c) {
    const Moments moments = channel_statistics(norm.input, c);  // rstd holds the variance here
    LineWriter<double>(save_mean).put(c, moments.mean);
    LineWriter<double>(save_invstd).put(c, 1.0 / std::sqrt(moments.rstd + norm.eps));
    if (running_mean != nullptr && running_var != nullptr) {
      const double unbiased = moments.rstd * count / (count - 1.0);
      const double old_mean = LineReader<double>(*running_mean).at(c);
      const double old_var = LineReader<double>(*running_var).at(c);
      LineWriter<double>(*running_mean).put(c, (1 - momentum) * old_mean + momentum * moments.mean);
      LineWriter<double>(*running_var).put(c, (1 - momentum) * old_var + momentum * unbiased);
    }
  };
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, count));
  ::executorch::extension::parallel_for(0, norm.channels, grain, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      normalize_channel(c);
    }
  });
  const LineReader<double> means(save_mean);
  const LineReader<double> rstds(save_invstd);
  apply_batch_norm(
      call, norm, [&](int64_t c) { return means.at(c); }, [&](int64_t c) { return rstds.at(c); },
      out);
}

int64_t channels_of(const Tensor& input) {
  return input.dim() >= 2 ? input.sizes()[1] : 0;
}

bool empty_statistics(const OpCall& call, Tensor& save_mean, Tensor& save_invstd) {
  Shape none;
  none.push(0);
  return resize_output(call, save_mean, none) && resize_output(call, save_invstd, none);
}

}  // namespace

std::tuple<Tensor&, Tensor&, Tensor&> _native_batch_norm_legit_no_training_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, const Tensor& running_mean, const Tensor& running_var,
    double momentum, double eps, Tensor& out0, Tensor& out1, Tensor& out2) {
  (void)momentum;  // statistics do not change
  const OpCall call{ctx, "_native_batch_norm_legit_no_training.out"};
  const BatchNorm norm{input, weight, bias, eps, channels_of(input)};
  if (is_empty_inference(call, norm, running_mean, out0)) {
    (void)empty_statistics(call, out1, out2);
  } else if (check_batch_norm(call, norm, out0) && empty_statistics(call, out1, out2)) {
    normalize_by(call, norm, running_mean, running_var, out0);
  }
  return {out0, out1, out2};
}

std::tuple<Tensor&, Tensor&, Tensor&> _native_batch_norm_legit_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, Tensor& running_mean, Tensor& running_var, bool training,
    double momentum, double eps, Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  const OpCall call{ctx, "_native_batch_norm_legit.out"};
  const BatchNorm norm{input, weight, bias, eps, channels_of(input)};
  if (!training && is_empty_inference(call, norm, running_mean, out)) {
    (void)empty_statistics(call, save_mean, save_invstd);
    return {out, save_mean, save_invstd};
  }
  if (!check_batch_norm(call, norm, out)) {
    return {out, save_mean, save_invstd};
  }
  if (!training) {
    if (empty_statistics(call, save_mean, save_invstd)) {
      normalize_by(call, norm, running_mean, running_var, out);
    }
  } else if (check_affine(call, "running_mean", running_mean, norm.channels) &&
             check_affine(call, "running_var", running_var, norm.channels)) {
    normalize_batch(call, norm, &running_mean, &running_var, momentum, out, save_mean, save_invstd);
  }
  return {out, save_mean, save_invstd};
}

std::tuple<Tensor&, Tensor&, Tensor&> _native_batch_norm_legit_no_stats_out(
    KernelRuntimeContext& ctx, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& bias, bool training, double momentum, double eps, Tensor& out,
    Tensor& save_mean, Tensor& save_invstd) {
  const OpCall call{ctx, "_native_batch_norm_legit.no_stats_out"};
  const BatchNorm norm{input, weight, bias, eps, channels_of(input)};
  ET_KERNEL_CHECK_MSG(
      ctx, training, InvalidArgument,
      (std::tuple<Tensor&, Tensor&, Tensor&>(out, save_mean, save_invstd)),
      "_native_batch_norm_legit.no_stats_out: expected training to be true, found false");
  if (check_batch_norm(call, norm, out)) {
    normalize_batch(call, norm, nullptr, nullptr, momentum, out, save_mean, save_invstd);
  }
  return {out, save_mean, save_invstd};
}

}  // namespace torch::executor::native
