// SPDX-License-Identifier: BSD-3-Clause
// Direct convolution: the input of a region is brought into a band of planes once, then every
// filter tap reads it there, and the weights are read in place.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/conv/conv_plan.h>
#include <executorch/kernels/optimized/gemm/gemm.h>
#include <executorch/kernels/optimized/gemm/gemm_simd.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using extension::get_num_threads;
using extension::get_thread_num;
using extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kBlockWeights = 16 * 1024;    // of a block of channels: in the L2 cache
constexpr int64_t kMinWorkPerTask = 1 << 17;    // multiply-adds worth waking a thread for
constexpr int64_t kMinWorkPerVector = 1 << 12;  // multiply-adds of a lane worth seeking padding
constexpr int64_t kOverread = 2 * kConvLanes;   // behind a band, for whole vectors
constexpr int64_t kPaddingToSkip = 2;           // rows, from which on terms are left out in 2-D
// Positions that are worth dot products, of the widest vectors.
constexpr int64_t kMaxDots = kMaxDotVectors;
constexpr int64_t kLanesPerDot = kConvLanes / kMaxDots;
constexpr int64_t kMinDotTerms = 64;
constexpr int64_t kDotChannels = 4;  // output channels for each position
constexpr int64_t kBufferWidth = kConvRowVectors * kConvLanes;

// What one thread works with.
struct Scratch {
  const int32_t* offsets;
  float *band, *lines;
  ConvVector* vectors;
  float* gathered;  // the input of some positions
};

// Some output channels of one region.
struct Task {
  const float* input;   // the group's first channel
  const float* weight;  // of the first output channel
  const float* bias;
  float* out;  // the first channel's first output
  int64_t channels;
  Region region;
  int64_t num_vectors;
};

// Terms of one pass over the outputs. Of weights with channels innermost: `runs` taps from `tap`
// on, of the band's channels. Of others: one contiguous run of the weights.
struct Terms {
  int64_t first;  // in the weights of an output channel
  int64_t runs, run;
  const int32_t* offsets;
  int64_t tap;

  int64_t count() const { return runs * run; }
};

// Rows of the filter, counted through its slices, that see more than padding from some of the
// vectors.
struct FilterRows {
  int64_t begin, end;

  bool operator==(const FilterRows& o) const { return begin == o.begin && end == o.end; }
};

// Of a filter of several slices whole ones are left out, as an output slice reads them or not.
bool skips_padding(const Conv& c) {
  return c.kernel_d > 1 ? c.pad_d > 0 : c.pad_h >= kPaddingToSkip;
}

// Steps of a filter along one axis that meet the input, read from positions `first` to `last` on.
FilterRows steps_inside(int64_t first, int64_t last, int64_t size, int64_t kernel,
                        int64_t dilation) {
  const int64_t end = first >= size ? 0 : std::min(kernel, div_up(size - first, dilation));
  const int64_t begin = last >= 0 ? 0 : div_up(-last, dilation);
  return {std::min(begin, end), end};
}

FilterRows filter_rows(const Conv& c, const Plan& p, const Region& r, const ConvVector& first,
                       const ConvVector& last) {
  if (!skips_padding(c)) {
    return {0, c.kernel_d * c.kernel_h};
  }
  if (c.kernel_d > 1) {
    const int64_t plane = c.out_h * c.out_w;
    const FilterRows slices = steps_inside((r.slice + first.first / plane) * c.stride_d - c.pad_d,
                                           (r.slice + last.first / plane) * c.stride_d - c.pad_d,
                                           c.in_d, c.kernel_d, c.dilation_d);
    return {slices.begin * c.kernel_h, slices.end * c.kernel_h};
  }
  const int64_t last_row = std::min(r.rows - 1, (last.at + conv_kernels().lanes - 1) / p.pitch);
  return steps_inside((r.row + first.at / p.pitch) * c.stride_h - c.pad_h,
                      (r.row + last_row) * c.stride_h - c.pad_h, c.in_h, c.kernel_h, c.dilation_h);
}

