// SPDX-License-Identifier: BSD-3-Clause
// Direct convolution: a band of the input is copied into scratch once, as planes with their padding
// split by row and column modulo the stride. Then every filter tap reads contiguous positions at a
// fixed offset, whatever stride, padding and dilation are, and the weights are read as they lie.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/conv/conv_columns.h>
#include <executorch/kernels/optimized/conv/conv_tile.h>
#include <executorch/kernels/optimized/gemm_simd.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using extension::get_num_threads;
using extension::get_thread_num;
using extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kBandFloats = 96 * 1024;     // of a band: with the weights in the L2 cache
constexpr int64_t kBlockTerms = 256;           // so that a panel's input stays in the L1 cache
constexpr int64_t kBlockChannels = 256;        // and these weights in the L2 cache
constexpr int64_t kMinPositions = 192;         // of a region that is cut only to feed threads
constexpr int64_t kMinWorkPerTask = 1 << 17;   // multiply-adds worth waking a thread for
constexpr int64_t kTasksPerThread = 2;         // so that a held-up thread is not waited for long
constexpr int64_t kOverread = 2 * kConvLanes;  // behind a band, for whole vectors
constexpr int64_t kPanelWidth = kConvTileVectors * kConvLanes;

int64_t div_up(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t reach(int64_t kernel, int64_t dilation) {
  return (kernel - 1) * dilation + 1;
}

// A part of one output slice: whole rows, or columns of a single row.
struct Region {
  int64_t slice, row, rows, col, cols;
};

// How the work is cut and how a band lies: planes of [row phase][column phase][row][pitch].
struct Plan {
  int64_t planes, terms;         // input planes of a group that an output value depends on
  int64_t phases_h, phases_w;    // input rows and columns modulo the stride
  int64_t more_rows, more_cols;  // of a phase, beyond those of the region
  int64_t rows, cols;            // of a region
  int64_t row_regions, col_regions, channel_parts;
  int64_t channels;  // of a part
  int64_t pitch, plane;
  int64_t vectors;  // of a region, at most
};

int64_t phase_at(const Plan& p, int64_t ph, int64_t pw, int64_t row) {
  return ((ph * p.phases_w + pw) * (p.rows + p.more_rows) + row) * p.pitch;
}

void cut_regions(const Conv& c, Plan& p) {
  const int64_t phases = p.planes * p.phases_h * p.phases_w;
  const int64_t fit_cols = kBandFloats / (phases * (1 + p.more_rows)) - p.more_cols;
  p.cols = c.out_w;
  p.rows = 1;
  if (fit_cols < c.out_w) {
    p.cols = std::min(c.out_w, std::max<int64_t>(1, fit_cols / kPanelWidth) * kPanelWidth);
  } else {
    const int64_t fit_rows = kBandFloats / (phases * (c.out_w + p.more_cols)) - p.more_rows;
    p.rows = std::clamp<int64_t>(fit_rows, 1, c.out_h);
  }
  p.col_regions = div_up(c.out_w, p.cols);
  p.row_regions = div_up(c.out_h, p.rows);
}

// More tasks when there are fewer than threads want: smaller regions first, as the weights are
// read again for each, then parts of the output channels, for each of which the band is copied.
void cut_for_threads(const Conv& c, int64_t tile_rows, Plan& p) {
  const int64_t channels = c.out_channels / c.groups;
  const int64_t tasks = c.batch * c.groups * c.out_d * p.row_regions * p.col_regions;
  const int64_t positions = c.out_h * c.out_w;
  const int64_t work = c.batch * c.groups * c.out_d * positions * channels * p.terms;
  const int64_t threads = get_num_threads();
  const int64_t wanted =
      threads == 1 ? 1 : std::min(threads * kTasksPerThread, work / kMinWorkPerTask);
  if (tasks < wanted && p.col_regions == 1) {
    const int64_t most = std::min(c.out_h, positions / kMinPositions);
    p.row_regions = std::max(p.row_regions, std::min(most, p.row_regions * div_up(wanted, tasks)));
  }
  p.rows = div_up(c.out_h, p.row_regions);
  p.row_regions = div_up(c.out_h, p.rows);
  const int64_t regions = c.batch * c.groups * c.out_d * p.row_regions * p.col_regions;
  const int64_t parts = regions < wanted ? div_up(wanted, regions) : 1;
  p.channels = div_up(div_up(channels, parts), tile_rows) * tile_rows;
  p.channel_parts = div_up(channels, p.channels);
}

Plan make_plan(const Conv& c) {
  Plan p = {};
  p.planes = c.in_channels / c.groups * c.kernel_d;
  p.terms = p.planes * c.kernel_h * c.kernel_w;
  const int64_t reach_h = reach(c.kernel_h, c.dilation_h);
  const int64_t reach_w = reach(c.kernel_w, c.dilation_w);
  p.phases_h = std::min(c.stride_h, reach_h);
  p.phases_w = std::min(c.stride_w, reach_w);
  p.more_rows = (reach_h - 1) / c.stride_h;
  p.more_cols = (reach_w - 1) / c.stride_w;
  cut_regions(c, p);
  cut_for_threads(c, conv_kernels().rows, p);
  p.pitch = p.cols + p.more_cols;
  // An odd number of cache lines, so that planes do not fall on the same sets.
  const int64_t lines = div_up(phase_at(p, p.phases_h, 0, 0), kConvLanes);
  p.plane = (lines | 1) * kConvLanes;
  p.vectors = div_up(p.rows * p.pitch, conv_kernels().lanes);
  return p;
}

// Where the values of each term begin in a band, in the order of the weights.
void set_offsets(const Conv& c, const Plan& p, int32_t* offsets) {
  const int64_t channels = c.in_channels / c.groups;
  const int64_t taps = c.kernel_d * c.kernel_h * c.kernel_w;
  for (int64_t channel = 0; channel < channels; ++channel) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t kd = tap / (c.kernel_h * c.kernel_w);
      const int64_t y = tap / c.kernel_w % c.kernel_h * c.dilation_h;
      const int64_t x = tap % c.kernel_w * c.dilation_w;
      const int64_t at = (channel * c.kernel_d + kd) * p.plane +
                         phase_at(p, y % c.stride_h, x % c.stride_w, y / c.stride_h) +
                         x / c.stride_w;
      const int64_t term = c.weight_channels_last ? tap * channels + channel : channel * taps + tap;
      offsets[term] = static_cast<int32_t>(at);
    }
  }
}

