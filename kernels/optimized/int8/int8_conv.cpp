// SPDX-License-Identifier: BSD-3-Clause
// A matmul of each group, whose rows are what a filter sees of the image.
#include <executorch/kernels/optimized/int8/int8_conv.h>

#include <executorch/kernels/optimized/int8_dots/arm_dots.h>
#include <executorch/kernels/optimized/ranges.h>
#include <executorch/kernels/optimized/scratch.h>

#include <algorithm>
#include <cstring>

namespace executorch::kernels::optimized {

using runtime::Error;

namespace {

#if defined(__aarch64__) || defined(__arm__) || defined(_M_ARM64)
constexpr bool kIsArm = true;
#else
constexpr bool kIsArm = false;
#endif

// Groups that are computed as one, whose filter has zeros beside those of each: as wide as vectors
// are.
int64_t joined_groups(const Conv& c) {
  constexpr int64_t kChannels = 32;
  int64_t joined = 1;
  while (c.groups % (2 * joined) == 0 && 2 * joined * (c.out_channels / c.groups) <= kChannels) {
    joined *= 2;
  }
  return joined;
}

int64_t num_positions(const Conv& c) {
  return c.batch * c.out_h * c.out_w;
}

// The filter sees one position, and every one.
bool is_matmul(const Conv& c) {
  return c.groups == 1 && c.kernel_h == 1 && c.kernel_w == 1 && c.stride_h == 1 &&
         c.stride_w == 1 && c.pad_h == 0 && c.pad_w == 0;
}

// Short runs, whose sizes are not known when this is compiled. Before `end_from` and `end_to`, more
// than the run may be read and written.
int8_t* copy_run(const int8_t* from, int64_t count, const int8_t* end_from, int8_t* to,
                 const int8_t* end_to) {
  constexpr int64_t kPiece = 16;
  if (count < kPiece) {
    if (end_from - from < kPiece || end_to - to < kPiece) {
      return std::copy_n(from, count, to);
    }
    std::memcpy(to, from, kPiece);
    return to + count;
  }
  for (int64_t i = 0; i + kPiece <= count; i += kPiece) {
    std::memcpy(to + i, from + i, kPiece);
  }
  std::memcpy(to + count - kPiece, from + count - kPiece, kPiece);
  return to + count;
}

// What the filter sees of the image, a row for each output.
class Rows final : public Int8Unfolding {
 public:
  explicit Rows(const Int8Conv& conv)
      : conv_(conv), c_(conv.sizes), groups_(c_.groups / joined_groups(c_)) {}

  void unfold(int64_t group, int64_t position, int64_t count, int8_t* to,
              int64_t stride) const override {
    int64_t col = position % c_.out_w, row = position / c_.out_w;
    for (int64_t i = 0; i < count; ++i, to += stride) {
      unfold_position(group, row, col, to, to + stride);
      if (++col == c_.out_w) {
        col = 0;
        ++row;
      }
    }
  }

 private:
  // `row` counts on through the images.
  void unfold_position(int64_t group, int64_t row, int64_t col, int8_t* to,
                       const int8_t* end) const {
    const int64_t in_group = c_.in_channels / groups_;
    const int64_t image = row / c_.out_h;
    const int64_t top = row % c_.out_h * c_.stride_h - c_.pad_h,
                  left = col * c_.stride_w - c_.pad_w;
    const Range seen = taps_inside(left, c_.dilation_w, c_.kernel_w, c_.in_w);
    const bool is_run = groups_ == 1 && c_.dilation_w == 1;  // taps of a row lie side by side
    for (int64_t tap = 0; tap < c_.kernel_h; ++tap) {
      const int64_t y = top + tap * c_.dilation_h;
      if (y < 0 || y >= c_.in_h) {
        to = std::fill_n(to, c_.kernel_w * in_group, conv_.zero);
        continue;
      }
      const int8_t* const line = conv_.input +
                                 ((image * c_.in_h + y) * c_.in_w + left) * c_.in_channels +
                                 group * in_group;
      to = std::fill_n(to, seen.begin * in_group, conv_.zero);
      const int64_t step = is_run ? seen.size() : 1;
      for (int64_t i = seen.begin; i < seen.end; i += step) {
        to = copy_run(line + i * c_.dilation_w * c_.in_channels, step * in_group, end_, to, end);
      }
      to = std::fill_n(to, (c_.kernel_w - seen.end) * in_group, conv_.zero);
    }
  }

  const Int8Conv& conv_;
  const Conv& c_;
  const int64_t groups_;
  const int8_t* const end_ = conv_.input + c_.batch * c_.in_h * c_.in_w * c_.in_channels;
};

class Rounded final : public Int8Result {
 public:
  Rounded(const Int8Conv& conv, const Int8Weights& of_group) : conv_(conv), n_(of_group.n) {}

