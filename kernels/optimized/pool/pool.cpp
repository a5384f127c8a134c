// SPDX-License-Identifier: BSD-3-Clause
// 2-D pooling of contiguous f32 tensors on all threads, by whole planes; other layouts are the
// portable kernels'.
#include <executorch/kernels/optimized/conv/conv_columns.h>
#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <executorch/kernels/optimized/dense.h>
#include <executorch/kernels/optimized/pool/pool_simd.h>
#include <executorch/kernels/optimized/reduction/reduction.h>
#include <executorch/kernels/portable/NativeFunctions.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

namespace torch::executor::native {

using executorch::aten::IntArrayRef;
using executorch::aten::ScalarType;
using executorch::aten::SizesType;
using executorch::aten::Tensor;
using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using executorch::kernels::optimized::clip_columns;
using executorch::kernels::optimized::conv_kernels;
using executorch::kernels::optimized::is_contiguous;
using executorch::kernels::optimized::is_dense_f32;
using executorch::kernels::optimized::is_f32;
using executorch::kernels::optimized::kPoolOverread;
using executorch::kernels::optimized::max_pool_row;
using executorch::kernels::optimized::MaxPoolRow;
using executorch::kernels::optimized::PlaneCopy;
using executorch::kernels::optimized::sum_dim;
using executorch::runtime::Error;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::resize_tensor;

namespace {

constexpr int64_t kGrain = 1 << 14;  // window elements worth a thread

// One spatial axis of a pooling window.
struct Axis {
  int64_t in, out, kernel, stride, pad, dilation;

