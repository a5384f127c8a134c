// SPDX-License-Identifier: BSD-3-Clause
// Quantizing and dequantizing with one scale and zero point for a tensor, for each channel, or for
// each token (row of the last dimension). Any dim order.
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/quantized/CustomOpsNativeFunctions.h>
#include <executorch/kernels/quantized/range.h>

#include <algorithm>
#include <utility>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// Scales and zero points: numbers, or tensors of which `strides` finds the element for an index of
// the quantized tensor.
struct Params {
  double scale = 1;
  double zero_point = 0;
  const Tensor* scales = nullptr;
  const Tensor* zero_points = nullptr;  // null beside scales: zeros
  int64_t strides[kMaxViewDims] = {};

  // PyTorch computes with numbers in float, with tensors in their dtype.
  bool in_double() const {
    return scales != nullptr && scales->numel() > 1 && scales->scalar_type() == ScalarType::Double;
  }
};

bool check_params(const OpCall& call, const Tensor& scales, const Tensor* zero_points,
                  int64_t expected) {
  return check_floating(call, "scales", scales) &&
         check_count(call, "elements of scales", scales.numel(), expected) &&
         (zero_points == nullptr ||
          (check_computable(call, "zero_points", *zero_points) &&
           check_count(call, "elements of zero_points", zero_points->numel(), expected)));
}

bool one_for_all(const OpCall& call, const Tensor& scale, const Tensor& zero_point,
                 Params& params) {
  params.scales = &scale;
  params.zero_points = &zero_point;
  return check_params(call, scale, &zero_point, 1);
}

bool one_per_channel(const OpCall& call, const Tensor& input, const Tensor& scales,
                     const Tensor* zero_points, int64_t axis, Params& params) {
  ET_KERNEL_CHECK_MSG(call.ctx, input.dim() > 0, InvalidArgument, false,
                      "%s: expected input with dimensions, found a 0-dim tensor", call.op);
  params.scales = &scales;
  params.zero_points = zero_points;
  if (!normalize_dim(call, "axis", input.dim(), axis)) {
    return false;
  }
  params.strides[axis] = 1;
  return check_rank(call, "scales", scales, 1) &&
         check_params(call, scales, zero_points, input.sizes()[axis]);
}

bool one_per_token(const OpCall& call, const Tensor& input, const Tensor& scales,
                   const Tensor& zero_points, Params& params) {
  ET_KERNEL_CHECK_MSG(call.ctx, input.dim() > 0, InvalidArgument, false,
                      "%s: expected input with dimensions, found a 0-dim tensor", call.op);
  params.scales = &scales;
  params.zero_points = &zero_points;
  int64_t tokens = 1;
  for (int d = static_cast<int>(input.dim()) - 2; d >= 0; --d) {
    params.strides[d] = tokens;
    tokens *= input.sizes()[d];
  }
  return check_params(call, scales, &zero_points, tokens);
}

// Calls body(offset in `in`, its stride, offset in `out`, its stride, length, element of the
// params) for lines of elements that share their params.
template <typename Body>
void for_each_line(const Tensor& in, const Tensor& out, const Params& params, const Body& body) {
  StridedView from = StridedView::of(in);
  StridedView to = StridedView::of(out);
  int64_t strides[kMaxViewDims];
  std::copy_n(params.strides, kMaxViewDims, strides);
  int line = -1;
  for (int d = 0; d < from.ndim; ++d) {
    const bool closer = line < 0 || from.strides[d] < from.strides[line];
    line = strides[d] == 0 && from.sizes[d] > 1 && closer ? d : line;
  }
  if (line < 0) {  // every element has its own
    line = from.ndim;
    strides[line] = 0;
    from = from.inserted(line, 1, 1);
    to = to.inserted(line, 1, 1);
  }
  const int last = from.ndim - 1;
  std::swap(from.sizes[line], from.sizes[last]);
  std::swap(from.strides[line], from.strides[last]);
  std::swap(to.strides[line], to.strides[last]);
  std::swap(strides[line], strides[last]);
  Odometer<3> odometer(last, from.sizes);
  odometer.set_strides(0, from.strides);
  odometer.set_strides(1, to.strides);
  odometer.set_strides(2, strides);
  const int64_t length = from.sizes[last];
  const int64_t lines = length == 0 ? 0 : in.numel() / length;
  for (int64_t i = 0; i < lines; ++i, odometer.next()) {
    for (int64_t k = 0; k < length; k += kChunk) {
      body(odometer.offset(0) + k * from.strides[last], from.strides[last],
           odometer.offset(1) + k * to.strides[last], to.strides[last],
           std::min(kChunk, length - k), odometer.offset(2));
    }
  }
}

