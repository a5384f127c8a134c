// SPDX-License-Identifier: BSD-3-Clause
// How a direct convolution is cut into tasks, and how the input of a task is laid out in scratch
// memory.
#pragma once

#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <executorch/kernels/optimized/ranges.h>

#include <cstdint>

namespace executorch::kernels::optimized {

constexpr int64_t kMaxSlices = 8;  // of a region

// A part of some output slices, the same of each: whole rows, or columns of a single row.
struct Region {
  int64_t slice, slices, row, rows, col, cols;

  bool operator==(const Region& o) const {
    return slice == o.slice && slices == o.slices && row == o.row && rows == o.rows &&
           col == o.col && cols == o.cols;
  }
};

// A band holds the input of a region with its padding, of some channels at a time, as planes, one
// for each input slice, of [row phase][column phase][row][pitch]. A row phase holds the rows of one
// remainder modulo the stride; so does a column phase with columns, or, when shifted, the columns
// that one column of the filter reads: then rows follow one another without a gap, at the price of
// more copies. In both, a filter tap reads contiguous positions at a fixed offset, whatever stride,
// padding and dilation are.
struct Plan {
  int64_t terms;        // input values that an output value depends on
  int64_t in_channels;  // of a band
  int64_t block_terms;  // of a panel: its input stays in the L1 cache
  bool shifted;
  int64_t phases_h, phases_w;
  int64_t more_rows, more_cols;  // of a phase, beyond those of the region
  int64_t slices, rows, cols;    // of a region
  int64_t slice_regions, row_regions, col_regions;
  int64_t depth, depth_step;  // input slices of a band, and how far they lie apart in the input
  int64_t channels, channel_parts;  // output channels of a task, and tasks of a region
  int64_t pitch, plane;
  int64_t line;     // NHWC: columns of an input row, of one channel
  int64_t vectors;  // of a region, at most

  int64_t phase_at(int64_t ph, int64_t pw) const {
    return (ph * phases_w + pw) * (rows + more_rows) * pitch;
  }
};

Plan make_plan(const Conv& conv);

// Where the values of each term of a band begin in it, in the order of the weights.
void set_offsets(const Conv& conv, const Plan& plan, int32_t* offsets);

// Covers the positions of a region with vectors; returns how many.
int64_t set_vectors(const Conv& conv, const Plan& plan, const Region& region, ConvVector* vectors);

// Copies `channels` channels of the input of a region, the first of which begins at `input`.
// Padding is only written when the band does not hold it yet. `lines` has room for plan.line values
// of each channel.
void copy_band(const Conv& conv, const Plan& plan, const Region& region, const float* input,
               int64_t channels, bool padding, float* lines, float* band);

}  // namespace executorch::kernels::optimized
