// SPDX-License-Identifier: BSD-3-Clause
// Planes of another size, and by a grid.
#include <executorch/backends/vulkan/runtime/graph/ops/elementwise.h>
#include <executorch/backends/vulkan/runtime/graph/ops/table.h>

#include <cmath>

namespace executorch::backends::vulkan {

using runtime::Error;

namespace {

enum ResampleCode : int32_t { kNearest, kBilinear, kGrid, kGridToBorder };

Error upsample(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  const bool is_bilinear = call.code() == kBilinear;
  const bool aligns = is_bilinear && ET_UNWRAP(call.boolean(2));
  const size_t scales_at = is_bilinear ? 3 : 2;
  if (x.shape.rank != 4 || x.shape[2] < 1 || x.shape[3] < 1) {
    return call.mismatch("expected an input of 4 dimensions");
  }
  Shape shape = x.shape;
  double steps[2] = {0, 0};
  const auto sizes = ET_UNWRAP(call.integers(1));
  const auto scales = ET_UNWRAP(call.numbers(scales_at));
  if ((sizes.size() == 2) == (scales.size() == 2)) {
    return call.mismatch("expected either two sizes or two factors");
  }
  for (size_t i = 0; i < 2; ++i) {
    const double size = x.shape[2 + i];
    const double scale = sizes.size() == 2 ? 0 : scales[i];
    const double wanted =
        sizes.size() == 2 ? static_cast<double>(sizes[i]) : std::floor(size * scale);
    if (!(wanted >= 1 && wanted <= (1 << 24))) {
      return call.mismatch("expected sizes above 0");
    }
    shape[2 + i] = static_cast<int32_t>(wanted);
    steps[i] = aligns ? (wanted > 1 ? (size - 1) / (wanted - 1) : 0)
                      : (scale > 0 ? 1 / scale : size / wanted);
  }
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, shape));
  return call.dispatch("resample")
      .read(x)
      .unused(x)
      .write(out)
      .constant(call.code())
      .params(x.shape[2], x.shape[3], out.shape[2], out.shape[3])
      .param(out.numel())
      .param(int64_t{x.shape[1]})
      .param(int64_t{aligns})
      .param(to_float(steps[0]))
      .param(to_float(steps[1]))
      .elements(out.numel());
}

Error grid_sampler(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  const Tensor& grid = *ET_UNWRAP(call.tensor(1));
  Tensor& out = *ET_UNWRAP(call.output());
  const int64_t padding = ET_UNWRAP(call.integer(3));  // 0 zeros, 1 the border
  if (ET_UNWRAP(call.integer(2)) != 0 || (padding != 0 && padding != 1)) {
    return call.refuse("expected bilinear interpolation, and padding with zeros or the border");
  }
  const bool aligns = ET_UNWRAP(call.boolean(4));
  if (x.shape.rank != 4 || grid.shape.rank != 4 || grid.shape[3] != 2 ||
      grid.shape[0] != x.shape[0]) {
    return call.mismatch("expected an input of 4 dimensions and its grid");
  }
  ET_CHECK_OK_OR_RETURN_ERROR(
      call.resize(out, {x.shape[0], x.shape[1], grid.shape[1], grid.shape[2]}));
  return call.dispatch("resample")
      .read(x)
      .read(grid)
      .write(out)
      .constant(padding == 1 ? kGridToBorder : kGrid)
      .params(x.shape[2], x.shape[3], out.shape[2], out.shape[3])
      .param(out.numel())
      .param(int64_t{x.shape[1]})
      .param(int64_t{aligns})
      .param(0.0F)
      .param(0.0F)
      .elements(out.numel());
}

Error grid_priors(Call& call) {
  const Tensor& x = *ET_UNWRAP(call.tensor(0));
  Tensor& out = *ET_UNWRAP(call.output());
  if (x.shape.rank < 2) {
    return call.mismatch("expected an input of planes");
  }
  const int64_t width = x.shape.at(-1);
  ET_CHECK_OK_OR_RETURN_ERROR(call.resize(out, {width * x.shape.at(-2), 2}));
  return call.dispatch("grid_priors")
      .write(out)
      .param(out.numel())
      .param(width)
      .param(to_float(ET_UNWRAP(call.number(1))))
      .param(to_float(ET_UNWRAP(call.number(2))))
      .elements(out.numel());
}

constexpr Operator kRows[] = {
    {"aten.upsample_nearest2d.vec", upsample, kNearest},
    {"aten.upsample_bilinear2d.vec", upsample, kBilinear},
    {"aten.grid_sampler_2d.default", grid_sampler},
    {"et_vk.grid_priors.default", grid_priors},
};

}  // namespace

Operators resample_operators() {
  return {kRows, sizeof(kRows) / sizeof(kRows[0])};
}

}  // namespace executorch::backends::vulkan