struct ParamReader {
  explicit ParamReader(const Params& params, const Tensor& any)
      : params(params),
        scales(params.scales != nullptr ? *params.scales : any),
        zero_points(params.zero_points != nullptr ? *params.zero_points : any) {}

  double scale(int64_t i) const { return params.scales != nullptr ? scales.at(i) : params.scale; }
  double zero_point(int64_t i) const {
    return params.zero_points != nullptr ? zero_points.at(i) : params.zero_point;
  }

  const Params& params;
  const StridedReader<double> scales;
  const StridedReader<double> zero_points;
};

template <typename C>
void quantize_as(const Tensor& input, const Params& params, const QuantRange& range,
                 bool round_last, const Tensor& out) {
  const StridedReader<C> reader(input);
  const StridedWriter<int64_t> writer(out);
  const ParamReader param(params, input);
  for_each_line(
      input, out, params,
      [&](int64_t in_at, int64_t in_step, int64_t out_at, int64_t out_step, int64_t n, int64_t at) {
        const C inverse = static_cast<C>(1.0 / param.scale(at));
        const C zero_point = static_cast<C>(param.zero_point(at));
        const C before = round_last ? zero_point : C(0);
        const C after = round_last ? C(0) : zero_point;
        C buffer[kChunk];
        int64_t quantized[kChunk];
        const C* values = reader.read(in_at, in_step, n, buffer);
        for (int64_t i = 0; i < n; ++i) {
          quantized[i] = range.clamp(std::nearbyint(values[i] * inverse + before) + after);
        }
        writer.write(out_at, out_step, n, quantized);
      });
}

// `round_last`: the zero point is added before rounding, not after.
void quantize(const OpCall& call, const Tensor& input, const Params& params,
              const QuantRange& range, ScalarType dtype, bool round_last, Tensor& out) {
  if (!check_floating(call, "input", input) || !check_range(call, range, dtype) ||
      !check_dtype(call, "out", out, dtype) || !resize_output(call, out, Shape(input))) {
    return;
  }
  const bool wide = params.in_double() || input.scalar_type() == ScalarType::Double;
  with_float_compute_type(wide ? ComputeType::kDouble : ComputeType::kFloat, [&](auto zero) {
    quantize_as<decltype(zero)>(input, params, range, round_last, out);
  });
}

template <typename C>
void dequantize_as(const Tensor& input, const Params& params, const Tensor& out) {
  const StridedReader<C> reader(input);
  const StridedWriter<C> writer(out);
  const ParamReader param(params, input);
  for_each_line(
      input, out, params,
      [&](int64_t in_at, int64_t in_step, int64_t out_at, int64_t out_step, int64_t n, int64_t at) {
        const C scale = static_cast<C>(param.scale(at));
        const C zero_point = static_cast<C>(param.zero_point(at));
        C buffer[kChunk];
        const C* values = reader.read(in_at, in_step, n, buffer);
        for (int64_t i = 0; i < n; ++i) {
          buffer[i] = (values[i] - zero_point) * scale;
        }
        writer.write(out_at, out_step, n, buffer);
      });
}

void dequantize(const OpCall& call, const Tensor& input, const Params& params,
                const QuantRange& range, ScalarType dtype, ScalarType out_dtype, Tensor& out) {
  if (!check_dtype(call, "input", input, dtype) || !check_range(call, range, dtype) ||
      !check_floating(call, "out", out) || !check_dtype(call, "out", out, out_dtype) ||
      !resize_output(call, out, Shape(input))) {
    return;
  }
  const bool wide = params.in_double() || out_dtype == ScalarType::Double;
  with_float_compute_type(wide ? ComputeType::kDouble : ComputeType::kFloat,
                          [&](auto zero) { dequantize_as<decltype(zero)>(input, params, out); });
}

}  // namespace