// Leaves out what multiplies padding: of terms that are whole channels, or ordered by taps.
void set_runs(const Conv& c, const Plan& p, const Terms& terms, const FilterRows& rows,
              ConvTile& tile) {
  const int64_t channels = c.in_channels / c.groups;
  const int64_t taps = c.kernel_d * c.kernel_h * c.kernel_w;
  const bool all = rows.end - rows.begin == c.kernel_d * c.kernel_h;
  int64_t skipped = 0;  // runs, or terms when there is one
  tile.runs = terms.runs;
  tile.run = terms.run;
  tile.run_step = c.weight_channels_last ? channels : 0;
  tile.offset_step = c.weight_channels_last ? p.in_channels : 0;
  if (c.weight_channels_last && !all) {
    const int64_t end = std::min(terms.tap + terms.runs, rows.end * c.kernel_w);
    skipped = std::clamp<int64_t>(rows.begin * c.kernel_w - terms.tap, 0, terms.runs);
    tile.runs = std::max<int64_t>(0, end - terms.tap - skipped);
  } else if (!all && terms.first % taps == 0 && terms.run % taps == 0) {
    tile.runs = terms.run / taps;
    tile.run = (rows.end - rows.begin) * c.kernel_w;
    tile.run_step = tile.offset_step = taps;
    skipped = rows.begin * c.kernel_w;
  }
  tile.weight += skipped * (c.weight_channels_last ? channels : 1);
  tile.offset = terms.offsets + skipped * (c.weight_channels_last ? p.in_channels : 1);
  if (tile.run == tile.run_step && tile.run == tile.offset_step) {  // no gaps
    tile.run *= tile.runs;
    tile.runs = 1;
  }
}

// One panel of positions, `count` vectors, for output channels [begin, end).
void convolve_panel(const Conv& c, const Plan& p, const Task& task, const Terms& terms,
                    const float* band, const ConvVector* vectors, int64_t count, int64_t begin,
                    int64_t end) {
  const ConvKernels& kernels = conv_kernels();
  alignas(64) float buffer[kConvTileRows * kBufferWidth];
  const ConvVector& last = vectors[count - 1];
  const int64_t positions = last.first + last.count - vectors[0].first;
  const bool accumulate = terms.first > 0;
  ConvTile tile;
  tile.weight = task.weight + terms.first;
  set_runs(c, p, terms, filter_rows(c, p, task.region, vectors[0], last), tile);
  const float* weight = tile.weight;
  tile.weight_stride = p.terms;
  tile.input = band;
  tile.vectors = vectors;
  tile.out_stride = c.channels_last ? kBufferWidth : c.out_d * c.out_h * c.out_w;
  tile.accumulate = accumulate && !c.channels_last;
  for (int64_t i = begin; i < end; i += kernels.rows) {
    const int64_t rows = std::min(kernels.rows, end - i);
    tile.weight = weight + i * p.terms;
    tile.bias = !accumulate && task.bias != nullptr ? task.bias + i : nullptr;
    tile.out = c.channels_last ? buffer - vectors[0].first : task.out + i * tile.out_stride;
    (count > kConvTileVectors ? kernels.row[0][count - 1]
                              : kernels.tile[rows - 1][count - 1])(tile);
    if (c.channels_last) {
      gemm_kernels().transpose(buffer, kBufferWidth, rows, positions,
                               task.out + vectors[0].first * c.out_channels + i, c.out_channels,
                               accumulate);
    }
  }
}

// A vector of few positions, at the end of a slice, would mostly compute what nobody wants: dot
// products over the terms, which the weights have in order, take less. Not of few channels, as the
// input is gathered for them, nor where much of the filter lies in padding, of which they leave out
// none.
bool takes_dots(const Conv& c, const Plan& p, const Task& task, const Terms& terms,
                const ConvVector& v) {
  const int64_t most = conv_kernels().lanes / kLanesPerDot;
  if (v.count > most || terms.count() < kMinDotTerms || task.channels < kDotChannels * v.count ||
      c.channels_last || c.weight_channels_last) {
    return false;
  }
  const FilterRows rows = filter_rows(c, p, task.region, v, v);
  return v.count * c.kernel_d * c.kernel_h <= most * (rows.end - rows.begin);
}

// Puts the input of a vector's positions one after the other.
void gather_positions(const Terms& terms, const ConvVector& v, const float* band, float* to) {
  for (int64_t lane = 0; lane < kConvLanes; ++lane) {
    if ((v.bits[lane / 8] >> (lane % 8) & 1) == 0) {
      continue;
    }
    const float* from = band + v.at + lane;
    for (int64_t term = 0; term < terms.count(); ++term) {
      to[term] = from[terms.offsets[term]];
    }
    to += terms.count();
  }
}

