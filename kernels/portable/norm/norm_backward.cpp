// SPDX-License-Identifier: BSD-3-Clause
// Gradients of layer norm and group norm: both normalise rows, and differ in which weight belongs
// to an element.
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/kernels/portable/loops/strided_elements.h>

#include <cinttypes>
#include <tuple>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

using Gradients = std::tuple<Tensor&, Tensor&, Tensor&>;

// Rows of `channels` runs of `run` elements; every element of a run has the same weight. Rows take
// turns in `groups` groups, each with weights of its own.
struct Rows {
  int64_t rows;
  int64_t groups;
  int64_t channels;
  int64_t run;

  int64_t length() const { return channels * run; }
};

struct NormGradient {
  const Tensor& grad;
  const Tensor& input;
  const Tensor& mean;
  const Tensor& rstd;
  const std::optional<Tensor>& weight;
  Rows rows;
};

bool check_norm(const OpCall& call, const NormGradient& norm) {
  const Tensor* const dense[] = {&norm.grad, &norm.input, &norm.mean, &norm.rstd};
  for (const Tensor* tensor : dense) {
    ET_KERNEL_CHECK_MSG(call.ctx, is_row_major(*tensor), InvalidArgument, false,
                        "%s: expected inputs in row-major order, found another order", call.op);
  }
  const int64_t weights = norm.rows.groups * norm.rows.channels;
  ET_KERNEL_CHECK_MSG(
      call.ctx,
      !norm.weight.has_value() || (norm.weight->numel() == weights && is_row_major(*norm.weight)),
      InvalidArgument, false,
      "%s: expected weight to have %" PRId64 " elements in row-major order, found shape %s",
      call.op, weights, ShapeText(*norm.weight).text);
  ET_KERNEL_CHECK_MSG(call.ctx,
                      ::executorch::runtime::tensors_have_same_shape(norm.grad, norm.input) &&
                          norm.mean.numel() == norm.rows.rows &&
                          norm.rstd.numel() == norm.rows.rows,
                      InvalidArgument, false,
                      "%s: expected grad_out, mean and rstd for input %s, found %s, %s and %s",
                      call.op, ShapeText(norm.input).text, ShapeText(norm.grad).text,
                      ShapeText(norm.mean).text, ShapeText(norm.rstd).text);
  return check_floating(call, "input", norm.input) &&
         check_same_dtype(call, "grad_out", norm.grad, "input", norm.input) &&
         check_floating(call, "mean", norm.mean) && check_floating(call, "rstd", norm.rstd) &&
         (!norm.weight.has_value() || check_floating(call, "weight", *norm.weight));
}

bool prepare_output(const OpCall& call, const Tensor& out, const Shape& shape) {
  ET_KERNEL_CHECK_MSG(call.ctx, resize_output(call, out, shape) && is_row_major(out),
                      InvalidArgument, false,
                      "%s: expected outputs in row-major order, found another order", call.op);
  return check_floating(call, "out", out);
}

// Reads normalised elements and their gradients.
template <typename C>
class NormReader {
 public:
  explicit NormReader(const NormGradient& norm)
      : length_(norm.rows.length()),
        grad_(norm.grad),
        input_(norm.input),
        mean_(norm.mean),
        rstd_(norm.rstd) {}

  void seek(int64_t row) {
    start_ = row * length_;
    center_ = mean_.at(row);
    scale_ = rstd_.at(row);
  }
  C rstd() const { return scale_; }
  C grad(int64_t i) const { return grad_.at(start_ + i); }
  C normal(int64_t i) const { return (input_.at(start_ + i) - center_) * scale_; }

 private:
  int64_t length_;
  StridedReader<C> grad_;
  StridedReader<C> input_;
  StridedReader<C> mean_;
  StridedReader<C> rstd_;
  int64_t start_ = 0;
  C center_ = 0;
  C scale_ = 0;
};

// With g = grad * weight and x normalised: (g - mean(g) - x * mean(g * x)) * rstd.
template <typename C>
void input_gradient(const NormGradient& norm, const Tensor& out) {
  const Rows& rows = norm.rows;
  const StridedReader<C> weights(norm.weight.has_value() ? *norm.weight : norm.input);
  const StridedWriter<C> writer(out);
  ::executorch::extension::parallel_for(0, rows.rows, 1, [&](int64_t first, int64_t last) {
    NormReader<C> reader(norm);
    for (int64_t row = first; row < last; ++row) {
      reader.seek(row);
      const int64_t first_weight = row % rows.groups * rows.channels;
      const auto weight = [&](int64_t i) {
        return norm.weight.has_value() ? weights.at(first_weight + i / rows.run) : C(1);
      };
      double sum = 0;
      double product = 0;
      for (int64_t i = 0; i < rows.length(); ++i) {
        const C g = reader.grad(i) * weight(i);
        sum += g;
        product += g * reader.normal(i);
      }
      const C mean = static_cast<C>(sum / static_cast<double>(rows.length()));
      const C slope = static_cast<C>(product / static_cast<double>(rows.length()));
      for (int64_t i = 0; i < rows.length(); ++i) {
        const C g = reader.grad(i) * weight(i);
        writer.put(row * rows.length() + i, (g - mean - reader.normal(i) * slope) * reader.rstd());
      }
    }
  });
}