Tensor& quantize_per_tensor_out(KernelRuntimeContext& ctx, const Tensor& input, double scale,
                                int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                ScalarType dtype, Tensor& out) {
  Params params;
  params.scale = scale;
  params.zero_point = static_cast<double>(zero_point);
  quantize({ctx, "quantize_per_tensor.out"}, input, params, {quant_min, quant_max}, dtype,
           /*round_last=*/false, out);
  return out;
}

Tensor& quantize_per_tensor_tensor_args_out(KernelRuntimeContext& ctx, const Tensor& input,
                                            const Tensor& scale, const Tensor& zero_point,
                                            int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                            Tensor& out) {
  const OpCall call{ctx, "quantize_per_tensor.Tensor_out"};
  Params params;
  if (one_for_all(call, scale, zero_point, params)) {
    quantize(call, input, params, {quant_min, quant_max}, dtype, /*round_last=*/false, out);
  }
  return out;
}

Tensor& quantize_per_channel_out(KernelRuntimeContext& ctx, const Tensor& input,
                                 const Tensor& scales, const Tensor& zero_points, int64_t axis,
                                 int64_t quant_min, int64_t quant_max, ScalarType dtype,
                                 Tensor& out) {
  const OpCall call{ctx, "quantize_per_channel.out"};
  Params params;
  if (one_per_channel(call, input, scales, &zero_points, axis, params)) {
    quantize(call, input, params, {quant_min, quant_max}, dtype, /*round_last=*/false, out);
  }
  return out;
}

Tensor& quantize_per_token_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& scales,
                               const Tensor& zero_points, int64_t quant_min, int64_t quant_max,
                               ScalarType dtype, Tensor& out) {
  const OpCall call{ctx, "quantize_per_token.out"};
  Params params;
  if (one_per_token(call, input, scales, zero_points, params)) {
    quantize(call, input, params, {quant_min, quant_max}, dtype, /*round_last=*/true, out);
  }
  return out;
}

Tensor& dequantize_per_tensor_out(KernelRuntimeContext& ctx, const Tensor& input, double scale,
                                  int64_t zero_point, int64_t quant_min, int64_t quant_max,
                                  ScalarType dtype, std::optional<ScalarType> out_dtype,
                                  Tensor& out) {
  Params params;
  params.scale = scale;
  params.zero_point = static_cast<double>(zero_point);
  dequantize({ctx, "dequantize_per_tensor.out"}, input, params, {quant_min, quant_max}, dtype,
             out_dtype.value_or(ScalarType::Float), out);
  return out;
}

Tensor& dequantize_per_tensor_tensor_args_out(KernelRuntimeContext& ctx, const Tensor& input,
                                              const Tensor& scale, const Tensor& zero_point,
                                              int64_t quant_min, int64_t quant_max,
                                              ScalarType dtype, std::optional<ScalarType> out_dtype,
                                              Tensor& out) {
  const OpCall call{ctx, "dequantize_per_tensor.Tensor_out"};
  Params params;
  if (one_for_all(call, scale, zero_point, params)) {
    dequantize(call, input, params, {quant_min, quant_max}, dtype,
               out_dtype.value_or(ScalarType::Float), out);
  }
  return out;
}

Tensor& dequantize_per_channel_out(KernelRuntimeContext& ctx, const Tensor& input,
                                   const Tensor& scales, const std::optional<Tensor>& zero_points,
                                   int64_t axis, int64_t quant_min, int64_t quant_max,
                                   ScalarType dtype, std::optional<ScalarType> out_dtype,
                                   Tensor& out) {
  const OpCall call{ctx, "dequantize_per_channel.out"};
  Params params;
  const Tensor* const zeros = zero_points.has_value() ? &*zero_points : nullptr;
  if (one_per_channel(call, input, scales, zeros, axis, params)) {
    dequantize(call, input, params, {quant_min, quant_max}, dtype,
               out_dtype.value_or(ScalarType::Float), out);
  }
  return out;
}

Tensor& dequantize_per_token_out(KernelRuntimeContext& ctx, const Tensor& input,
                                 const Tensor& scales, const Tensor& zero_points, int64_t quant_min,
                                 int64_t quant_max, ScalarType dtype, ScalarType output_dtype,
                                 Tensor& out) {
  const OpCall call{ctx, "dequantize_per_token.out"};
  Params params;
  if (one_per_token(call, input, scales, zero_points, params)) {
    dequantize(call, input, params, {quant_min, quant_max}, dtype, output_dtype, out);
  }
  return out;
}

}  // namespace torch::executor::native
