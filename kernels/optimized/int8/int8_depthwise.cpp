// SPDX-License-Identifier: BSD-3-Clause
// A task is some rows of the output. Of each pixel it is known where the taps of the filter lie: in
// the image, or in a pixel that stands for what is beside it.
#include <executorch/kernels/optimized/int8/int8_depthwise.h>

#include <executorch/kernels/optimized/gemm/gemm_split.h>
#include <executorch/kernels/optimized/int8/int8_depthwise_simd.h>
#include <executorch/kernels/optimized/ranges.h>
#include <executorch/kernels/optimized/scratch.h>

#include <algorithm>

namespace executorch::kernels::optimized {

using executorch::extension::get_num_threads;
using executorch::extension::get_thread_num;
using executorch::extension::parallel_for;
using runtime::Error;

namespace {

constexpr int64_t kMaxAddresses = 1024;  // of pixels whose outputs are computed at a time
constexpr int64_t kMaxOutputs = 32;
constexpr int64_t kTasksPerThread = 4;

int64_t num_taps(const Conv& c) {
  return c.kernel_h * c.kernel_w;
}

int64_t tap_groups(const Conv& c) {
  return div_up(num_taps(c), kTapGroup);
}

int64_t outputs_at_once(const Conv& c) {
  return std::clamp(kMaxAddresses / (tap_groups(c) * kTapGroup), int64_t{1},
                    std::min(kMaxOutputs, c.out_w));
}

// Channels that are computed at a time with `channel`, and the first of them.
Range chunk_of(int64_t filled, int64_t channel) {
  int64_t size = int8_depthwise_kernels().blocks * kChannelBlock, begin = 0;
  while (channel >= begin + (filled - begin) / size * size) {
    begin += (filled - begin) / size * size;
    size /= 2;
  }
  begin += (channel - begin) / size * size;
  return {begin, begin + size};
}

// Of a channel of a chunk, the place of its words.
int64_t place_in(const Range& chunk, int64_t channel) {
  const int64_t block = (channel - chunk.begin) / kChannelBlock, in_block = channel % kChannelBlock;
  return in_block / 4 * (chunk.size() / 4) + block * 4 + in_block % 4;
}

class Rows {
 public:
  Rows(const Int8Conv& conv, const int8_t* beside) : conv_(conv), c_(conv.sizes) {
    pixels_.channels = c_.in_channels;
    pixels_.tap_groups = tap_groups(c_);
    pixels_.filter =
        reinterpret_cast<const int8_t*>(conv.packed) +
        int8_depthwise_channels(c_.in_channels) * static_cast<int64_t>(sizeof(int32_t));
    pixels_.starts = conv.starts;
    pixels_.result = conv.result;
    beside_ = beside;
  }

  // `row` counts on through the images.
  void compute(int64_t row, const int8_t** addresses) const {
    const int64_t step = outputs_at_once(c_), per_output = pixels_.tap_groups * kTapGroup;
    DepthwisePixels pixels = pixels_;
    pixels.taps = addresses;
    for (int64_t col = 0; col < c_.out_w; col += step) {
      pixels.outputs = std::min(step, c_.out_w - col);
      for (int64_t i = 0; i < pixels.outputs; ++i) {
        find_taps(row, col + i, addresses + i * per_output);
      }
      pixels.output = conv_.output + (row * c_.out_w + col) * c_.out_channels;
      kernels_.pixels(pixels);
    }
  }

 private:
  void find_taps(int64_t row, int64_t col, const int8_t** to) const {
    const int64_t top = row % c_.out_h * c_.stride_h - c_.pad_h,
                  left = col * c_.stride_w - c_.pad_w;
    const Range seen = taps_inside(left, c_.dilation_w, c_.kernel_w, c_.in_w);
    const int8_t** const end = to + pixels_.tap_groups * kTapGroup;
    for (int64_t tap = 0; tap < c_.kernel_h; ++tap, to += c_.kernel_w) {
      const int64_t y = top + tap * c_.dilation_h;
      std::fill_n(to, c_.kernel_w, beside_);
      if (y < 0 || y >= c_.in_h) {
        continue;
      }
      const int8_t* const line =
          conv_.input + ((row / c_.out_h * c_.in_h + y) * c_.in_w + left) * c_.in_channels;
      for (int64_t i = seen.begin; i < seen.end; ++i) {
        to[i] = line + i * c_.dilation_w * c_.in_channels;
      }
    }
    std::fill(to, end, beside_);  // by a filter of 0
  }

