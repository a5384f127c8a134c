// SPDX-License-Identifier: BSD-3-Clause
// A task is a tile of outputs of some channels. Outputs at the edges read lines of a ring instead
// of the image: those that a row of outputs reads, some channels at a time, with the zeros beside
// the image.
#include <executorch/kernels/optimized/conv/depthwise/depthwise.h>

#include <executorch/kernels/optimized/conv/depthwise/depthwise_row.h>
#include <executorch/kernels/optimized/ranges.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kMinWork = 1 << 15;  // multiply-adds worth a task
constexpr int64_t kTasksPerThread = 4;
constexpr int64_t kMinColumns = 24;  // of a task
// At the edges of a row. With fewer between them than those, all are of the ring.
constexpr int64_t kEdge = 4;
constexpr int64_t kMinBetween = 12;
constexpr int64_t kMinChannels = 64;                         // of a task
constexpr int64_t kNearFloats = (32 << 10) / sizeof(float);  // a core's first cache
constexpr int64_t kFarFloats = (128 << 10) / sizeof(float);  // some of its second one
// Of a line of a cache, which no two threads write.
constexpr int64_t kLine = 64 / sizeof(float);
constexpr int64_t kPointersOfLine = 64 / sizeof(float*);

class Tiles {
 public:
  explicit Tiles(const Depthwise& depthwise)
      : d_(depthwise), c_(depthwise.conv), extent_w_(extent(c_.kernel_w, c_.dilation_w)) {
    const int64_t taps = c_.kernel_h * c_.kernel_w;
    const int64_t work = c_.batch * c_.out_h * c_.out_w * c_.out_channels * taps;
    const int64_t threads = get_num_threads();
    const int64_t wanted =
        threads == 1 ? 1 : std::clamp<int64_t>(work / kMinWork, 1, kTasksPerThread * threads);
    const auto missing = [&] {
      return div_up(wanted, c_.batch * row_parts_ * col_parts_ * channel_parts_);
    };
    const auto split_channels = [&] {
      const bool shares_lines = c_.in_channels % kLine != 0;
      channel_parts_ = std::clamp<int64_t>(missing(), 1,
                                           shares_lines ? 1 : div_up(c_.in_channels, kMinChannels));
    };
    // Parts of rows fill rings of their own.
    const bool is_of_ring = pieces_of({0, c_.out_w}).between.size() == 0;
    if (is_of_ring) {
      split_channels();
    }
    row_parts_ = std::clamp<int64_t>(missing(), 1, c_.out_h);
    col_parts_ = std::clamp<int64_t>(missing(), 1, div_up(c_.out_w, kMinColumns));
    if (!is_of_ring) {
      split_channels();
    }
    int64_t outputs = 0;  // of the ring, at most
    for (int64_t i = 0; i < col_parts_; ++i) {
      const auto [left, between, right] = pieces_of(part_of(c_.out_w, col_parts_, i));
      outputs = std::max({outputs, left.size(), right.size()});
    }
    columns_ = (outputs + kMaxDepthwiseOutputs - 2) * c_.stride_w + extent_w_;
    lines_ = extent(c_.kernel_h, c_.dilation_h);
    block_ = std::clamp<int64_t>(kNearFloats / (lines_ * columns_) / kLine, 1,
                                 div_up(c_.in_channels, kLine)) *
             kLine;
    const int64_t of_row = div_up(c_.out_w, col_parts_) * c_.out_channels / channel_parts_;
    strip_ = d_.epilogue == nullptr ? c_.out_h : std::max<int64_t>(1, kFarFloats / of_row);
  }

  Error run(runtime::KernelRuntimeContext& ctx) const {
    const int64_t tasks = c_.batch * row_parts_ * col_parts_ * channel_parts_;
    const int64_t threads = std::min(get_num_threads(), tasks);
    const int64_t floats = lines_ * columns_ * block_;
    const int64_t pointers = div_up(c_.kernel_h, kPointersOfLine) * kPointersOfLine;
    auto* const rings = scratch<float>(ctx, threads * floats);
    auto* const lines = scratch<const float*>(ctx, threads * pointers);
    if (rings == nullptr || lines == nullptr) {
      return Error::MemoryAllocationFailed;
    }
    parallel_for(0, tasks, 1, [&](int64_t first, int64_t last) {
      const int64_t thread = get_thread_num();
      for (int64_t task = first; task < last; ++task) {
        compute(task, rings + thread * floats, lines + thread * pointers);
      }
    });
    return Error::Ok;
  }

