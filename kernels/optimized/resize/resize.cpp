// SPDX-License-Identifier: BSD-3-Clause
// Bilinear resizing of f32 images: contiguous ones by vectors of columns, others with channels last
// by vectors of channels. Contiguous ones that become much smaller are the portable kernel's.
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/resize/resize_simd.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/kernels/portable/resize/neighbours.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <cstdint>

namespace torch::executor::native {

using executorch::aten::OptionalArrayRef;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::extension::parallel_for;
using executorch::kernels::neighbours;
using executorch::kernels::Neighbours;
using executorch::kernels::resized_axis;
using executorch::kernels::ResizedAxis;
using executorch::kernels::optimized::bilinear_pixels;
using executorch::kernels::optimized::bilinear_row;
using executorch::kernels::optimized::BilinearPixels;
using executorch::kernels::optimized::BilinearRow;
using executorch::kernels::optimized::is_channels_last;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::resize_lanes;
using executorch::kernels::optimized::scratch;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;

namespace {

constexpr int64_t kGrain = 1 << 14;               // outputs worth a thread
constexpr int64_t kMaxPositions = INT32_MAX / 2;  // of an axis

struct Axis {
  int64_t in, out;
  double scale;  // input pixels per output pixel
  bool align;

  Neighbours at(int64_t position) const { return neighbours(position, scale, in, out, align); }
};

// False for arguments that the portable kernel has to look at: wrong ones above all.
bool set_axes(const Tensor& input, const OptionalArrayRef<int64_t>& sizes,
              const OptionalArrayRef<double>& factors, bool align, Axis axes[2]) {
  if (input.dim() != 4 || input.numel() == 0 || !is_f32(input) ||
      sizes.has_value() == factors.has_value() || (sizes.has_value() && sizes->size() != 2) ||
      (factors.has_value() && factors->size() != 2)) {
    return false;
  }
  for (size_t d = 0; d < 2; ++d) {
    const int64_t in = input.size(static_cast<int64_t>(2 + d));
    const ResizedAxis made = resized_axis(in, sizes, factors, d);
    if (!(made.size >= 1 && made.size <= kMaxPositions) || in > kMaxPositions) {
      return false;
    }
    axes[d] = {in, static_cast<int64_t>(made.size), made.scale, align};
  }
  return true;
}

// What all rows have in common.
struct Columns {
  int32_t *bases, *firsts, *seconds;
  float* weights;
  bool far;
};

// False when a vector of outputs reads more than two of inputs, or without memory.
bool set_columns(KernelRuntimeContext& ctx, const Axis& axis, Columns& columns) {
  const int64_t lanes = resize_lanes();
  const int64_t room = (axis.out + lanes - 1) / lanes * lanes;
  columns.bases = scratch<int32_t>(ctx, room / lanes);
  columns.firsts = scratch<int32_t>(ctx, room);
  columns.seconds = scratch<int32_t>(ctx, room);
  columns.weights = scratch<float>(ctx, room);
  if (columns.bases == nullptr || columns.firsts == nullptr || columns.seconds == nullptr ||
      columns.weights == nullptr) {
    return false;
  }
  int64_t furthest = 0;
  for (int64_t x = 0; x < room; ++x) {
    const Neighbours w = axis.at(std::min(x, axis.out - 1));
    int32_t& base = columns.bases[x / lanes];
    base = x % lanes == 0 ? static_cast<int32_t>(w.first) : base;
    furthest = std::max(furthest, w.second - base);
    columns.firsts[x] = static_cast<int32_t>(w.first - base);
    columns.seconds[x] = static_cast<int32_t>(w.second - base);
    columns.weights[x] = static_cast<float>(w.weight);
  }
  columns.far = furthest >= lanes;
  return furthest < 2 * lanes;
}

// Calls body(output row, counted through all planes, its neighbours) for all rows, in parallel.
template <typename Body>
void for_each_row(const Axis& h, int64_t planes, int64_t row_values, const Body& body) {
  const int64_t grain = std::max<int64_t>(1, kGrain / row_values);
  parallel_for(0, planes * h.out, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      body(i, h.at(i % h.out));
    }
  });
}

