// SPDX-License-Identifier: BSD-3-Clause
// Kernels that copy only, as op_fallback.h and op_tile_crop.h of extension/llm/custom_ops say.
#include <cinttypes>
#include <cstring>

#include <executorch/kernels/portable/loops/checks.h>
#include <executorch/runtime/kernel/kernel_includes.h>

namespace torch::executor::native {

using ::executorch::aten::Tensor;
using ::executorch::kernels::is_row_major;
using ::executorch::kernels::OpCall;
using ::executorch::kernels::Shape;
using ::executorch::kernels::ShapeText;

Tensor& tile_crop_out_impl(KernelRuntimeContext& ctx, const Tensor& input, const int64_t tile_size,
                           Tensor& out) {
  const OpCall call{ctx, "tile_crop.out"};
  if (!check_rank(call, "input", input, 3) || !check_dtype(call, "out", out, input.scalar_type())) {
    return out;
  }
  const int64_t channels = input.size(0), height = input.size(1), width = input.size(2);
  ET_KERNEL_CHECK_MSG(
      ctx, tile_size > 0 && height % tile_size == 0 && width % tile_size == 0, InvalidArgument, out,
      "%s: expected an image [channels, height, width] whose sides %" PRId64 " divides, found %s",
      call.op, tile_size, ShapeText(input).text);
  const int64_t down = height / tile_size, across = width / tile_size;
  Shape shape;
  for (const int64_t size : {down * across, channels, tile_size, tile_size}) {
    shape.push(size);
  }
  if (!resize_output(call, out, shape)) {
    return out;
  }
  ET_KERNEL_CHECK_MSG(ctx, is_row_major(input) && is_row_major(out), InvalidArgument, out,
                      "%s: expected input and out in row-major order, found another", call.op);
  const auto row = static_cast<size_t>(tile_size) * input.element_size();
  const auto* from = static_cast<const uint8_t*>(input.const_data_ptr());
  auto* to = static_cast<uint8_t*>(out.mutable_data_ptr());
  // lines of a tile follow each other in `out`
  for (int64_t tile = 0; tile < down * across; ++tile) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      for (int64_t line = 0; line < tile_size; ++line, to += row) {
        const int64_t y = tile / across * tile_size + line;
        const int64_t at = (channel * height + y) * across + tile % across;
        std::memcpy(to, from + static_cast<size_t>(at) * row, row);
      }
    }
  }
  return out;
}

Tensor& fallback_out(KernelRuntimeContext& ctx, const Tensor& in, Tensor& out) {
  const OpCall call{ctx, "fallback.out"};
  if (!check_dtype(call, "out", out, in.scalar_type()) || !resize_output(call, out, Shape(in)) ||
      !check_same_order(call, in, out)) {
    return out;
  }
  if (in.nbytes() != 0) {
    std::memcpy(out.mutable_data_ptr(), in.const_data_ptr(), in.nbytes());
  }
  return out;
}

}  // namespace torch::executor::native