 private:
  static int64_t extent(int64_t taps, int64_t dilation) { return (taps - 1) * dilation + 1; }

  // Outputs whose lines are of the ring on both sides of those that read the image itself, as many
  // as are computed at a time.
  struct Pieces {
    Range left, between, right;
  };

  Pieces pieces_of(const Range& cols) const {
    const int64_t before = std::max<int64_t>(0, div_up(c_.pad_w, c_.stride_w) - cols.begin);
    const int64_t room = c_.in_w + c_.pad_w - extent_w_;
    const int64_t end = std::min(cols.end, room < 0 ? 0 : room / c_.stride_w + 1);
    const int64_t begin = cols.begin + div_up(before, kEdge) * kEdge;
    const int64_t size = (end - begin) & ~int64_t{1};
    if (size < (c_.stride_w == 1 ? kMinBetween : kEdge)) {
      return {cols, {cols.end, cols.end}, {cols.end, cols.end}};
    }
    // The rest is computed four at a time, too, if it can be.
    const int64_t more = cols.end - (begin + size);
    const int64_t spare = more % kEdge == 2 ? 2 : 0;
    return {{cols.begin, begin}, {begin, begin + size - spare}, {begin + size - spare, cols.end}};
  }

  struct Tile {
    int64_t image;
    Range rows, cols, channels;  // of outputs
    float* ring;
    const float** lines;
    int64_t next_line = 0;  // the ring has those before, as many as it has room for
  };

  void compute(int64_t task, float* ring, const float** lines) const {
    const Range of_channels =
        part_of(div_up(c_.in_channels, kLine), channel_parts_, task % channel_parts_);
    const Range channels = {of_channels.begin * kLine,
                            std::min(of_channels.end * kLine, c_.in_channels)};
    task /= channel_parts_;
    const Range cols = part_of(c_.out_w, col_parts_, task % col_parts_);
    task /= col_parts_;
    const Range rows = part_of(c_.out_h, row_parts_, task % row_parts_);
    const int64_t image = task / row_parts_;
    const auto [left, between, right] = pieces_of(cols);
    Tile tile = {image, rows, cols, channels, ring, lines};
    for (int64_t row = rows.begin; row < rows.end; row += strip_) {
      tile.rows = {row, std::min(row + strip_, rows.end)};
      tile.cols = between;
      tile.channels = channels;
      for (int64_t i = tile.rows.begin; between.size() > 0 && i < tile.rows.end; ++i) {
        compute_row(tile, i, [&](int64_t line) { return image_at(tile, line); }, c_.in_channels);
      }
      for (const Range& edge : {left, right}) {
        tile.cols = edge;
        for (int64_t begin = channels.begin; edge.size() > 0 && begin < channels.end;
             begin += block_) {
          tile.channels = {begin, std::min(begin + block_, channels.end)};
          compute_edge(tile);
        }
      }
      for (int64_t i = tile.rows.begin; d_.epilogue != nullptr && i < tile.rows.end; ++i) {
        const int64_t first = (image * c_.out_h + i) * c_.out_w;
        d_.epilogue->finish({first + cols.begin, first + cols.end, channels.begin, channels.end});
      }
    }
  }

  void compute_edge(Tile& tile) const {
    tile.next_line = 0;
    for (int64_t row = tile.rows.begin; row < tile.rows.end; ++row) {
      add_lines(tile, row);
      compute_row(tile, row, [&](int64_t line) { return line_at(tile, line); }, block_);
    }
  }