// False when it is none that the fast path takes, with nothing written.
bool resize_planes(KernelRuntimeContext& ctx, const Tensor& input, const Axis& h, const Axis& w,
                   Tensor& out) {
  Columns columns;
  if (!set_columns(ctx, w, columns)) {
    return false;
  }
  const auto* from = input.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  for_each_row(h, input.size(0) * input.size(1), w.out, [&](int64_t i, const Neighbours& mixed) {
    const float* plane = from + i / h.out * h.in * w.in;
    BilinearRow row;
    row.upper = plane + mixed.first * w.in;
    row.lower = plane + mixed.second * w.in;
    row.down = static_cast<float>(mixed.weight);
    row.in_count = w.in;
    row.count = w.out;
    row.bases = columns.bases;
    row.firsts = columns.firsts;
    row.seconds = columns.seconds;
    row.weights = columns.weights;
    row.far = columns.far;
    row.out = to + i * w.out;
    bilinear_row(row);
  });
  return true;
}

// The same of channels last.
bool resize_pixels(KernelRuntimeContext& ctx, const Tensor& input, const Axis& h, const Axis& w,
                   Tensor& out) {
  auto* firsts = scratch<int32_t>(ctx, w.out);
  auto* seconds = scratch<int32_t>(ctx, w.out);
  auto* weights = scratch<float>(ctx, w.out);
  if (firsts == nullptr || seconds == nullptr || weights == nullptr) {
    return false;
  }
  for (int64_t x = 0; x < w.out; ++x) {
    const Neighbours mixed = w.at(x);
    firsts[x] = static_cast<int32_t>(mixed.first);
    seconds[x] = static_cast<int32_t>(mixed.second);
    weights[x] = static_cast<float>(mixed.weight);
  }
  const auto* from = input.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  const int64_t channels = input.size(1), in_row = w.in * channels, out_row = w.out * channels;
  for_each_row(h, input.size(0), out_row, [&](int64_t i, const Neighbours& mixed) {
    const float* plane = from + i / h.out * h.in * in_row;
    BilinearPixels row;
    row.upper = plane + mixed.first * in_row;
    row.lower = plane + mixed.second * in_row;
    row.down = static_cast<float>(mixed.weight);
    row.channels = channels;
    row.count = w.out;
    row.firsts = firsts;
    row.seconds = seconds;
    row.weights = weights;
    row.out = to + i * out_row;
    bilinear_pixels(row);
  });
  return true;
}

bool resize(KernelRuntimeContext& ctx, const Tensor& input, const Axis axes[2], Tensor& out) {
  const SizesType sizes[4] = {
      static_cast<SizesType>(input.size(0)), static_cast<SizesType>(input.size(1)),
      static_cast<SizesType>(axes[0].out), static_cast<SizesType>(axes[1].out)};
  if (executorch::runtime::resize_tensor(out, {sizes, 4}) != Error::Ok) {
    return false;
  }
  if (is_contiguous(input) && is_contiguous(out)) {
    return resize_planes(ctx, input, axes[0], axes[1], out);
  }
  return is_channels_last(input) && is_channels_last(out) &&
         resize_pixels(ctx, input, axes[0], axes[1], out);
}

}  // namespace

Tensor& opt_upsample_bilinear2d_vec_out(KernelRuntimeContext& ctx, const Tensor& input,
                                        OptionalArrayRef<int64_t> output_size, bool align_corners,
                                        OptionalArrayRef<double> scale_factors, Tensor& out) {
  Axis axes[2];
  const bool fast = is_f32(out) &&
                    set_axes(input, output_size, scale_factors, align_corners, axes) &&
                    resize(ctx, input, axes, out);
  return fast ? out
              : upsample_bilinear2d_vec_out(ctx, input, output_size, align_corners, scale_factors,
                                            out);
}

}  // namespace torch::executor::native