// Sums of grad (bias) or of grad * normalised input (weight) over everything a weight belongs to.
template <typename C>
void affine_gradient(const NormGradient& norm, bool of_weight, const Tensor& out) {
  const Rows& rows = norm.rows;
  const StridedWriter<C> writer(out);
  NormReader<C> reader(norm);
  for (int64_t channel = 0; channel < rows.groups * rows.channels; ++channel) {
    const int64_t begin = channel % rows.channels * rows.run;
    double sum = 0;
    for (int64_t row = channel / rows.channels; row < rows.rows; row += rows.groups) {
      reader.seek(row);
      for (int64_t i = begin; i < begin + rows.run; ++i) {
        sum += of_weight ? reader.grad(i) * reader.normal(i) : reader.grad(i);
      }
    }
    writer.put(channel, static_cast<C>(sum));
  }
}

// Computes the outputs that `mask` asks for; others stay as they are.
void run(const OpCall& call, const NormGradient& norm, ArrayRef<bool> mask, const Shape& affine,
         const Gradients& outs) {
  if (!check_count(call, "output_mask", static_cast<int64_t>(mask.size()), 3) ||
      !check_norm(call, norm) ||
      (mask[0] && !prepare_output(call, std::get<0>(outs), Shape(norm.input))) ||
      (mask[1] && !prepare_output(call, std::get<1>(outs), affine)) ||
      (mask[2] && !prepare_output(call, std::get<2>(outs), affine))) {
    return;
  }
  with_float_compute_type(compute_type_of(norm.input.scalar_type()), [&](auto zero) {
    using C = decltype(zero);
    if (mask[0]) {
      input_gradient<C>(norm, std::get<0>(outs));
    }
    if (mask[1]) {
      affine_gradient<C>(norm, /*of_weight=*/true, std::get<1>(outs));
    }
    if (mask[2]) {
      affine_gradient<C>(norm, /*of_weight=*/false, std::get<2>(outs));
    }
  });
}

}  // namespace

Gradients native_layer_norm_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_out,
                                         const Tensor& input, IntArrayRef normalized_shape,
                                         const Tensor& mean, const Tensor& rstd,
                                         const std::optional<Tensor>& weight,
                                         const std::optional<Tensor>& bias,
                                         ArrayRef<bool> output_mask, Tensor& out0, Tensor& out1,
                                         Tensor& out2) {
  (void)bias;  // its gradient does not depend on it
  const OpCall call{ctx, "native_layer_norm_backward.out"};
  const Gradients outs{out0, out1, out2};
  const int64_t lead = input.dim() - static_cast<int64_t>(normalized_shape.size());
  bool fits = lead >= 0 && normalized_shape.size() > 0;
  Shape affine;
  Rows rows{1, 1, 1, 1};
  for (int64_t d = 0; fits && d < input.dim(); ++d) {
    const int64_t size = input.sizes()[d];
    if (d < lead) {
      rows.rows *= size;
      continue;
    }
    fits = normalized_shape[d - lead] == size;
    rows.channels *= size;
    affine.push(size);
  }
  ET_KERNEL_CHECK_MSG(
      ctx, fits, InvalidArgument, outs,
      "%s: expected normalized_shape to be the end of input's shape %s, found another", call.op,
      ShapeText(input).text);
  run(call, {grad_out, input, mean, rstd, weight, rows}, output_mask, affine, outs);
  return outs;
}

Gradients native_group_norm_backward_out(KernelRuntimeContext& ctx, const Tensor& grad_out,
                                         const Tensor& input, const Tensor& mean,
                                         const Tensor& rstd, const std::optional<Tensor>& weight,
                                         int64_t N, int64_t C, int64_t HxW, int64_t group,
                                         ArrayRef<bool> output_mask, Tensor& out0, Tensor& out1,
                                         Tensor& out2) {
  const OpCall call{ctx, "native_group_norm_backward.out"};
  const Gradients outs{out0, out1, out2};
  ET_KERNEL_CHECK_MSG(ctx,
                      input.dim() >= 2 && N == input.sizes()[0] && C == input.sizes()[1] &&
                          HxW >= 0 && group > 0 && C % group == 0 &&
                          (N * C == 0 || input.numel() / (N * C) == HxW),
                      InvalidArgument, outs,
                      "%s: expected N, C, HxW and group that fit input, found %" PRId64 ", %" PRId64
                      ", %" PRId64 " and %" PRId64,
                      call.op, N, C, HxW, group);
  ET_KERNEL_CHECK_MSG(ctx, group <= INT32_MAX && HxW <= INT32_MAX, InvalidArgument, outs,
                      "%s: expected group and HxW in range, found %" PRId64 " and %" PRId64,
                      call.op, group, HxW);
  Shape affine;
  affine.push(C);
  run(call, {grad_out, input, mean, rstd, weight, {N * group, group, C / group, HxW}}, output_mask,
      affine, outs);
  return outs;
}

}  // namespace torch::executor::native
