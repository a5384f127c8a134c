// SPDX-License-Identifier: BSD-3-Clause
// Matmuls of a float matrix with an 8-bit matrix, which is dequantized on the way.
#include <executorch/kernels/portable/loops/strided.h>
#include <executorch/kernels/portable/loops/strided_elements.h>
#include <executorch/kernels/quantized/CustomOpsNativeFunctions.h>
#include <executorch/kernels/quantized/range.h>

#include <algorithm>
#include <cinttypes>

#include <executorch/runtime/kernel/thread_parallel_interface.h>

namespace torch::executor::native {

using namespace ::executorch::kernels;

namespace {

// out[i, j] = sum over k of in[i, k] * (weight[k, j] - zero[...]) * scale[...]. The views are of
// rank 2 and indexed (i, k), (j, k) and (i, j); groups divide k.
struct Matmul {
  StridedView in;
  StridedView weight;
  StridedView scale;  // (j, group)
  StridedView zero;
  int64_t group_size;
  bool has_zero;
};

struct Readers {
  StridedReader<float> in;
  StridedReader<float> weight;
  StridedReader<float> scale;
  StridedReader<float> zero;
};

float dot(const Matmul& product, const Readers& read, int64_t i, int64_t j) {
  float sum = 0;
  const int64_t depth = product.in.sizes[1];
  for (int64_t k = 0; k < depth; k += product.group_size) {
    const int64_t group = k / product.group_size;
    const int64_t end = std::min(depth, k + product.group_size);
    const int64_t param = j * product.scale.strides[0] + group * product.scale.strides[1];
    const int64_t zero_at = j * product.zero.strides[0] + group * product.zero.strides[1];
    const float zero = product.has_zero ? read.zero.at(zero_at) : 0.0F;
    float partial = 0;
    for (int64_t at = k; at < end; at += kChunk) {
      const int64_t n = std::min(kChunk, end - at);
      float in_buffer[kChunk];
      float weight_buffer[kChunk];
      const float* x = read.in.read(i * product.in.strides[0] + at * product.in.strides[1],
                                    product.in.strides[1], n, in_buffer);
      const float* w =
          read.weight.read(j * product.weight.strides[0] + at * product.weight.strides[1],
                           product.weight.strides[1], n, weight_buffer);
      partial += lane_sum<float>(n, [&](int64_t m) { return x[m] * (w[m] - zero); });
    }
    sum += partial * read.scale.at(param);
  }
  return sum;
}

StridedView transposed(StridedView view) {
  std::swap(view.sizes[0], view.sizes[1]);
  std::swap(view.strides[0], view.strides[1]);
  return view;
}

bool check_types(const OpCall& call, const Tensor& input, const Tensor& weight,
                 const Tensor& scales, const std::optional<Tensor>& zero_points,
                 const Tensor& out) {
  return check_floating(call, "input", input) && check_rank(call, "input", input, 2) &&
         check_dtype(call, "weight", weight, ScalarType::Char) &&
         check_rank(call, "weight", weight, 2) && check_floating(call, "weight_scales", scales) &&
         check_floating(call, "out", out) &&
         (!zero_points.has_value() ||
          (check_computable(call, "weight_zero_points", *zero_points) &&
           check_rank(call, "weight_zero_points", *zero_points, scales.dim()) &&
           check_count(call, "elements of weight_zero_points", zero_points->numel(),
                       scales.numel())));
}

void multiply(const OpCall& call, const Matmul& product, const Readers& readers, Tensor& out) {
  const int64_t rows = product.in.sizes[0];
  const int64_t columns = product.weight.sizes[0];
  Shape shape;
  shape.push(rows);
  shape.push(columns);
  if (!resize_output(call, out, shape)) {
    return;
  }
  const StridedView to = StridedView::of(out);
  const StridedWriter<float> writer(out);
  ::executorch::extension::parallel_for(0, rows * columns, 64, [&](int64_t first, int64_t last) {
    for (int64_t n = first; n < last; ++n) {
      writer.put(n / columns * to.strides[0] + n % columns * to.strides[1],
                 dot(product, readers, n / columns, n % columns));
    }
  });
}

}  // namespace

Tensor& quantized_mixed_mm_out(KernelRuntimeContext& ctx, const Tensor& input, const Tensor& weight,
                               const Tensor& weight_scales,
                               const std::optional<Tensor>& weight_zero_points, Tensor& out) {
  const OpCall call{ctx, "mixed_mm.out"};
  if (!check_types(call, input, weight, weight_scales, weight_zero_points, out) ||
      !check_same_dtype(call, "out", out, "input", input) ||
      !check_rank(call, "weight_scales", weight_scales, 1) ||
      !check_count(call, "rows of weight", weight.sizes()[0], input.sizes()[1]) ||
      !check_count(call, "elements of weight_scales", weight_scales.numel(), weight.sizes()[0])) {
    return out;
  }
  // Every row of the weight has its scale, so each is a group for all columns.
  const Tensor& zeros = weight_zero_points.has_value() ? *weight_zero_points : weight_scales;
  const Matmul product{StridedView::of(input),
                       transposed(StridedView::of(weight)),
                       StridedView::of(weight_scales).inserted(0, weight.sizes()[1], 0),
                       StridedView::of(zeros).inserted(0, weight.sizes()[1], 0),
                       1,
                       weight_zero_points.has_value()};
  multiply(call, product,
           {StridedReader<float>(input), StridedReader<float>(weight),
            StridedReader<float>(weight_scales), StridedReader<float>(zeros)},
           out);
  return out;
}

Tensor& quantized_mixed_linear_out(KernelRuntimeContext& ctx, const Tensor& input,
                                   const Tensor& weight, const Tensor& weight_scales,
                                   const std::optional<Tensor>& weight_zero_points,
                                   std::optional<ScalarType> dtype, Tensor& out) {
  const OpCall call{ctx, "mixed_linear.out"};
  if (!check_types(call, input, weight, weight_scales, weight_zero_points, out) ||
      !check_dtype(call, "out", out, dtype.value_or(input.scalar_type())) ||
      !check_count(call, "columns of weight", weight.sizes()[1], input.sizes()[1])) {
    return out;
  }
  const int64_t depth = input.sizes()[1];
  const int64_t groups = weight_scales.dim() == 2 ? weight_scales.sizes()[1] : 1;
  ET_KERNEL_CHECK_MSG(ctx,
                      (weight_scales.dim() == 1 || weight_scales.dim() == 2) &&
                          weight_scales.sizes()[0] == weight.sizes()[0] && groups > 0 &&
                          groups <= std::max<int64_t>(depth, 1),
                      InvalidArgument, out,
                      "%s: expected weight_scales for each of %" PRId64 " rows of weight, found %s",
                      call.op, static_cast<int64_t>(weight.sizes()[0]),
                      ShapeText(weight_scales).text);
  const auto two_dims = [](const Tensor& tensor) {
    const StridedView view = StridedView::of(tensor);
    return view.ndim == 2 ? view : view.inserted(1, 1, 0);
  };
  const Tensor& zeros = weight_zero_points.has_value() ? *weight_zero_points : weight_scales;
  const Matmul product{StridedView::of(input),
                       StridedView::of(weight),
                       two_dims(weight_scales),
                       two_dims(zeros),
                       std::max<int64_t>(1, (depth + groups - 1) / groups),
                       weight_zero_points.has_value()};
  multiply(call, product,
           {StridedReader<float>(input), StridedReader<float>(weight),
            StridedReader<float>(weight_scales), StridedReader<float>(zeros)},
           out);
  return out;
}

}  // namespace torch::executor::native