  // What a row of outputs reads and the ring lacks.
  void add_lines(Tile& tile, int64_t row) const {
    const int64_t top = row * c_.stride_h - c_.pad_h;
    const int64_t end = std::min(top + lines_, c_.in_h);
    for (int64_t line = std::max({tile.next_line, top, int64_t{0}}); line < end; ++line) {
      add_line(tile, line);
      tile.next_line = line + 1;
    }
  }

  float* line_at(const Tile& tile, int64_t line) const {
    return tile.ring + line % lines_ * columns_ * block_;
  }

  // What the first output of a tile reads of a line, which the image has.
  const float* image_at(const Tile& tile, int64_t line) const {
    const int64_t column = tile.cols.begin * c_.stride_w - c_.pad_w;
    return c_.input + ((tile.image * c_.in_h + line) * c_.in_w + column) * c_.in_channels +
           tile.channels.begin;
  }

  void add_line(const Tile& tile, int64_t line) const {
    const int64_t begin = tile.cols.begin * c_.stride_w - c_.pad_w;
    const Range inside = {std::clamp<int64_t>(-begin, 0, columns_),
                          std::clamp<int64_t>(c_.in_w - begin, 0, columns_)};
    float* to = std::fill_n(line_at(tile, line), inside.begin * block_, 0.0f);
    const int64_t position = (tile.image * c_.in_h + line) * c_.in_w + begin + inside.begin;
    const float* from = c_.input + position * c_.in_channels + tile.channels.begin;
    for (int64_t i = inside.begin; i < inside.end; ++i, from += c_.in_channels, to += block_) {
      std::copy_n(from, tile.channels.size(), to);
    }
    std::fill_n(to, (columns_ - inside.end) * block_, 0.0f);
  }

  template <typename Line>
  void compute_row(const Tile& tile, int64_t row, const Line& line_of, int64_t pitch) const {
    int64_t first = 0, num_lines = 0;
    for (int64_t i = 0; i < c_.kernel_h; ++i) {
      const int64_t line = row * c_.stride_h - c_.pad_h + i * c_.dilation_h;
      if (line < 0) {
        first = i + 1;
      } else if (line < c_.in_h) {
        tile.lines[num_lines++] = line_of(line);
      }
    }
    const Range& channels = tile.channels;
    const int64_t position = (tile.image * c_.out_h + row) * c_.out_w + tile.cols.begin;
    depthwise_row({tile.lines, num_lines, pitch,
                   d_.filter + first * c_.kernel_w * c_.in_channels + channels.begin, c_.kernel_w,
                   c_.stride_w, c_.dilation_w, channels.size(), c_.in_channels,
                   c_.bias == nullptr ? nullptr : c_.bias + channels.begin, d_.min, d_.max,
                   c_.output + position * c_.in_channels + channels.begin, tile.cols.size()});
  }

  const Depthwise& d_;
  const Conv& c_;
  const int64_t extent_w_;
  int64_t row_parts_ = 1;
  int64_t col_parts_ = 1;
  int64_t channel_parts_ = 1;
  int64_t columns_;  // of a line, at most
  int64_t lines_;    // of a ring
  int64_t block_;    // channels in a ring
  int64_t strip_;    // rows of outputs that are finished together
};

}  // namespace

bool is_depthwise(const Conv& c) {
  return c.groups == c.in_channels && c.groups == c.out_channels && c.channels_last &&
         c.kernel_d == 1 && c.in_d == 1 && c.pad_d == 0;
}

Error depthwise_conv(runtime::KernelRuntimeContext& ctx, const Depthwise& depthwise) {
  return Tiles(depthwise).run(ctx);
}

Error depthwise_nhwc_conv(runtime::KernelRuntimeContext& ctx, const Conv& c) {
  const int64_t taps = c.kernel_h * c.kernel_w;
  auto* const filter = scratch<float>(ctx, taps * c.out_channels);
  if (filter == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  for (int64_t channel = 0; channel < c.out_channels; ++channel) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      filter[tap * c.out_channels + channel] = c.weight[channel * taps + tap];
    }
  }
  Depthwise depthwise = {};
  depthwise.conv = c;
  depthwise.filter = filter;
  return depthwise_conv(ctx, depthwise);
}

}  // namespace executorch::kernels::optimized