// Positions of a region by vectors: which lanes are outputs, and where they go.
int64_t set_vectors(const Plan& p, const Region& r, int64_t lanes, ConvVector* vectors) {
  const int64_t positions = (r.rows - 1) * p.pitch + r.cols;
  int64_t count = 0, first = 0, col = 0, row = 0;
  for (int64_t n = 0; n < positions; n += lanes) {
    uint32_t bits = 0;
    int64_t valid = 0;
    for (int64_t lane = 0; lane < lanes && row < r.rows;) {
      const int64_t end = col < r.cols ? r.cols : p.pitch;
      const int64_t step = std::min(end - col, lanes - lane);
      if (col < r.cols) {
        bits |= ((1u << step) - 1) << lane;
        valid += step;
      }
      lane += step;
      col += step;
      if (col == p.pitch) {
        col = 0;
        ++row;
      }
    }
    ConvVector& v = vectors[count++];
    v = {first, valid, {static_cast<uint8_t>(bits), static_cast<uint8_t>(bits >> 8)}};
    first += valid;
  }
  return count;
}

// One input row of one plane (nullptr: padding), all column phases. `line` holds a padded row.
void copy_row(const Conv& c, const Plan& p, const float* row, int64_t first_col, float* line,
              float* out) {
  const int64_t phase = (p.rows + p.more_rows) * p.pitch;
  if (row == nullptr) {
    for (int64_t pw = 0; pw < p.phases_w; ++pw) {
      std::fill(out + pw * phase, out + pw * phase + p.pitch, 0.0f);
    }
  } else if (c.stride_w > 1 && p.phases_w == c.stride_w) {
    copy_columns(row, c.in_w, first_col, 1, c.stride_w * p.pitch, line);
    if (c.stride_w == 2) {
      conv_kernels().split_pairs(line, p.pitch, out, out + phase);
    } else {
      gemm_kernels().transpose(line, c.stride_w, p.pitch, c.stride_w, out, phase, /*add=*/false);
    }
  } else {
    for (int64_t pw = 0; pw < p.phases_w; ++pw) {
      copy_columns(row, c.in_w, first_col + pw, c.stride_w, p.pitch, out + pw * phase);
    }
  }
}