  const Int8Conv& conv_;
  const Conv& c_;
  const Int8DepthwiseKernels& kernels_ = int8_depthwise_kernels();
  DepthwisePixels pixels_ = {};
  const int8_t* beside_;
};

}  // namespace

bool suits_int8_depthwise(const Conv& c) {
  constexpr int64_t kMaxInOnePass = 25;  // taps
  return is_depthwise(c) && has_int8_dots() &&
         (int8_depthwise_kernels().flips || num_taps(c) > kMaxInOnePass);
}

int64_t int8_depthwise_channels(int64_t channels) {
  return div_up(channels, kChannelBlock) * kChannelBlock;
}

int64_t int8_depthwise_place(int64_t channels, int64_t channel) {
  const Range chunk = chunk_of(int8_depthwise_channels(channels), channel);
  return chunk.begin + place_in(chunk, channel);
}

size_t int8_depthwise_bytes(const Conv& c) {
  return static_cast<size_t>(int8_depthwise_channels(c.in_channels) *
                             (tap_groups(c) * kTapGroup + static_cast<int64_t>(sizeof(int32_t))));
}

void pack_int8_depthwise(const Conv& c, const int8_t* filter, uint8_t* to) {
  const int64_t filled = int8_depthwise_channels(c.in_channels);
  std::fill_n(to, int8_depthwise_bytes(c), uint8_t{0});
  auto* const sums = reinterpret_cast<int32_t*>(to);
  auto* const bytes =
      reinterpret_cast<int8_t*>(to) + filled * static_cast<int64_t>(sizeof(int32_t));
  for (int64_t channel = 0; channel < c.in_channels; ++channel) {
    const Range chunk = chunk_of(filled, channel);
    int8_t* const of_chunk = bytes + chunk.begin * tap_groups(c) * kTapGroup;
    for (int64_t tap = 0; tap < num_taps(c); ++tap) {
      const int8_t value = filter[tap * c.in_channels + channel];
      const int64_t word = tap / kTapGroup * chunk.size() + place_in(chunk, channel);
      of_chunk[word * kTapGroup + tap % kTapGroup] = value;
      sums[channel] += value;
    }
  }
}

void int8_depthwise_starts(const Conv& c, const uint8_t* packed, const int32_t* bias, int32_t zero,
                           int32_t* starts) {
  const auto* const sums = reinterpret_cast<const int32_t*>(packed);
  const int32_t each = int8_depthwise_kernels().flips ? zero + 128 : zero;
  std::fill_n(starts, int8_depthwise_channels(c.in_channels), 0);
  for (int64_t channel = 0; channel < c.in_channels; ++channel) {
    starts[int8_depthwise_place(c.in_channels, channel)] =
        start_of_sum(bias == nullptr ? 0 : bias[channel], each, sums[channel]);
  }
}

Error int8_depthwise(runtime::KernelRuntimeContext& ctx, const Int8Conv& conv) {
  constexpr int64_t kLine = 64;
  const Conv& c = conv.sizes;
  const int64_t rows = c.batch * c.out_h;
  const int64_t work = rows * c.out_w * c.in_channels * tap_groups(c);
  const int64_t tasks = std::clamp<int64_t>(work / kMinWorkPerTask, 1,
                                            std::min(rows, kTasksPerThread * get_num_threads()));
  const int64_t threads = std::min(get_num_threads(), tasks);
  const int64_t addresses = outputs_at_once(c) * tap_groups(c) * kTapGroup;
  const int64_t beside_bytes = div_up(int8_depthwise_channels(c.in_channels), kLine) * kLine;
  auto* const memory = scratch<int8_t>(
      ctx, beside_bytes + threads * addresses * static_cast<int64_t>(sizeof(int8_t*)));
  if (memory == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  std::fill_n(memory, beside_bytes, conv.zero);
  auto* const of_threads = reinterpret_cast<const int8_t**>(memory + beside_bytes);
  const Rows all(conv, memory);
  parallel_for(0, tasks, 1, [&](int64_t first, int64_t last) {
    const Range part = {part_of(rows, tasks, first).begin, part_of(rows, tasks, last - 1).end};
    for (int64_t row = part.begin; row < part.end; ++row) {
      all.compute(row, of_threads + get_thread_num() * addresses);
    }
  });
  return Error::Ok;
}

}  // namespace executorch::kernels::optimized