// Gathered positions of one vector for output channels [begin, end).
void convolve_dots(const Conv& c, const Plan& p, const Task& task, const Terms& terms,
                   const float* gathered, const ConvVector& v, int64_t begin, int64_t end) {
  constexpr int64_t kChannels = 64;  // at a time
  float made[kMaxDots * kChannels];
  DotRows dots;
  dots.num_x = v.count;
  dots.k = dots.x_stride = terms.count();
  dots.row_stride = p.terms;
  dots.x = gathered;
  dots.out = made;
  dots.out_stride = kChannels;
  const bool accumulate = terms.first > 0;
  const int64_t plane = c.out_d * c.out_h * c.out_w;
  for (int64_t channel = begin; channel < end; channel += kChannels) {
    const int64_t count = std::min(kChannels, end - channel);
    dots.rows = task.weight + terms.first + channel * p.terms;
    dots.bias = accumulate || task.bias == nullptr ? nullptr : task.bias + channel;
    gemm_kernels().dot_rows(dots, 0, count);
    for (int64_t row = 0; row < count; ++row) {
      float* const out = task.out + (channel + row) * plane + v.first;
      for (int64_t j = 0; j < v.count; ++j) {
        out[j] = made[j * kChannels + row] + (accumulate ? out[j] : 0.0f);
      }
    }
  }
}

// How many of the vectors from `first` on go into panels of their own: those that leave out the
// same rows of the filter, or all where finding out costs more than it saves.
int64_t alike_vectors(const Conv& c, const Plan& p, const Task& task, const Terms& terms,
                      const ConvVector* first, int64_t most) {
  if (!skips_padding(c) || task.channels * terms.count() < kMinWorkPerVector) {
    return most;
  }
  const FilterRows rows = filter_rows(c, p, task.region, *first, *first);
  int64_t count = 1;
  while (count < most && filter_rows(c, p, task.region, first[count], first[count]) == rows) {
    ++count;
  }
  return count;
}

// `count` vectors in panels, for output channels [begin, end).
void convolve_panels(const Conv& c, const Plan& p, const Task& task, const Terms& terms,
                     const float* band, const ConvVector* vectors, int64_t count, int64_t begin,
                     int64_t end) {
  const int64_t width = task.channels == 1 ? kConvRowVectors : kConvTileVectors;
  for (int64_t from = 0; from < count;) {
    const int64_t alike = alike_vectors(c, p, task, terms, vectors + from, count - from);
    const int64_t panels = div_up(alike, width);
    for (int64_t panel = 0; panel < panels; ++panel) {
      const int64_t first = panel * alike / panels;
      const int64_t next = (panel + 1) * alike / panels;
      convolve_panel(c, p, task, terms, band, vectors + from + first, next - first, begin, end);
    }
    from += alike;
  }
}

// The last vectors of the slices of a region, if dot products take them.
struct Lasts {
  int64_t at[kMaxSlices];
  int64_t count = 0;
};

Lasts gather_lasts(const Conv& c, const Plan& p, const Task& task, const Scratch& s,
                   const Terms& terms) {
  Lasts lasts;
  const int64_t each = task.num_vectors / task.region.slices;
  for (int64_t last = each - 1; last < task.num_vectors; last += each) {
    const ConvVector& v = s.vectors[last];
    if (takes_dots(c, p, task, terms, v)) {
      gather_positions(terms, v, s.band, s.gathered + lasts.count * kMaxDots * terms.count());
      lasts.at[lasts.count++] = last;
    }
  }
  return lasts;
}

void convolve_terms(const Conv& c, const Plan& p, const Task& task, const Scratch& s,
                    const Terms& terms) {
  const int64_t rows = conv_kernels().rows;
  const int64_t channels = std::max<int64_t>(1, kBlockWeights / terms.count() / rows) * rows;
  const Lasts lasts = gather_lasts(c, p, task, s, terms);
  for (int64_t i = 0; i < task.channels; i += channels) {
    const int64_t end = std::min(i + channels, task.channels);
    int64_t from = 0;
    for (int64_t j = 0; j < lasts.count; ++j) {
      const int64_t last = lasts.at[j];
      convolve_panels(c, p, task, terms, s.band, s.vectors + from, last - from, i, end);
      convolve_dots(c, p, task, terms, s.gathered + j * kMaxDots * terms.count(), s.vectors[last],
                    i, end);
      from = last + 1;
    }
    convolve_panels(c, p, task, terms, s.band, s.vectors + from, task.num_vectors - from, i, end);
  }
}