// One row of NHWC pixels (nullptr: padding) into the planes of all channels, `step` apart.
void copy_pixels(const Conv& c, const Plan& p, const float* row, int64_t first_col, int64_t step,
                 float* out) {
  const int64_t channels = c.in_channels / c.groups;
  const int64_t phase = (p.rows + p.more_rows) * p.pitch;
  for (int64_t pw = 0; pw < p.phases_w; ++pw, out += phase) {
    int64_t begin = p.pitch, end = p.pitch;
    const int64_t first = first_col + pw;
    if (row != nullptr) {
      clip_columns(c.in_w, first, c.stride_w, p.pitch, begin, end);
    }
    for (int64_t channel = 0; channel < channels && end - begin < p.pitch; ++channel) {
      float* to = out + channel * step;
      std::fill(to, to + begin, 0.0f);
      std::fill(to + end, to + p.pitch, 0.0f);
    }
    if (begin < end) {
      gemm_kernels().transpose(row + (first + begin * c.stride_w) * c.in_channels,
                               c.stride_w * c.in_channels, end - begin, channels, out + begin, step,
                               /*add=*/false);
    }
  }
}

// The input of a region: `input` is the first value of the group's first channel.
void copy_band(const Conv& c, const Plan& p, const Region& r, const float* input, float* line,
               float* band) {
  const int64_t first_col = r.col * c.stride_w - c.pad_w;
  const int64_t row_values = c.in_w * (c.channels_last ? c.in_channels : 1);
  const int64_t planes = c.channels_last ? c.kernel_d : p.planes;
  for (int64_t q = 0; q < planes; ++q) {
    const int64_t slice = r.slice * c.stride_d - c.pad_d + q % c.kernel_d * c.dilation_d;
    const bool slice_inside = slice >= 0 && slice < c.in_d;
    const float* plane = input + (q / c.kernel_d * c.in_d + slice) * c.in_h * row_values;
    for (int64_t y = 0; y < (r.rows + p.more_rows) * p.phases_h; ++y) {
      const int64_t ph = y % p.phases_h;
      const int64_t ih = (r.row + y / p.phases_h) * c.stride_h + ph - c.pad_h;
      const bool inside = slice_inside && ih >= 0 && ih < c.in_h;
      const float* row = inside ? plane + ih * row_values : nullptr;
      float* out = band + q * p.plane + phase_at(p, ph, 0, y / p.phases_h);
      if (c.channels_last) {
        copy_pixels(c, p, row, first_col, c.kernel_d * p.plane, out);
      } else {
        copy_row(c, p, row, first_col, line, out);
      }
    }
  }
}

// What the tiles of a task share.
struct Task {
  const float* weight;  // of the first channel
  const float* bias;
  float* out;  // the first channel's first output
  int64_t channels;
  const float* band;
  const int32_t* offsets;
  const ConvVector* vectors;
  int64_t num_vectors;
};

// One panel of positions, vectors [first, first + count), for channels [begin, end).
void convolve_panel(const Conv& c, const Plan& p, const Task& task, int64_t first, int64_t count,
                    int64_t begin, int64_t end, int64_t term, int64_t terms) {
  const ConvKernels& kernels = conv_kernels();
  alignas(64) float buffer[kConvTileRows * kPanelWidth];
  const ConvVector* vectors = task.vectors + first;
  const ConvVector& last = vectors[count - 1];
  const int64_t positions = last.first + last.count - vectors[0].first;
  ConvTile tile;
  tile.k = terms;
  tile.weight_stride = p.terms;
  tile.input = task.band + first * kernels.lanes;
  tile.offset = task.offsets + term;
  tile.vectors = vectors;
  tile.out_stride = c.channels_last ? kPanelWidth : c.out_d * c.out_h * c.out_w;
  tile.accumulate = term > 0 && !c.channels_last;
  for (int64_t i = begin; i < end; i += kernels.rows) {
    const int64_t rows = std::min(kernels.rows, end - i);
    tile.weight = task.weight + i * p.terms + term;
    tile.bias = term == 0 && task.bias != nullptr ? task.bias + i : nullptr;
    tile.out = c.channels_last ? buffer - vectors[0].first : task.out + i * tile.out_stride;
    kernels.tile[rows - 1][count - 1](tile);
    if (c.channels_last) {
      gemm_kernels().transpose(buffer, kPanelWidth, rows, positions,
                               task.out + vectors[0].first * c.out_channels + i, c.out_channels,
                               /*add=*/term > 0);
    }
  }
}

