// SPDX-License-Identifier: BSD-3-Clause
// Normalisations over all but the channels: batch norm, with given statistics or those of the
// batch.
#include <executorch/kernels/portable/norm/norm.h>

#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

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

// Scales and shifts of some channels: out = input * scale + shift.
template <typename C>
struct ChannelFactors {
  C scales[kChunk];
  C shifts[kChunk];
};

// Channels that lie next to each other: rows of `count` of them from channel `first` on, one for
// each position.
template <typename C>
void scale_rows(const BatchNorm& norm, const Tensor& out, const ChannelFactors<C>& factors,
                int64_t first, int64_t count) {
  const StridedView from = StridedView::of(norm.input).selected(1, 0);
  const StridedView to = StridedView::of(out).selected(1, 0);
  const StridedReader<C> in(norm.input);
  const StridedWriter<C> writer(out);
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / count);
  ::executorch::extension::parallel_for(0, to.numel(), grain, [&](int64_t begin, int64_t end) {
    Odometer<2> position(to.ndim, to.sizes);
    position.set_strides(0, from.strides);
    position.set_strides(1, to.strides);
    position.seek(begin);
    C buffer[kChunk];
    C result[kChunk];
    for (int64_t i = begin; i < end; ++i, position.next()) {
      const C* const x = in.read(position.offset(0) + first, 1, count, buffer);
      for (int64_t c = 0; c < count; ++c) {
        result[c] = x[c] * factors.scales[c] + factors.shifts[c];
      }
      writer.write(position.offset(1) + first, 1, count, result);
    }
  });
}

// Channels that do not: the planes of one after the other, as long lines as both sides have.
template <typename C>
void scale_planes(const BatchNorm& norm, const Tensor& out, const ChannelFactors<C>& factors,
                  int64_t first, int64_t count) {
  const StridedView from = StridedView::of(norm.input).selected(1, 0);
  const StridedView to = StridedView::of(out).selected(1, 0);
  int64_t sizes[kMaxViewDims], from_strides[kMaxViewDims], to_strides[kMaxViewDims];
  int ndim = 0;
  for (int d = 0; d < to.ndim; ++d) {
    ndim = append_dim(ndim, sizes, from_strides, to_strides, to.sizes[d], from.strides[d],
                      to.strides[d]);
  }
  const int inner = ndim - 1;
  const int64_t length = sizes[inner];
  const int64_t lines = length == 0 ? 0 : to.numel() / length;
  const int64_t from_step = norm.input.strides()[1], to_step = out.strides()[1];
  const StridedReader<C> in(norm.input);
  const StridedWriter<C> writer(out);
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, to.numel()));
  ::executorch::extension::parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    C buffer[kChunk];
    C result[kChunk];
    for (int64_t c = begin; c < end; ++c) {
      Odometer<2> line(inner, sizes);
      line.set_strides(0, from_strides);
      line.set_strides(1, to_strides);
      for (int64_t l = 0; l < lines; ++l, line.next()) {
        for (int64_t i = 0; i < length; i += kChunk) {
          const int64_t n = std::min(kChunk, length - i);
          const int64_t at = line.offset(0) + (first + c) * from_step + i * from_strides[inner];
          const C* const x = in.read(at, from_strides[inner], n, buffer);
          for (int64_t k = 0; k < n; ++k) {
            result[k] = x[k] * factors.scales[c] + factors.shifts[c];
          }
          writer.write(line.offset(1) + (first + c) * to_step + i * to_strides[inner],
                       to_strides[inner], n, result);
        }
      }
    }
  });
}

// out = (input - mean) * rstd * weight + bias; `mean(c)` and `rstd(c)` are doubles.
template <typename Mean, typename Rstd>
void apply_batch_norm(const BatchNorm& norm, const Mean& mean, const Rstd& rstd, Tensor& out) {
  constexpr int64_t kShortRow = 8;  // channels, of which rows are no faster than planes
  const bool in_rows =
      norm.channels > kShortRow && norm.input.strides()[1] == 1 && out.strides()[1] == 1;
  with_float_compute_type(compute_type_of(norm.input.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> weights(norm.weight.has_value() ? *norm.weight : norm.input);
    const StridedReader<C> biases(norm.bias.has_value() ? *norm.bias : norm.input);
    ChannelFactors<C> factors;
    for (int64_t first = 0; first < norm.channels; first += kChunk) {
      const int64_t count = std::min(kChunk, norm.channels - first);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t c = first + i;
        const double w = norm.weight.has_value() ? weights.at(c) : 1.0;
        const double b = norm.bias.has_value() ? biases.at(c) : 0.0;
        factors.scales[i] = static_cast<C>(rstd(c) * w);
        factors.shifts[i] = static_cast<C>(b - mean(c) * rstd(c) * w);
      }
      in_rows ? scale_rows(norm, out, factors, first, count)
              : scale_planes(norm, out, factors, first, count);
    }
  });
}

// With given statistics, as inference does.
void normalize_by(const OpCall& call, const BatchNorm& norm, const Tensor& mean, const Tensor& var,
                  Tensor& out) {
  if (!check_affine(call, "running_mean", mean, norm.channels) ||
      !check_affine(call, "running_var", var, norm.channels)) {
    return;
  }
  const StridedReader<double> means(mean);
  const StridedReader<double> vars(var);
  apply_batch_norm(
      norm, [&](int64_t c) { return means.at(c); },
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
double channel_sum(const StridedReader<C>& in, const StridedView& view, int64_t start,
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

struct Moments {
  double mean;
  double variance;  // biased
};

Moments channel_statistics(const Tensor& input, int64_t channel) {
  const StridedView view = StridedView::of(input).sliced(1, channel, 1);
  const int64_t start = channel * input.strides()[1];
  const int64_t count = view.numel();
  Moments moments{};
  with_float_compute_type(compute_type_of(input.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    const StridedReader<C> in(input);
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
    const Moments moments = channel_statistics(norm.input, c);
    StridedWriter<double>(save_mean).put(c, moments.mean);
    StridedWriter<double>(save_invstd).put(c, 1.0 / std::sqrt(moments.variance + norm.eps));
    if (running_mean != nullptr && running_var != nullptr) {
      const double unbiased = moments.variance * count / (count - 1.0);
      const double old_mean = StridedReader<double>(*running_mean).at(c);
      const double old_var = StridedReader<double>(*running_var).at(c);
      StridedWriter<double>(*running_mean)
          .put(c, (1 - momentum) * old_mean + momentum * moments.mean);
      StridedWriter<double>(*running_var).put(c, (1 - momentum) * old_var + momentum * unbiased);
    }
  };
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(1, count));
  ::executorch::extension::parallel_for(0, norm.channels, grain, [&](int64_t first, int64_t last) {
    for (int64_t c = first; c < last; ++c) {
      normalize_channel(c);
    }
  });
  const StridedReader<double> means(save_mean);
  const StridedReader<double> rstds(save_invstd);
  apply_batch_norm(
      norm, [&](int64_t c) { return means.at(c); }, [&](int64_t c) { return rstds.at(c); }, out);
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