  void finish(int64_t group, const Tile& tile) const override {
    const int64_t channel = group * n_ + tile.col, channels = conv_.sizes.out_channels;
    Requantize how = conv_.result;
    how.scales += channel;
    int8_value_kernels().requantize(how, tile.sums, tile.stride, tile.rows, tile.cols,
                                    conv_.output + tile.row * channels + channel, channels);
  }

 private:
  const Int8Conv& conv_;
  const int64_t n_;
};

}  // namespace

bool suits_int8_conv(const Conv& c) {
  if (!kIsArm) {
    return has_int8_dots();
  }
  constexpr int64_t kMinSum = 128;
  return arm_dots() == ArmDots::kMatrix && c.groups == 1 &&
         c.kernel_h * c.kernel_w * c.in_channels >= kMinSum;
}

Int8Weights int8_conv_weights(const Conv& c) {
  const int64_t groups = c.groups / joined_groups(c);
  Int8Weights weights;
  weights.n = c.out_channels / groups;
  weights.k = c.kernel_h * c.kernel_w * (c.in_channels / groups);
  weights.for_tiles = suits_int8_tiles(num_positions(c), weights.n, weights.k);
  return weights;
}

size_t int8_conv_bytes(const Conv& c, const Int8Weights& of_group) {
  return static_cast<size_t>(c.groups / joined_groups(c)) * int8_packed_bytes(of_group);
}

Error pack_int8_conv(runtime::KernelRuntimeContext& ctx, const Conv& c, const Int8Weights& of_group,
                     const int8_t* filter, uint8_t* to) {
  const int64_t joined = joined_groups(c), taps = c.kernel_h * c.kernel_w;
  const int64_t in_group = c.in_channels / c.groups, out_group = c.out_channels / c.groups;
  int8_t* const wide = joined > 1 ? scratch<int8_t>(ctx, of_group.n * of_group.k) : nullptr;
  if (joined > 1 && wide == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  for (int64_t group = 0; group < c.groups; group += joined) {
    if (joined > 1) {
      std::fill_n(wide, of_group.n * of_group.k, int8_t{0});
    }
    for (int64_t i = 0; joined > 1 && i < of_group.n * taps; ++i) {
      const int64_t place = i / taps / out_group;
      std::copy_n(filter + i * in_group, in_group, wide + (i * joined + place) * in_group);
    }
    pack_int8(of_group, joined > 1 ? wide : filter, to);
    filter += joined * out_group * taps * in_group;
    to += int8_packed_bytes(of_group);
  }
  return Error::Ok;
}

int64_t int8_conv_channels(const Conv& c, const Int8Weights& of_group) {
  return c.groups / joined_groups(c) * of_group.num_sums();
}

void int8_conv_starts(const Conv& c, const Int8Weights& of_group, const uint8_t* packed,
                      const int32_t* bias, int32_t zero, int32_t* starts) {
  Int8Weights weights = of_group;
  weights.packed = packed;
  for (int64_t group = 0; group < c.groups / joined_groups(c); ++group) {
    std::fill_n(starts, of_group.num_sums(), 0);
    for (int64_t i = 0; i < weights.n; ++i) {
      starts[i] =
          start_of_sum(bias == nullptr ? 0 : bias[group * weights.n + i], zero, weights.sums()[i]);
    }
    starts += of_group.num_sums();
    weights.packed += int8_packed_bytes(of_group);
  }
}

Error int8_conv(runtime::KernelRuntimeContext& ctx, const Int8Conv& conv,
                const Int8Weights& of_group, const Int8Result& result) {
  const Rows rows(conv);
  const size_t bytes = int8_packed_bytes(of_group);
  return int8_matmul(
      ctx, conv.sizes.groups / joined_groups(conv.sizes),
      [&](int64_t group) {
        Int8Matmul m;
        m.rows = num_positions(conv.sizes);
        m.left = conv.input;
        m.stride = of_group.k;
        m.unfolding = is_matmul(conv.sizes) ? nullptr : &rows;
        m.weights = of_group;
        m.weights.packed = conv.packed + static_cast<size_t>(group) * bytes;
        m.starts = conv.starts == nullptr ? nullptr : conv.starts + group * of_group.num_sums();
        return m;
      },
      result);
}

Error int8_conv(runtime::KernelRuntimeContext& ctx, const Int8Conv& conv,
                const Int8Weights& of_group) {
  return int8_conv(ctx, conv, of_group, Rounded(conv, of_group));
}

}  // namespace executorch::kernels::optimized