// The terms of input channels [first, first + count), which the band holds.
void convolve_band(const Conv& c, const Plan& p, const Task& task, const Scratch& s, int64_t first,
                   int64_t count) {
  const int64_t channels = c.in_channels / c.groups;
  const int64_t taps = p.terms / channels;
  if (c.weight_channels_last) {
    const int64_t blocks = div_up(taps, std::max<int64_t>(1, p.block_terms / count));
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t tap = block * taps / blocks;
      const int64_t end = (block + 1) * taps / blocks;
      convolve_terms(
          c, p, task, s,
          {tap * channels + first, end - tap, count, s.offsets + tap * p.in_channels, tap});
    }
    return;
  }
  const int64_t blocks = div_up(count * taps, p.block_terms);
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t begin = block * count * taps / blocks;
    const int64_t end = (block + 1) * count * taps / blocks;
    convolve_terms(c, p, task, s, {first * taps + begin, 1, end - begin, s.offsets + begin, 0});
  }
}

// An axis on which outputs of a depthwise filter share what they load: of stride and dilation 1 and
// a usual number of steps.
enum class SharedAxis { kNone, kHeight, kDepth };

bool shares(int64_t kernel, int64_t stride, int64_t dilation) {
  return (kernel == 3 || kernel == 5 || kernel == 7) && stride == 1 && dilation == 1;
}

SharedAxis shared_axis(const Conv& c, const Plan& p) {
  if (p.terms != c.kernel_d * c.kernel_h * c.kernel_w || p.channels != 1 || c.channels_last) {
    return SharedAxis::kNone;
  }
  if (c.kernel_d > 1) {
    return shares(c.kernel_d, c.stride_d, c.dilation_d) && p.slices > 1 ? SharedAxis::kDepth
                                                                        : SharedAxis::kNone;
  }
  const int64_t lanes = conv_kernels().lanes;
  const bool whole = shares(c.kernel_h, c.stride_h, c.dilation_h) && c.stride_w == 1 &&
                     c.dilation_w == 1 && !p.shifted && p.col_regions == 1;
  const bool fills_vectors = div_up(c.out_w, lanes) * lanes * 3 <= c.out_w * 4;
  return whole && fills_vectors ? SharedAxis::kHeight : SharedAxis::kNone;
}

// The positions that all outputs on the axis have.
int64_t set_shared_vectors(const Conv& c, const Plan& p, const Region& r, SharedAxis axis,
                           ConvVector* vectors) {
  Region one = r;
  (axis == SharedAxis::kDepth ? one.slices : one.rows) = 1;
  return set_vectors(c, p, one, vectors);
}

void convolve_rows(const Conv& c, const Plan& p, const Task& task, SharedAxis axis,
                   const Scratch& s) {
  const bool deep = axis == SharedAxis::kDepth;
  ConvRows rows;
  rows.input = s.band;
  rows.step = deep ? p.plane : p.pitch;
  rows.height = deep ? c.kernel_d : c.kernel_h;
  rows.taps = p.terms / rows.height;
  rows.offset = s.offsets;
  rows.weight = task.weight;
  rows.bias = task.bias == nullptr ? 0.0f : *task.bias;
  rows.rows = deep ? task.region.slices : task.region.rows;
  rows.vectors = s.vectors;
  rows.num_vectors = task.num_vectors;
  rows.out = task.out;
  rows.out_step = deep ? c.out_h * c.out_w : c.out_w;
  conv_rows(rows);
}

// True where the first output slice sees more padding than the last one, as when a stride is even.
bool starts_in_padding(const Conv& c) {
  if (c.kernel_d == 1 || c.channels_last) {
    return false;
  }
  const auto inside = [&](int64_t slice) {
    const int64_t from = slice * c.stride_d - c.pad_d;
    const FilterRows steps = steps_inside(from, from, c.in_d, c.kernel_d, c.dilation_d);
    return steps.end - steps.begin;
  };
  return inside(0) < inside(c.out_d - 1);
}

