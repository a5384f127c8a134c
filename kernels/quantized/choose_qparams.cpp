// SPDX-License-Identifier: BSD-3-Clause
// Scale and zero point from the extremes of a tensor, or of each of its tokens (rows of the last
// dimension). Zero is always representable.
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/quantized/CustomOpsNativeFunctions.h>
#include <executorch/kernels/quantized/range.h>

#include <algorithm>
#include <cinttypes>
#include <limits>
#include <tuple>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

struct Extremes {
  float least = 0;
  float most = 0;
  bool finite = true;

  void add(const float* values, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      finite = finite && std::isfinite(values[i]);
      least = std::min(least, values[i]);
      most = std::max(most, values[i]);
    }
  }
  bool check(const OpCall& call) const {
    ET_KERNEL_CHECK_MSG(call.ctx, finite, InvalidArgument, false,
                        "%s: expected finite input, found infinity or NaN", call.op);
    return true;
  }
};

bool check_input(const OpCall& call, const Tensor& input, const Tensor& scale_out,
                 const Tensor& zero_point_out) {
  ET_KERNEL_CHECK_MSG(call.ctx, input.numel() > 0, InvalidArgument, false,
                      "%s: expected input with elements, found none", call.op);
  return check_floating(call, "input", input) && check_floating(call, "scale_out", scale_out) &&
         check_dtype(call, "zero_point_out", zero_point_out, ScalarType::Long);
}

Extremes extremes_of(const StridedReader<float>& reader, int64_t offset, int64_t stride,
                     int64_t n) {
  Extremes extremes;
  float buffer[kChunk];
  for (int64_t k = 0; k < n; k += kChunk) {
    const int64_t length = std::min(kChunk, n - k);
    extremes.add(reader.read(offset + k * stride, stride, length, buffer), length);
  }
  return extremes;
}

// Checks, sizes of the results, and the extremes of the whole tensor.
bool prepare_tensor(const OpCall& call, const Tensor& input, const QuantRange& range,
                    ScalarType dtype, Tensor& scale_out, Tensor& zero_point_out,
                    Extremes& extremes) {
  Shape one;
  one.push(1);
  ET_KERNEL_CHECK_MSG(call.ctx, range.least < range.most, InvalidArgument, false,
                      "%s: expected quant_min < quant_max, found %" PRId64 " and %" PRId64, call.op,
                      static_cast<int64_t>(range.least), static_cast<int64_t>(range.most));
  if (!check_input(call, input, scale_out, zero_point_out) || !check_range(call, range, dtype) ||
      !resize_output(call, scale_out, one) || !resize_output(call, zero_point_out, one)) {
    return false;
  }
  extremes = extremes_of(StridedReader<float>(input), 0, 1, input.numel());
  return extremes.check(call);
}

}  // namespace

std::tuple<Tensor&, Tensor&> choose_qparams_tensor_out(KernelRuntimeContext& ctx,
                                                       const Tensor& input, int64_t quant_min,
                                                       int64_t quant_max, double eps,
                                                       ScalarType dtype, Tensor& scale_out,
                                                       Tensor& zero_point_out) {
  const OpCall call{ctx, "choose_qparams.Tensor_out"};
  Extremes extremes;
  if (prepare_tensor(call, input, {quant_min, quant_max}, dtype, scale_out, zero_point_out,
                     extremes)) {
    const float scale =
        std::max((extremes.most - extremes.least) / static_cast<float>(quant_max - quant_min),
                 static_cast<float>(eps));
    const float shift = std::nearbyint(extremes.least / scale);
    StridedWriter<float>(scale_out).put(0, scale);
    StridedWriter<int64_t>(zero_point_out)
        .put(0, QuantRange{quant_min, quant_max}.clamp(static_cast<double>(quant_min) -
                                                       static_cast<double>(shift)));
  }
  return {scale_out, zero_point_out};
}

std::tuple<Tensor&, Tensor&> choose_qparams_symmetric_tensor_out(
    KernelRuntimeContext& ctx, const Tensor& input, int64_t quant_min, int64_t quant_max,
    double eps, ScalarType dtype, Tensor& scale_out, Tensor& zero_point_out) {
  const OpCall call{ctx, "choose_qparams_symmetric.Tensor_out"};
  Extremes extremes;
  if (prepare_tensor(call, input, {quant_min, quant_max}, dtype, scale_out, zero_point_out,
                     extremes)) {
    const float largest = std::max(-extremes.least, extremes.most);
    const float steps = static_cast<float>(quant_max - quant_min) / 2;
    StridedWriter<float>(scale_out).put(0, std::max(largest / steps, static_cast<float>(eps)));
    // The middle of the type, whatever the range, as PyTorch has it.
    StridedWriter<int64_t>(zero_point_out).put(0, dtype == ScalarType::Byte ? 128 : 0);
  }
  return {scale_out, zero_point_out};
}

std::tuple<Tensor&, Tensor&> choose_qparams_per_token_asymmetric_out(KernelRuntimeContext& ctx,
                                                                     const Tensor& input,
                                                                     ScalarType dtype,
                                                                     Tensor& scale_out,
                                                                     Tensor& zero_point_out) {
  (void)dtype;  // the range is that of Char, whatever is asked for
  const OpCall call{ctx, "choose_qparams_per_token_asymmetric.out"};
  const std::tuple<Tensor&, Tensor&> result(scale_out, zero_point_out);
  const QuantRange range{-128, 127};
  Shape shape(input);
  ET_KERNEL_CHECK_MSG(ctx, input.dim() > 0, InvalidArgument, result,
                      "%s: expected input with dimensions, found a 0-dim tensor", call.op);
  shape.sizes[shape.ndim - 1] = 1;
  if (!check_input(call, input, scale_out, zero_point_out) ||
      !resize_output(call, scale_out, shape) || !resize_output(call, zero_point_out, shape)) {
    return result;
  }
  const StridedReader<float> reader(input);
  const StridedView in = StridedView::of(input);
  const StridedView scales = StridedView::of(scale_out);
  const StridedView zero_points = StridedView::of(zero_point_out);
  const int last = in.ndim - 1;
  Odometer<3> token(last, in.sizes);
  token.set_strides(0, in.strides);
  token.set_strides(1, scales.strides);
  token.set_strides(2, zero_points.strides);
  const float lo = static_cast<float>(range.least);
  const float hi = static_cast<float>(range.most);
  for (int64_t i = 0; i < shape.numel(); ++i, token.next()) {
    const Extremes extremes =
        extremes_of(reader, token.offset(0), in.strides[last], in.sizes[last]);
    if (!extremes.check(call)) {
      return result;
    }
    const float scale = std::max((extremes.most - extremes.least) / (hi - lo),
                                 std::numeric_limits<float>::epsilon());
    const float low = extremes.least / scale;
    const float high = extremes.most / scale;
    // From the end where the smaller error is made.
    const float zero_point = (lo + low) + (hi + high) > 0 ? lo - low : hi - high;
    StridedWriter<float>(scale_out).put(token.offset(1), scale);
    StridedWriter<int64_t>(zero_point_out)
        .put(token.offset(2), range.clamp(std::nearbyint(zero_point)));
  }
  return result;
}

}  // namespace torch::executor::native
