// SPDX-License-Identifier: BSD-3-Clause
// Direct convolution: the input of a region is brought into a band of planes once, then every
// filter tap reads it there, and the weights are read as they lie.
#include <executorch/kernels/optimized/conv/conv.h>
#include <executorch/kernels/optimized/conv/conv_plan.h>
#include <executorch/kernels/optimized/gemm_simd.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using extension::get_num_threads;
using extension::get_thread_num;
using extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kBlockTerms = 256;           // so that a panel's input stays in the L1 cache
constexpr int64_t kBlockWeights = 64 * 1024;   // and those of a block in the L2 cache
constexpr int64_t kMinWorkPerTask = 1 << 17;   // multiply-adds worth waking a thread for
constexpr int64_t kOverread = 2 * kConvLanes;  // behind a band, for whole vectors
constexpr int64_t kBufferWidth = kConvRowVectors * kConvLanes;

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
  alignas(64) float buffer[kConvTileRows * kBufferWidth];
  const ConvVector* vectors = task.vectors + first;
  const ConvVector& last = vectors[count - 1];
  const int64_t positions = last.first + last.count - vectors[0].first;
  ConvTile tile;
  tile.k = terms;
  tile.weight_stride = p.terms;
  tile.input = task.band;
  tile.offset = task.offsets + term;
  tile.vectors = vectors;
  tile.out_stride = c.channels_last ? kBufferWidth : c.out_d * c.out_h * c.out_w;
  tile.accumulate = term > 0 && !c.channels_last;
  for (int64_t i = begin; i < end; i += kernels.rows) {
    const int64_t rows = std::min(kernels.rows, end - i);
    tile.weight = task.weight + i * p.terms + term;
    tile.bias = term == 0 && task.bias != nullptr ? task.bias + i : nullptr;
    tile.out = c.channels_last ? buffer - vectors[0].first : task.out + i * tile.out_stride;
    (count > kConvTileVectors ? kernels.row[count - 1] : kernels.tile[rows - 1][count - 1])(tile);
    if (c.channels_last) {
      gemm_kernels().transpose(buffer, kBufferWidth, rows, positions,
                               task.out + vectors[0].first * c.out_channels + i, c.out_channels,
                               /*add=*/term > 0);
    }
  }
}

void convolve_band(const Conv& c, const Plan& p, const Task& task) {
  const int64_t width = task.channels == 1 ? kConvRowVectors : kConvTileVectors;
  const int64_t panels = div_up(task.num_vectors, width);
  const int64_t most = panels <= 2 ? 4 * kBlockTerms : kBlockTerms;
  const int64_t step = div_up(p.terms, div_up(p.terms, most));
  const int64_t rows = conv_kernels().rows;
  const int64_t channels = std::max<int64_t>(1, kBlockWeights / step / rows) * rows;
  for (int64_t term = 0; term < p.terms; term += step) {
    const int64_t terms = std::min(step, p.terms - term);
    for (int64_t i = 0; i < task.channels; i += channels) {
      const int64_t end = std::min(i + channels, task.channels);
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
  float *band, *lines;  // of this thread
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
  Region padded = {};  // what the band has the padding of, and the vectors cover
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
      const bool same = r == padded;
      copy_band(c, p, r, input, !same, s.lines, s.band);
      num_vectors = same ? num_vectors : set_vectors(p, r, s.vectors);
      padded = r;
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
  const int64_t lines = c.channels_last ? c.in_channels / c.groups * p.line : 0;
  const int64_t band = p.planes * p.plane + kOverread;
  const int64_t tasks =
      c.batch * c.groups * c.out_d * p.row_regions * p.col_regions * p.channel_parts;
  const int64_t threads = std::min(get_num_threads(), tasks);
  auto offsets = ctx.allocate_temp(static_cast<size_t>(p.terms) * sizeof(int32_t), 64);
  auto floats =
      ctx.allocate_temp(static_cast<size_t>(threads * (lines + band)) * sizeof(float), 64);
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
        float* own = static_cast<float*>(floats.get()) + thread * (lines + band);
        const Scratch scratch = {static_cast<const int32_t*>(offsets.get()), own, own + band,
                                 static_cast<ConvVector*>(vectors.get()) + thread * p.vectors};
        run_tasks(c, p, scratch, begin, end);
      });
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
