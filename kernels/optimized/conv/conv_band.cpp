// SPDX-License-Identifier: BSD-3-Clause
// Copies the input of a region into its band: see conv_plan.h.
#include <executorch/kernels/optimized/conv/conv_columns.h>
#include <executorch/kernels/optimized/conv/conv_plan.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>

#include <algorithm>

namespace executorch::kernels::optimized {

namespace {

// The part of a phase that lies inside the input.
struct Inside {
  int64_t row_begin, row_end, col_begin, col_end;
};

// Zeros around the inside of one phase of one plane.
void pad_phase(const Plan& p, int64_t rows, const Inside& in, float* out) {
  std::fill(out, out + in.row_begin * p.pitch, 0.0f);
  for (int64_t y = in.row_begin; y < in.row_end && in.col_end - in.col_begin < p.pitch; ++y) {
    std::fill(out + y * p.pitch, out + y * p.pitch + in.col_begin, 0.0f);
    std::fill(out + y * p.pitch + in.col_end, out + (y + 1) * p.pitch, 0.0f);
  }
  std::fill(out + in.row_end * p.pitch, out + rows * p.pitch, 0.0f);
}

// What the copies of one input slice have in common.
struct Slice {
  const Conv& c;
  const Plan& p;
  int64_t channels;   // of the band
  int64_t to_plane;   // values between channels in the band
  int64_t first_col;  // of the input, for the first column of phase 0