  // The part [begin, end) of the window at output position o that lies inside the input, in window
  // elements.
  void clip(int64_t o, int64_t& begin, int64_t& end) const {
    clip_columns(in, o * stride - pad, dilation, kernel, begin, end);
  }
};

struct Pool {
  int64_t planes;
  Axis h, w;
};

int64_t value_at(IntArrayRef list, size_t axis, int64_t missing) {
  return list.empty() ? missing : list[list.size() == 1 ? 0 : axis];
}

bool has_length(IntArrayRef list, bool may_be_empty) {
  return list.size() == 1 || list.size() == 2 || (may_be_empty && list.empty());
}

bool in_range(int64_t value, int64_t low) {
  return value >= low && value < (int64_t{1} << 30);
}

// False for arguments that the portable kernel has to look at: wrong ones above all.
bool set_axis(int64_t in, size_t axis, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
              IntArrayRef dilation, bool ceil_mode, Axis& a) {
  a.in = in;
  a.kernel = value_at(kernel, axis, 0);
  a.stride = value_at(stride, axis, a.kernel);
  a.pad = value_at(padding, axis, 0);
  a.dilation = value_at(dilation, axis, 1);
  if (!in_range(in, 1) || !in_range(a.kernel, 1) || !in_range(a.stride, 1) || !in_range(a.pad, 0) ||
      !in_range(a.dilation, 1) || a.pad > a.kernel / 2) {
    return false;
  }
  const int64_t room = in + 2 * a.pad - a.dilation * (a.kernel - 1) - 1;
  if (room < 0) {
    return false;
  }
  a.out = room / a.stride + 1;
  if (ceil_mode && room % a.stride != 0 && a.out * a.stride < in + a.pad) {
    ++a.out;  // a further window that starts inside the input or its left padding
  }
  return true;
}

bool set_pool(const Tensor& self, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
              IntArrayRef dilation, bool ceil_mode, Pool& p) {
  if ((self.dim() != 3 && self.dim() != 4) || self.numel() == 0 || !is_dense_f32(self) ||
      !has_length(kernel, false) || !has_length(stride, true) || !has_length(padding, true) ||
      !has_length(dilation, true)) {
    return false;
  }
  const int64_t height = self.size(self.dim() - 2);
  const int64_t width = self.size(self.dim() - 1);
  p.planes = self.numel() / (height * width);
  return set_axis(height, 0, kernel, stride, padding, dilation, ceil_mode, p.h) &&
         set_axis(width, 1, kernel, stride, padding, dilation, ceil_mode, p.w);
}

bool resize_pooled(const Tensor& self, int64_t height, int64_t width, Tensor& out) {
  SizesType sizes[4];
  const auto rank = static_cast<size_t>(self.dim());
  for (size_t d = 0; d < rank; ++d) {
    sizes[d] = static_cast<SizesType>(self.size(static_cast<int64_t>(d)));
  }
  sizes[rank - 2] = static_cast<SizesType>(height);
  sizes[rank - 1] = static_cast<SizesType>(width);
  return resize_tensor(out, {sizes, rank}) == Error::Ok && is_contiguous(out);
}

int64_t line_length(const Pool& p) {
  return p.w.out + kPoolOverread;
}

// Indices within a plane, and what they are computed from, fit 32 bits.
bool is_small_plane(const Pool& p) {
  constexpr int64_t kMax = int64_t{1} << 30;
  return (p.h.in + p.h.pad) * (p.w.in + p.w.pad) < kMax && p.w.stride * (p.w.out + 64) < kMax &&
         p.h.kernel * p.w.kernel < kMax / line_length(p);
}

// Calls f(plane index) for all planes, on as many threads as the work is worth.
template <typename Fn>
void for_each_plane(const Pool& p, const Fn& f) {
  const int64_t work = p.h.out * p.w.out * p.h.kernel * p.w.kernel;
  parallel_for(0, p.planes, std::max<int64_t>(1, kGrain / work), [&](int64_t first, int64_t last) {
    for (int64_t plane = first; plane < last; ++plane) {
      f(plane);
    }
  });
}

// What a thread needs for max pooling: a line of input values for each tap, and for each output
// column the first column of its window that lies inside the input.
struct MaxScratch {
  float* lines;
  const int32_t* first;
};

// The columns of one input row that tap `kw` sees, padded.
void copy_line(const Pool& p, const float* row, int64_t kw, float* line) {
  constexpr float kPadding = -std::numeric_limits<float>::infinity();
  const int64_t shift = kw * p.w.dilation - p.w.pad;
  int64_t begin, end;
  clip_columns(p.w.in, shift, p.w.stride, p.w.out, begin, end);
  std::fill(line, line + begin, kPadding);
  PlaneCopy copy = {};
  copy.from = row + shift + begin * p.w.stride;
  copy.from_col = p.w.stride;
  copy.to = line + begin;
  copy.planes = copy.rows = 1;
  copy.cols = end - begin;
  conv_kernels().copy_planes(copy);
  std::fill(line + end, line + p.w.out, kPadding);
}

void max_plane(const Pool& p, const MaxScratch& scratch, const float* in, float* out,
               int64_t* indices) {
  MaxPoolRow row;
  row.lines = scratch.lines;
  row.line = line_length(p);
  row.cols = p.w.kernel;
  row.row_step = p.h.dilation * p.w.in;
  row.col_step = p.w.dilation;
  row.stride = p.w.stride;
  row.first = scratch.first;
  row.count = p.w.out;
  for (int64_t oh = 0; oh < p.h.out; ++oh) {
    int64_t begin, end;
    p.h.clip(oh, begin, end);
    row.rows = end - begin;
    row.first_row = (oh * p.h.stride - p.h.pad + begin * p.h.dilation) * p.w.in;
    row.origin = row.first_row - p.w.pad;
    row.out = out + oh * p.w.out;
    row.indices = indices + oh * p.w.out;
    float* line = scratch.lines;
    for (int64_t kh = 0; kh < row.rows; ++kh) {
      const float* from = in + row.first_row + kh * row.row_step;
      for (int64_t kw = 0; kw < p.w.kernel; ++kw, line += row.line) {
        copy_line(p, from, kw, line);
      }
    }
    max_pool_row(row);
  }
}

// False without scratch memory: nothing has been written then.
bool max_planes(KernelRuntimeContext& ctx, const Pool& p, const float* in, float* out,
                int64_t* indices) {
  const int64_t lines = p.h.kernel * p.w.kernel * line_length(p);
  const int64_t threads = get_num_threads();
  auto memory = ctx.allocate_temp(static_cast<size_t>(threads * lines) * sizeof(float), 64);
  auto columns = ctx.allocate_temp(static_cast<size_t>(line_length(p)) * sizeof(int32_t), 64);
  if (!memory.ok() || !columns.ok()) {
    return false;
  }
  auto* first = static_cast<int32_t*>(columns.get());
  for (int64_t ow = 0; ow < p.w.out; ++ow) {
    int64_t begin, end;
    p.w.clip(ow, begin, end);
    first[ow] = static_cast<int32_t>(ow * p.w.stride - p.w.pad + begin * p.w.dilation);
  }
  const int64_t out_plane = p.h.out * p.w.out;
  for_each_plane(p, [&](int64_t plane) {
    float* own = static_cast<float*>(memory.get()) + get_thread_num() * lines;
    max_plane(p, {own, first}, in + plane * p.h.in * p.w.in, out + plane * out_plane,
              indices + plane * out_plane);
  });
  return true;
}

// How the sum of a window becomes its mean.
struct Divisor {
  bool count_padding;
  int64_t fixed;  // 0: by the number of elements
};

int64_t divide_by(const Pool& p, const Divisor& divisor, int64_t oh, int64_t ow, int64_t inside) {
  if (divisor.fixed != 0) {
    return divisor.fixed;
  }
  if (!divisor.count_padding) {
    return inside;
  }
  const auto extent = [](const Axis& a, int64_t o) {
    return std::min(a.kernel, a.in + a.pad - (o * a.stride - a.pad));
  };
  return extent(p.h, oh) * extent(p.w, ow);
}

void mean_plane(const Pool& p, const Divisor& divisor, const float* in, float* out) {
  for (int64_t oh = 0; oh < p.h.out; ++oh) {
    int64_t kh_begin, kh_end;
    p.h.clip(oh, kh_begin, kh_end);
    for (int64_t ow = 0; ow < p.w.out; ++ow) {
      int64_t kw_begin, kw_end;
      p.w.clip(ow, kw_begin, kw_end);
      const float* corner = in + (oh * p.h.stride - p.h.pad) * p.w.in + ow * p.w.stride - p.w.pad;
      float sum = 0.0f;
      for (int64_t kh = kh_begin; kh < kh_end; ++kh) {
        for (int64_t kw = kw_begin; kw < kw_end; ++kw) {
          sum += corner[kh * p.w.in + kw];
        }
      }
      const int64_t inside = (kh_end - kh_begin) * (kw_end - kw_begin);
      *out++ = sum / static_cast<float>(divide_by(p, divisor, oh, ow, inside));
    }
  }
}

}  // namespace

std::tuple<Tensor&, Tensor&> opt_max_pool2d_with_indices_out(
    KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
    IntArrayRef padding, IntArrayRef dilation, bool ceil_mode, Tensor& out, Tensor& indices) {
  Pool p;
  const bool fast = is_f32(out) && indices.scalar_type() == ScalarType::Long &&
                    set_pool(self, kernel_size, stride, padding, dilation, ceil_mode, p) &&
                    resize_pooled(self, p.h.out, p.w.out, out) &&
                    resize_pooled(self, p.h.out, p.w.out, indices) && is_small_plane(p) &&
                    max_planes(ctx, p, self.const_data_ptr<float>(), out.mutable_data_ptr<float>(),
                               indices.mutable_data_ptr<int64_t>());
  if (!fast) {
    return max_pool2d_with_indices_out(ctx, self, kernel_size, stride, padding, dilation, ceil_mode,
                                       out, indices);
  }
  return {out, indices};
}

Tensor& opt_avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& self, IntArrayRef kernel_size,
                           IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                           bool count_include_pad, std::optional<int64_t> divisor_override,
                           Tensor& out) {
  Pool p;
  const bool fast = is_f32(out) && divisor_override.value_or(1) != 0 &&
                    set_pool(self, kernel_size, stride, padding, {}, ceil_mode, p) &&
                    resize_pooled(self, p.h.out, p.w.out, out);
  if (!fast) {
    return avg_pool2d_out(ctx, self, kernel_size, stride, padding, ceil_mode, count_include_pad,
                          divisor_override, out);
  }
  const Divisor divisor{count_include_pad, divisor_override.value_or(0)};
  const auto* in = self.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  for_each_plane(p, [&](int64_t plane) {
    mean_plane(p, divisor, in + plane * p.h.in * p.w.in, to + plane * p.h.out * p.w.out);
  });
  return out;
}

Tensor& opt_adaptive_avg_pool2d_out(KernelRuntimeContext& ctx, const Tensor& self,
                                    IntArrayRef output_size, Tensor& out) {
  const bool to_one = output_size.size() == 2 && output_size[0] == 1 && output_size[1] == 1;
  const bool fast = to_one && (self.dim() == 3 || self.dim() == 4) && self.numel() > 0 &&
                    is_dense_f32(self) && is_f32(out) && resize_pooled(self, 1, 1, out);
  if (!fast) {
    return _adaptive_avg_pool2d_out(ctx, self, output_size, out);
  }
  const int64_t plane = self.size(self.dim() - 2) * self.size(self.dim() - 1);
  sum_dim({self.numel() / plane, plane, 1}, 1.0f / static_cast<float>(plane),
          self.const_data_ptr<float>(), out.mutable_data_ptr<float>());
  return out;
}

}  // namespace torch::executor::native
