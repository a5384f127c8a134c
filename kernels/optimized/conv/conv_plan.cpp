// SPDX-License-Identifier: BSD-3-Clause
// Cuts a direct convolution into regions of the output whose input fits a cache, and these into
// tasks for the threads.
#include <executorch/kernels/optimized/conv/conv_plan.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

namespace {

constexpr int64_t kBandFloats = 96 * 1024;  // of a band: with the weights in the L2 cache
constexpr int64_t kBlockTerms = 256;        // so that a panel's input stays in the L1 cache
constexpr int64_t kFewBlockTerms = 1024;    // of one or two panels: the weights are read once
constexpr int64_t kMinTapChannels = 64;     // when the weights of a tap are contiguous
constexpr int64_t kMaxTapChannels = 512;
constexpr int64_t kMinPositions = 192;          // of a region that is cut only to feed threads
constexpr int64_t kCachedWeights = 192 * 1024;  // half as many positions do when they are so few
constexpr int64_t kMinWorkPerTask = 1 << 17;    // multiply-adds worth waking a thread for
constexpr int64_t kTasksPerThread = 2;          // so that a held-up thread is not waited for long
constexpr int64_t kSlicePositions = 256;        // of each slice of a region that is cut
constexpr int64_t kCopyCost = 16;               // of a value, in multiply-adds
constexpr int64_t kMaxCopies = 8;               // of all work: one in so many
constexpr int64_t kPanelWidth = kConvTileVectors * kConvLanes;

int64_t reach(int64_t kernel, int64_t dilation) {
  return (kernel - 1) * dilation + 1;
}

int64_t tasks_wanted() {
  const int64_t threads = extension::get_num_threads();
  return threads == 1 ? 1 : threads * kTasksPerThread;
}

// Shifting saves the columns between rows from every multiply, and costs a copy of the input for
// each further column of the filter: about 2 multiply-adds a value, 8 when they are not
// neighbours. Not when a region then has less than three rows: the weights are read for each.
bool worth_shifting(const Conv& c, const Plan& p) {
  const int64_t saved = p.more_cols * c.kernel_h * (c.out_channels / c.groups);
  const int64_t copies = c.out_w * (c.kernel_w - p.phases_w);
  const int64_t row = p.in_channels * c.kernel_d * p.phases_h * c.kernel_w * c.out_w;
  return saved > copies * (c.stride_w > 2 ? 8 : 2) &&
         row * std::min(c.out_h + p.more_rows, 3 + p.more_rows) <= kBandFloats;
}

void set_phases(const Conv& c, Plan& p) {
  const int64_t reach_h = reach(c.kernel_h, c.dilation_h);
  const int64_t reach_w = reach(c.kernel_w, c.dilation_w);
  p.phases_h = std::min(c.stride_h, reach_h);
  p.phases_w = std::min(c.stride_w, reach_w);
  p.more_rows = (reach_h - 1) / c.stride_h;
  p.more_cols = (reach_w - 1) / c.stride_w;
  p.shifted = worth_shifting(c, p);
  if (p.shifted) {
    p.phases_w = c.kernel_w;
    p.more_cols = 0;
  }
}

// Input channels of a band whose terms may be cut by taps: so many that a shifted region of some
// rows fits.
int64_t tap_channels(const Conv& c) {
  const int64_t rows = std::min(c.out_h, div_up(kMinPositions, c.out_w));
  const int64_t more_rows = (reach(c.kernel_h, c.dilation_h) - 1) / c.stride_h;
  const int64_t phases_h = std::min(c.stride_h, reach(c.kernel_h, c.dilation_h));
  const int64_t plane = c.kernel_d * phases_h * c.kernel_w * c.out_w * (rows + more_rows);
  return std::clamp(kBandFloats / plane, kMinTapChannels, kMaxTapChannels);
}

// Input channels of a band: what fills a block of terms.
void cut_channels(const Conv& c, Plan& p) {
  const int64_t channels = c.in_channels / c.groups;
  const int64_t taps = c.kernel_d * c.kernel_h * c.kernel_w;
  p.terms = channels * taps;
  p.block_terms =
      c.channels_last || c.out_h * c.out_w <= 2 * kPanelWidth ? kFewBlockTerms : kBlockTerms;
  int64_t most = std::max<int64_t>(1, p.block_terms / taps);
  if (c.weight_channels_last && taps > 1) {
    most = tap_channels(c);
  } else if (c.channels_last && channels <= 4) {
    most = channels;
  }
  p.in_channels = div_up(channels, div_up(channels, most));
}

// What an output position of a region of so many slices costs, of one input channel: the copies of
// its input, and the multiply-adds, also of lanes behind a slice's end. 0 where the regions are too
// small, or too few for the threads.
double cost_of_slices(const Conv& c, const Plan& p, int64_t slices) {
  const int64_t lanes = conv_kernels().lanes;
  const int64_t depth = (slices - 1) * c.stride_d + c.kernel_d;
  const int64_t row = p.in_channels * p.phases_h * p.phases_w * (c.out_w + p.more_cols);
  const int64_t rows = std::min(c.out_h, kBandFloats / (row * depth) - p.more_rows);
  if (rows < c.out_h && rows * c.out_w < kSlicePositions) {
    return 0;
  }
  const int64_t regions = div_up(c.out_d, slices) * div_up(c.out_h, rows);
  if (c.batch * c.groups * regions < tasks_wanted()) {
    return 0;
  }
  const auto positions = static_cast<double>(slices * rows * c.out_w);
  const int64_t copies = depth * (rows + p.more_rows) * c.out_w * p.phases_h * p.phases_w;
  const int64_t sums = slices * div_up(rows * c.out_w, lanes) * lanes * c.out_channels / c.groups *
                       c.kernel_d * c.kernel_h * c.kernel_w;
  return static_cast<double>(kCopyCost * copies + sums) / positions;
}

// Slices that share input slices: these are then copied once for several. Not of NHWC, whose
// outputs are stored from one run of positions.
void cut_slices(const Conv& c, Plan& p) {
  const bool shares = c.kernel_d > c.stride_d && c.dilation_d == 1 && !c.channels_last;
  const int64_t most = shares ? std::min(c.out_d, kMaxSlices) : 1;
  double least = 0;
  p.slices = 1;
  for (int64_t slices = 1; slices <= most; ++slices) {
    const double cost = cost_of_slices(c, p, slices);
    if (cost > 0 && (least == 0 || cost < least)) {
      least = cost;
      p.slices = slices;
    }
  }
  p.slice_regions = div_up(c.out_d, p.slices);
  p.slices = div_up(c.out_d, p.slice_regions);
  p.depth = (p.slices - 1) * c.stride_d + c.kernel_d;
  p.depth_step = c.dilation_d;
}

void cut_regions(const Conv& c, Plan& p) {
  const int64_t phases = p.in_channels * p.depth * p.phases_h * p.phases_w;
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

// True when the copies of a band cost much beside what `channels` output channels make of it.
bool copies_cost_much(const Conv& c, const Plan& p, int64_t channels) {
  const int64_t row = (c.out_w + p.more_cols) * p.phases_h * p.phases_w;
  const int64_t copies = p.depth * (p.rows + p.more_rows) * row;
  const int64_t taps = c.kernel_d * c.kernel_h * c.kernel_w;
  return kCopyCost * copies * kMaxCopies > p.slices * p.rows * c.out_w * channels * taps;
}

// More tasks when there are fewer than threads want: smaller regions first, as the weights are
// read again for each, then parts of the output channels, for each of which the band is copied.
void cut_for_threads(const Conv& c, Plan& p) {
  const int64_t channels = c.out_channels / c.groups;
  const int64_t planes = c.batch * p.slice_regions * (c.channels_last ? 1 : c.groups);
  const int64_t tasks = planes * p.row_regions * p.col_regions;
  const int64_t positions = c.out_h * c.out_w;
  const int64_t work = c.batch * c.groups * c.out_d * positions * channels * p.terms;
  const int64_t wanted = std::min(tasks_wanted(), std::max<int64_t>(1, work / kMinWorkPerTask));
  if (tasks < wanted && p.col_regions == 1) {
    const bool cached = channels * p.terms <= kCachedWeights;
    const int64_t most =
        std::min(c.out_h, positions / (cached ? kMinPositions / 2 : kMinPositions));
    p.row_regions = std::max(p.row_regions, std::min(most, p.row_regions * div_up(wanted, tasks)));
  }
  p.rows = div_up(c.out_h, p.row_regions);
  p.row_regions = div_up(c.out_h, p.rows);
  const int64_t regions = c.batch * c.groups * p.slice_regions * p.row_regions * p.col_regions;
  int64_t parts = regions < wanted ? div_up(wanted, regions) : 1;
  if (regions == 1 && copies_cost_much(c, p, div_up(channels, parts))) {
    parts = std::min(wanted, extension::get_num_threads());
  }
  const int64_t tile_rows = conv_kernels().rows;
  p.channels = std::min(channels, div_up(div_up(channels, parts), tile_rows) * tile_rows);
  p.channel_parts = div_up(channels, p.channels);
}

}  // namespace

Plan make_plan(const Conv& c) {
  Plan p = {};
  cut_channels(c, p);
  set_phases(c, p);
  cut_slices(c, p);
  cut_regions(c, p);
  cut_for_threads(c, p);
  p.pitch = p.cols + p.more_cols;
  // Odd numbers of cache lines, so that planes do not fall on the same sets.
  p.plane = (div_up(p.phase_at(p.phases_h, 0), kConvLanes) | 1) * kConvLanes;
  const int64_t columns = p.cols * c.stride_w + reach(c.kernel_w, c.dilation_w);
  p.line = (div_up(columns, kConvLanes) | 1) * kConvLanes;
  p.vectors = p.slices * p.rows * div_up(p.cols, conv_kernels().lanes);
  return p;
}

void set_offsets(const Conv& c, const Plan& p, int32_t* offsets) {
  const int64_t channels = p.in_channels;
  const int64_t taps = c.kernel_d * c.kernel_h * c.kernel_w;
  for (int64_t tap = 0; tap < taps; ++tap) {
    const int64_t kd = tap / (c.kernel_h * c.kernel_w);
    const int64_t kw = tap % c.kernel_w;
    const int64_t y = tap / c.kernel_w % c.kernel_h * c.dilation_h;
    const int64_t x = kw * c.dilation_w;
    const int64_t phase = p.phase_at(y % c.stride_h, p.shifted ? kw : x % c.stride_w);
    const int64_t col = p.shifted ? 0 : x / c.stride_w;
    const int64_t at = kd * p.plane + phase + y / c.stride_h * p.pitch + col;
    for (int64_t channel = 0; channel < channels; ++channel) {
      const int64_t term = c.weight_channels_last ? tap * channels + channel : channel * taps + tap;
      offsets[term] = static_cast<int32_t>(at + channel * p.depth * p.plane);
    }
  }
}

int64_t set_vectors(const Conv& c, const Plan& p, const Region& r, ConvVector* vectors) {
  const int64_t lanes = conv_kernels().lanes;
  int64_t count = 0;
  for (int64_t slice = 0; slice < r.slices; ++slice) {
    const int64_t plane = slice * c.stride_d * p.plane;
    int64_t first = slice * c.out_h * c.out_w, row = 0, col = 0;
    while (row < r.rows) {
      ConvVector& v = vectors[count++];
      v = {plane + row * p.pitch + col, first, 0, {}};
      uint32_t bits = 0;
      for (int64_t lane = 0; lane < lanes && row < r.rows;) {
        const int64_t step = std::min(r.cols - col, lanes - lane);
        bits |= ((1u << step) - 1) << lane;
        v.count += step;
        col += step;
        lane += step;
        if (col == r.cols) {  // the gap ends this vector or is skipped by it
          lane += p.pitch - r.cols;
          col = 0;
          ++row;
        }
      }
      v.bits[0] = static_cast<uint8_t>(bits);
      v.bits[1] = static_cast<uint8_t>(bits >> 8);
      first += v.count;
    }
  }
  return count;
}

}  // namespace executorch::kernels::optimized
