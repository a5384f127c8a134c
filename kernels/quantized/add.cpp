// SPDX-License-Identifier: BSD-3-Clause
// Sum of two quantized tensors, computed in float and quantized again. Broadcasts.
#include <executorch/kernels/portable/loops/elementwise.h>
#include <executorch/kernels/quantized/CustomOpsNativeFunctions.h>
#include <executorch/kernels/quantized/range.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

Tensor& quantized_add_out(KernelRuntimeContext& ctx, const Tensor& a, double a_scale,
                          int64_t a_zero_point, int64_t a_quant_min, int64_t a_quant_max,
                          const Tensor& b, double b_scale, int64_t b_zero_point,
                          int64_t b_quant_min, int64_t b_quant_max, double out_scale,
                          int64_t out_zero_point, int64_t out_quant_min, int64_t out_quant_max,
                          Tensor& out) {
  const OpCall call{ctx, "quantized_decomposed::add.out"};
  const QuantRange range{out_quant_min, out_quant_max};
  Shape shape;
  if (!check_same_dtype(call, "b", b, "a", a) || !check_same_dtype(call, "out", out, "a", a) ||
      !check_range(call, {a_quant_min, a_quant_max}, a.scalar_type()) ||
      !check_range(call, {b_quant_min, b_quant_max}, b.scalar_type()) ||
      !check_range(call, range, out.scalar_type()) ||
      !broadcast_shapes(call, Shape(a), Shape(b), shape) || !resize_output(call, out, shape)) {
    return out;
  }
  const float scale_a = static_cast<float>(a_scale);
  const float scale_b = static_cast<float>(b_scale);
  const float inverse = static_cast<float>(1.0 / out_scale);
  const float zero_a = static_cast<float>(a_zero_point);
  const float zero_b = static_cast<float>(b_zero_point);
  const float zero_out = static_cast<float>(out_zero_point);
  map_elements<int64_t, float, float>(
      [=](float x, float y) {
        const float sum = (x - zero_a) * scale_a + (y - zero_b) * scale_b;
        return range.clamp(std::nearbyint(sum * inverse) + zero_out);
      },
      out, {RangeReader(a, out, ComputeType::kFloat), RangeReader(b, out, ComputeType::kFloat)});
  return out;
}

}  // namespace torch::executor::native