  int64_t column(int64_t pw) const { return first_col + (p.shifted ? pw * c.dilation_w : pw); }
};

// All column phases of a row phase, of all channels.
void pad_phases(const Slice& s, int64_t rows, Inside in, float* out) {
  for (int64_t pw = 0; pw < s.p.phases_w; ++pw) {
    clip_columns(s.c.in_w, s.column(pw), s.c.stride_w, s.p.pitch, in.col_begin, in.col_end);
    for (int64_t channel = 0; channel < s.channels; ++channel) {
      pad_phase(s.p, rows, in, out + s.p.phase_at(0, pw) + channel * s.to_plane);
    }
  }
}

// One phase of `slices` input slices, or of all channels of one.
PlaneCopy phase_copy(const Slice& s, const float* slice, int64_t slices, int64_t first_row,
                     const Inside& in, int64_t pw, float* out) {
  const Conv& c = s.c;
  const int64_t row = first_row + in.row_begin * c.stride_h;
  const int64_t col = s.column(pw) + in.col_begin * c.stride_w;
  PlaneCopy copy;
  copy.from = slice + row * c.in_w + col;
  copy.from_plane = (slices > 1 ? s.p.depth_step : c.in_d) * c.in_h * c.in_w;
  copy.from_row = c.stride_h * c.in_w;
  copy.from_col = c.stride_w;
  copy.to = out + in.row_begin * s.p.pitch + in.col_begin;
  copy.to_plane = slices > 1 ? s.p.plane : s.to_plane;
  copy.to_row = s.p.pitch;
  copy.planes = slices > 1 ? slices : s.channels;
  copy.rows = in.row_end - in.row_begin;
  copy.cols = in.col_end - in.col_begin;
  return copy;
}

// All column phases of a row phase; two of neighbouring columns at once.
void copy_nchw(const Slice& s, const float* slice, int64_t slices, int64_t first_row, Inside in,
               float* out) {
  const Conv& c = s.c;
  const Plan& p = s.p;
  PlaneCopy copies[2];
  const bool pairs = c.stride_w == 2 && p.phases_w == 2 && !p.shifted;
  for (int64_t pw = 0; pw < p.phases_w; ++pw) {
    clip_columns(c.in_w, s.column(pw), c.stride_w, p.pitch, in.col_begin, in.col_end);
    PlaneCopy& copy = copies[pw % 2];
    copy = phase_copy(s, slice, slices, first_row, in, pw, out + p.phase_at(0, pw));
    if (!pairs) {
      conv_kernels().copy_planes(copy);
    }
  }
  if (!pairs) {
    return;
  }
  PlaneCopy& first = copies[copies[0].from < copies[1].from ? 0 : 1];
  const PlaneCopy& second = copies[&first == copies ? 1 : 0];
  const int64_t more = first.cols - second.cols;
  if (second.from == first.from + 1 && (more == 0 || more == 1)) {
    first.between = second.to;
    first.between_cols = second.cols;
  } else {
    conv_kernels().copy_planes(second);
  }
  conv_kernels().copy_planes(first);
}

void split_pixels(const Slice& s, const float* pixels, int64_t step, int64_t count, float* out,
                  int64_t out_step) {
  if (s.c.in_channels == 3 && s.channels == 3 && step == 3) {
    conv_kernels().split_triples(pixels, count, out, out_step);
  } else {
    gemm_kernels().transpose(pixels, step, count, s.channels, out, out_step, /*add=*/false);
  }
}

// One row of pixels into that row of all column phases: straight when there is one, or by way of a
// line for each channel.
void copy_pixels(const Slice& s, const float* row, float* lines, float* out) {
  const Conv& c = s.c;
  const Plan& p = s.p;
  int64_t first, last;
  if (p.phases_w == 1) {
    clip_columns(c.in_w, s.first_col, c.stride_w, p.pitch, first, last);
    const float* from = row + (s.first_col + first * c.stride_w) * c.in_channels;
    split_pixels(s, from, c.stride_w * c.in_channels, last - first, out + first, s.to_plane);
    return;
  }
  const int64_t begin = std::max<int64_t>(0, s.first_col);
  const int64_t end = std::min(c.in_w, s.first_col + p.line);
  split_pixels(s, row + begin * c.in_channels, c.in_channels, end - begin, lines, p.line);
  for (int64_t pw = 0; pw < p.phases_w; ++pw) {
    clip_columns(c.in_w, s.column(pw), c.stride_w, p.pitch, first, last);
    PlaneCopy copy;
    copy.from = lines + s.column(pw) + first * c.stride_w - begin;
    copy.from_plane = p.line;
    copy.from_row = 0;
    copy.from_col = c.stride_w;
    copy.to = out + p.phase_at(0, pw) + first;
    copy.to_plane = s.to_plane;
    copy.to_row = 0;
    copy.planes = s.channels;
    copy.rows = 1;
    copy.cols = last - first;
    conv_kernels().copy_planes(copy);
  }
}

}  // namespace

void copy_band(const Conv& c, const Plan& p, const Region& r, const float* input, int64_t channels,
               bool padding, float* lines, float* band) {
  const int64_t rows = r.rows + p.more_rows;
  const int64_t row_values = c.in_w * (c.channels_last ? c.in_channels : 1);
  const Slice s = {c, p, channels, p.depth * p.plane, r.col * c.stride_w - c.pad_w};
  const int64_t depths = (r.slices - 1) * c.stride_d + c.kernel_d;
  const int64_t first_depth = r.slice * c.stride_d - c.pad_d;
  int64_t begin, end;  // slices inside of the input
  clip_columns(c.in_d, first_depth, p.depth_step, depths, begin, end);
  const int64_t together =
      channels == 1 && !c.channels_last ? std::max<int64_t>(1, end - begin) : 1;
  for (int64_t i = 0; i < depths * p.phases_h; ++i) {
    const int64_t at = i / p.phases_h;
    const int64_t ph = i % p.phases_h;
    const int64_t first_row = r.row * c.stride_h + ph - c.pad_h;
    const float* slice = input + (first_depth + at * p.depth_step) * c.in_h * row_values;
    float* out = band + at * p.plane + p.phase_at(ph, 0);
    Inside in;
    clip_columns(c.in_h, first_row, c.stride_h, rows, in.row_begin, in.row_end);
    const bool outside = at < begin || at >= end;
    if (padding) {
      Inside kept = in;
      kept.row_begin = outside ? rows : in.row_begin;
      kept.row_end = outside ? rows : in.row_end;
      pad_phases(s, rows, kept, out);
    }
    if (outside) {
      continue;
    }
    if (!c.channels_last && (at - begin) % together == 0) {
      copy_nchw(s, slice, together, first_row, in, out);
    }
    for (int64_t y = in.row_begin; y < in.row_end && c.channels_last; ++y) {
      copy_pixels(s, slice + (first_row + y * c.stride_h) * row_values, lines, out + y * p.pitch);
    }
  }
}

}  // namespace executorch::kernels::optimized