// The task of a number: parts of the output channels first, then regions, slices, groups, images.
// NHWC groups come before regions: two threads then never write the same pixels. Slices come first
// where the first of them have less to do than the last ones, so that all threads get some of both;
// elsewhere threads that are far apart in the output took 4 % less.
Task find_task(const Conv& c, const Plan& p, bool slices_first, int64_t index) {
  const int64_t in_plane = c.in_d * c.in_h * c.in_w;
  const int64_t out_plane = c.out_d * c.out_h * c.out_w;
  const int64_t out_channels = c.out_channels / c.groups;
  const auto next = [&index](int64_t count) -> int64_t {
    if (count == 1) {  // a division less
      return 0;
    }
    const int64_t value = index % count;
    index /= count;
    return value;
  };
  const int64_t slice = slices_first ? next(p.slice_regions) : 0;
  const int64_t part = next(p.channel_parts);
  int64_t group = c.channels_last ? next(c.groups) : 0;
  Task task;
  Region& r = task.region;
  r.col = next(p.col_regions) * p.cols;
  r.row = next(p.row_regions) * p.rows;
  r.slice = (slices_first ? slice : next(p.slice_regions)) * p.slices;
  r.slices = std::min(p.slices, c.out_d - r.slice);
  r.cols = std::min(p.cols, c.out_w - r.col);
  r.rows = std::min(p.rows, c.out_h - r.row);
  group = c.channels_last ? group : next(c.groups);
  const int64_t image = index;
  const int64_t channel = group * out_channels + part * p.channels;
  const int64_t position = (r.slice * c.out_h + r.row) * c.out_w + r.col;
  task.input = c.input + image * c.in_channels * in_plane +
               group * (c.in_channels / c.groups) * (c.channels_last ? 1 : in_plane);
  task.weight = c.weight + channel * p.terms;
  task.bias = c.bias == nullptr ? nullptr : c.bias + channel;
  task.out =
      c.output + image * c.out_channels * out_plane +
      (c.channels_last ? position * c.out_channels + channel : channel * out_plane + position);
  task.channels = std::min(p.channels, out_channels - part * p.channels);
  return task;
}

void run_tasks(const Conv& c, const Plan& p, const Scratch& s, int64_t begin, int64_t end) {
  const int64_t in_channels = c.in_channels / c.groups;
  const int64_t step = c.channels_last ? 1 : c.in_d * c.in_h * c.in_w;
  const SharedAxis axis = shared_axis(c, p);
  const bool slices_first = starts_in_padding(c);
  int64_t num_vectors = 0;
  Region padded = {};  // what the band has the padding of, and the vectors cover
  for (int64_t index = begin; index < end; ++index) {
    Task task = find_task(c, p, slices_first, index);
    for (int64_t first = 0; first < in_channels; first += p.in_channels) {
      const int64_t count = std::min(p.in_channels, in_channels - first);
      const bool same = task.region == padded;
      copy_band(c, p, task.region, task.input + first * step, count, !same, s.lines, s.band);
      if (!same) {
        num_vectors = axis == SharedAxis::kNone
                          ? set_vectors(c, p, task.region, s.vectors)
                          : set_shared_vectors(c, p, task.region, axis, s.vectors);
      }
      padded = task.region;
      task.num_vectors = num_vectors;
      if (axis == SharedAxis::kNone) {
        convolve_band(c, p, task, s, first, count);
      } else {
        convolve_rows(c, p, task, axis, s);
      }
    }
  }
}

}  // namespace

Error direct_conv(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  const Plan p = make_plan(c);
  const int64_t terms = p.in_channels * (p.terms / (c.in_channels / c.groups));
  const int64_t lines = c.channels_last ? p.in_channels * p.line : 0;
  const int64_t band = p.in_channels * p.depth * p.plane + kOverread;
  const int64_t gathered = c.channels_last ? 0 : p.slices * kMaxDots * p.block_terms;
  const int64_t tasks =
      c.batch * c.groups * p.slice_regions * p.row_regions * p.col_regions * p.channel_parts;
  const int64_t threads = std::min(get_num_threads(), tasks);
  auto offsets = ctx.allocate_temp(static_cast<size_t>(terms) * sizeof(int32_t), 64);
  const int64_t each = lines + band + gathered;
  auto floats = ctx.allocate_temp(static_cast<size_t>(threads * each) * sizeof(float), 64);
  auto vectors =
      ctx.allocate_temp(static_cast<size_t>(threads * p.vectors) * sizeof(ConvVector), 64);
  if (!offsets.ok() || !floats.ok() || !vectors.ok()) {
    return Error::MemoryAllocationFailed;
  }
  set_offsets(c, p, static_cast<int32_t*>(offsets.get()));
  const int64_t work = p.slices * p.rows * p.cols * p.channels * p.terms;
  parallel_for(
      0, tasks, std::max<int64_t>(1, kMinWorkPerTask / work), [&](int64_t begin, int64_t end) {
        const int64_t thread = get_thread_num();
        float* own = static_cast<float*>(floats.get()) + thread * each;
        const Scratch scratch = {static_cast<const int32_t*>(offsets.get()), own, own + band,
                                 static_cast<ConvVector*>(vectors.get()) + thread * p.vectors,
                                 own + band + lines};
        run_tasks(c, p, scratch, begin, end);
      });
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
