// SPDX-License-Identifier: BSD-3-Clause
// A task is a tile of outputs of some channels.
#include <executorch/kernels/optimized/conv/depthwise/depthwise.h>

#include <executorch/kernels/optimized/conv/depthwise/depthwise_row.h>
#include <executorch/kernels/optimized/ranges.h>
#include <executorch/kernels/optimized/scratch.h>
#include <executorch/runtime/kernel/thread_parallel_interface.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using executorch::extension::get_num_threads;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kMinWork = 1 << 15;  // multiply-adds worth a task
constexpr int64_t kTasksPerThread = 4;
constexpr int64_t kMinColumns = 24;   // of a task
constexpr int64_t kMinChannels = 64;  // of a task
// Of a line of a cache, which no two threads write.
constexpr int64_t kLine = 64 / sizeof(float);

class Tiles {
 public:
  explicit Tiles(const Depthwise& depthwise) : d_(depthwise), c_(depthwise.conv) {
    const int64_t taps = c_.kernel_h * c_.kernel_w;
    const int64_t work = c_.batch * c_.out_h * c_.out_w * c_.out_channels * taps;
    const int64_t threads = get_num_threads();
    const int64_t wanted =
        threads == 1 ? 1 : std::clamp<int64_t>(work / kMinWork, 1, kTasksPerThread * threads);
    const auto missing = [&] { return div_up(wanted, c_.batch * row_parts_ * col_parts_); };
    row_parts_ = std::clamp<int64_t>(missing(), 1, c_.out_h);
    col_parts_ = std::clamp<int64_t>(missing(), 1, div_up(c_.out_w, kMinColumns));
    const bool shares_lines = c_.in_channels % kLine != 0;
    channel_parts_ =
        std::clamp<int64_t>(missing(), 1, shares_lines ? 1 : div_up(c_.in_channels, kMinChannels));
  }

  void run() const {
    parallel_for(0, c_.batch * row_parts_ * col_parts_ * channel_parts_, 1,
                 [&](int64_t first, int64_t last) {
                   for (int64_t task = first; task < last; ++task) {
                     compute(task);
                   }
                 });
  }

 private:
  void compute(int64_t task) const {
    const Range of_channels =
        part_of(div_up(c_.in_channels, kLine), channel_parts_, task % channel_parts_);
    const Range channels = {of_channels.begin * kLine,
                            std::min(of_channels.end * kLine, c_.in_channels)};
    task /= channel_parts_;
    const Range cols = part_of(c_.out_w, col_parts_, task % col_parts_);
    task /= col_parts_;
    const Range rows = part_of(c_.out_h, row_parts_, task % row_parts_);
    const int64_t image = task / row_parts_;
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const int64_t position = (image * c_.out_h + row) * c_.out_w + cols.begin;
      compute_row(image, row, cols, channels, c_.output + position * c_.in_channels);
      if (d_.epilogue != nullptr) {
        d_.epilogue->finish({position, position + cols.size(), channels.begin, channels.end});
      }
    }
  }

  void compute_row(int64_t image, int64_t row, const Range& cols, const Range& channels,
                   float* output) const {
    const int64_t top = row * c_.stride_h - c_.pad_h;
    const Range taps = taps_inside(top, c_.dilation_h, c_.kernel_h, c_.in_h);
    const int64_t line = taps.size() > 0 ? top + taps.begin * c_.dilation_h : 0;
    const int64_t of_line = c_.in_w * c_.in_channels;
    depthwise_row({c_.input + (image * c_.in_h + line) * of_line + channels.begin, taps.size(),
                   c_.dilation_h * of_line, c_.in_w, cols.begin * c_.stride_w - c_.pad_w,
                   d_.filter + taps.begin * c_.kernel_w * c_.in_channels + channels.begin,
                   c_.kernel_w, c_.stride_w, c_.dilation_w, channels.size(), c_.in_channels,
                   c_.bias == nullptr ? nullptr : c_.bias + channels.begin, d_.min, d_.max,
                   output + channels.begin, cols.size()});
  }

  const Depthwise& d_;
  const Conv& c_;
  int64_t row_parts_ = 1;
  int64_t col_parts_ = 1;
  int64_t channel_parts_ = 1;
};

}  // namespace

bool is_depthwise(const Conv& c) {
  return c.groups == c.in_channels && c.groups == c.out_channels && c.channels_last &&
         c.kernel_d == 1 && c.in_d == 1 && c.pad_d == 0;
}

void depthwise_conv(const Depthwise& depthwise) {
  Tiles(depthwise).run();
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
  depthwise_conv(depthwise);
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