void convolve_band(const Conv& c, const Plan& p, const Task& task) {
  const int64_t step = div_up(p.terms, div_up(p.terms, kBlockTerms));
  const int64_t panels = div_up(task.num_vectors, kConvTileVectors);
  for (int64_t term = 0; term < p.terms; term += step) {
    const int64_t terms = std::min(step, p.terms - term);
    for (int64_t i = 0; i < task.channels; i += kBlockChannels) {
      const int64_t end = std::min(i + kBlockChannels, task.channels);
      for (int64_t panel = 0; panel < panels; ++panel) {
        const int64_t first = panel * task.num_vectors / panels;
        const int64_t next = (panel + 1) * task.num_vectors / panels;
        convolve_panel(c, p, task, first, next - first, i, end, term, terms);
      }
    }
  }
}

struct Scratch {
  const int32_t* offsets;
  float *band, *line;  // of this thread
  ConvVector* vectors;
};

// Tasks [begin, end); those of one region follow one another.
void run_tasks(const Conv& c, const Plan& p, const Scratch& s, int64_t begin, int64_t end) {
  const int64_t in_channels = c.in_channels / c.groups;
  const int64_t out_channels = c.out_channels / c.groups;
  const int64_t in_plane = c.in_d * c.in_h * c.in_w;
  const int64_t out_plane = c.out_d * c.out_h * c.out_w;
  int64_t copied = -1;
  int64_t num_vectors = 0;
  for (int64_t index = begin; index < end; ++index) {
    const int64_t part = index % p.channel_parts;
    const int64_t source = index / p.channel_parts;
    int64_t rest = source;
    Region r;
    r.col = rest % p.col_regions * p.cols;
    rest /= p.col_regions;
    r.row = rest % p.row_regions * p.rows;
    rest /= p.row_regions;
    r.slice = rest % c.out_d;
    rest /= c.out_d;
    const int64_t group = rest % c.groups;
    const int64_t image = rest / c.groups;
    r.cols = std::min(p.cols, c.out_w - r.col);
    r.rows = std::min(p.rows, c.out_h - r.row);
    if (source != copied) {
      const float* input = c.input + image * c.in_channels * in_plane +
                           group * in_channels * (c.channels_last ? 1 : in_plane);
      copy_band(c, p, r, input, s.line, s.band);
      num_vectors = set_vectors(p, r, conv_kernels().lanes, s.vectors);
      copied = source;
    }
    const int64_t first = part * p.channels;
    const int64_t channel = group * out_channels + first;
    const int64_t position = (r.slice * c.out_h + r.row) * c.out_w + r.col;
    Task task;
    task.weight = c.weight + channel * p.terms;
    task.bias = c.bias == nullptr ? nullptr : c.bias + channel;
    task.out =
        c.output + image * c.out_channels * out_plane +
        (c.channels_last ? position * c.out_channels + channel : channel * out_plane + position);
    task.channels = std::min(p.channels, out_channels - first);
    task.band = s.band;
    task.offsets = s.offsets;
    task.vectors = s.vectors;
    task.num_vectors = num_vectors;
    convolve_band(c, p, task);
  }
}

}  // namespace

Error direct_conv(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  const Plan p = make_plan(c);
  const int64_t line = c.stride_w * p.pitch + kOverread;
  const int64_t band = p.planes * p.plane + kOverread;
  const int64_t tasks =
      c.batch * c.groups * c.out_d * p.row_regions * p.col_regions * p.channel_parts;
  const int64_t threads = std::min(get_num_threads(), tasks);
  auto offsets = ctx.allocate_temp(static_cast<size_t>(p.terms) * sizeof(int32_t), 64);
  auto floats = ctx.allocate_temp(static_cast<size_t>(threads * (line + band)) * sizeof(float), 64);
  auto vectors =
      ctx.allocate_temp(static_cast<size_t>(threads * p.vectors) * sizeof(ConvVector), 64);
  if (!offsets.ok() || !floats.ok() || !vectors.ok()) {
    return Error::MemoryAllocationFailed;
  }
  set_offsets(c, p, static_cast<int32_t*>(offsets.get()));
  const int64_t work = p.rows * p.cols * p.channels * p.terms;
  parallel_for(
      0, tasks, std::max<int64_t>(1, kMinWorkPerTask / work), [&](int64_t begin, int64_t end) {
        const int64_t thread = get_thread_num();
        float* own = static_cast<float*>(floats.get()) + thread * (line + band);
        const Scratch scratch = {static_cast<const int32_t*>(offsets.get()), own, own + band,
                                 static_cast<ConvVector*>(vectors.get()) + thread * p.vectors};
        run_tasks(c, p, scratch, begin, end);
      });
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
