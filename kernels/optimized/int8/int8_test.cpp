// SPDX-License-Identifier: BSD-3-Clause
// Layers of int8 beside their definition: sums of integers, times a scale, to nearest.
#include <executorch/kernels/optimized/int8/byte_table.h>
#include <executorch/kernels/optimized/int8/int8_conv.h>
#include <executorch/kernels/optimized/int8/int8_depthwise.h>
#include <executorch/kernels/optimized/int8_dots/every_dots.h>
#include <executorch/runtime/platform/runtime.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace executorch::kernels::optimized {
namespace {

using runtime::Error;
using runtime::KernelRuntimeContext;
using runtime::MemoryAllocator;

constexpr uint32_t kScratchBytes = 8 << 20;

struct Case {
  int64_t groups, in_channels, out_channels, size, kernel, stride, pad, dilation;
};

Conv sizes_of(const Case& c) {
  Conv conv = {};
  conv.batch = 2;
  conv.groups = c.groups;
  conv.in_channels = c.in_channels;
  conv.out_channels = c.out_channels;
  conv.in_d = conv.out_d = conv.kernel_d = conv.stride_d = conv.dilation_d = 1;
  conv.in_h = c.size;
  conv.in_w = c.size + 1;
  conv.kernel_h = c.kernel;
  conv.kernel_w = c.kernel == 1 ? 1 : c.kernel + 1;
  conv.stride_h = conv.stride_w = c.stride;
  conv.pad_h = conv.pad_w = c.pad;
  conv.dilation_h = conv.dilation_w = c.dilation;
  conv.out_h = (conv.in_h + 2 * c.pad - c.dilation * (conv.kernel_h - 1) - 1) / c.stride + 1;
  conv.out_w = (conv.in_w + 2 * c.pad - c.dilation * (conv.kernel_w - 1) - 1) / c.stride + 1;
  conv.channels_last = conv.weight_channels_last = true;
  return conv;
}

// Some numbers of a layer: all of int8, biases that matter beside the sums.
struct Layer {
  Conv sizes;
  std::vector<int8_t> input, filter;
  std::vector<int32_t> bias;
  std::vector<float> scales;
  int8_t zero = -11;
  Requantize result = {nullptr, 5, -100, 120};

  explicit Layer(const Conv& c) : sizes(c) {
    std::mt19937 random(7);
    const auto bytes = [&](std::vector<int8_t>& to, int64_t count, int least) {
      std::uniform_int_distribution<int> any(least, 127);
      to.resize(static_cast<size_t>(count));
      std::generate(to.begin(), to.end(), [&] { return static_cast<int8_t>(any(random)); });
    };
    const int64_t of_filter = c.kernel_h * c.kernel_w * (c.in_channels / c.groups);
    bytes(input, c.batch * c.in_h * c.in_w * c.in_channels, -128);
    bytes(filter, of_filter * c.out_channels, -127);
    std::uniform_int_distribution<int> any(-30000, 30000);
    std::uniform_real_distribution<float> spread(0.5f, 2.0f);
    for (int64_t i = 0; i < c.out_channels; ++i) {
      bias.push_back(any(random));
      scales.push_back(spread(random) * 0.01f / std::sqrt(static_cast<float>(of_filter)));
    }
    result.scales = scales.data();
  }

  // A filter is [out_channels][kernel_h][kernel_w][of a group] or [kernel_h][kernel_w][channels].
  int64_t filter_at(int64_t channel, int64_t y, int64_t x, int64_t i, bool is_depthwise) const {
    const int64_t in_group = sizes.in_channels / sizes.groups;
    return is_depthwise ? (y * sizes.kernel_w + x) * sizes.out_channels + channel
                        : ((channel * sizes.kernel_h + y) * sizes.kernel_w + x) * in_group + i;
  }

  int8_t expected(int64_t position, int64_t channel, bool is_depthwise) const {
    const Conv& c = sizes;
    const int64_t in_group = c.in_channels / c.groups, out_group = c.out_channels / c.groups;
    const int64_t col = position % c.out_w, row = position / c.out_w % c.out_h;
    const int64_t image = position / c.out_w / c.out_h;
    int64_t sum = bias[static_cast<size_t>(channel)];
    for (int64_t y = 0; y < c.kernel_h; ++y) {
      for (int64_t x = 0; x < c.kernel_w; ++x) {
        const int64_t in_row = row * c.stride_h - c.pad_h + y * c.dilation_h;
        const int64_t in_col = col * c.stride_w - c.pad_w + x * c.dilation_w;
        const bool is_inside = in_row >= 0 && in_row < c.in_h && in_col >= 0 && in_col < c.in_w;
        for (int64_t i = 0; is_inside && i < in_group; ++i) {
          const int64_t at = ((image * c.in_h + in_row) * c.in_w + in_col) * c.in_channels +
                             channel / out_group * in_group + i;
          sum += (input[static_cast<size_t>(at)] - zero) *
                 filter[static_cast<size_t>(filter_at(channel, y, x, i, is_depthwise))];
        }
      }
    }
    const float scaled = static_cast<float>(sum) * scales[static_cast<size_t>(channel)];
    const auto rounded = static_cast<int64_t>(std::nearbyint(scaled)) + result.zero;
    return static_cast<int8_t>(std::clamp<int64_t>(rounded, result.min, result.max));
  }

  void compare(const std::vector<int8_t>& found, bool is_depthwise) const {
    for (size_t i = 0; i < found.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      ASSERT_EQ(found[i], expected(at / sizes.out_channels, at % sizes.out_channels, is_depthwise))
          << "position " << at / sizes.out_channels << ", channel " << at % sizes.out_channels;
    }
  }

  Int8Conv bind(const std::vector<uint8_t>& packed, const std::vector<int32_t>& starts,
                std::vector<int8_t>& output) const {
    Int8Conv conv;
    conv.sizes = sizes;
    conv.input = input.data();
    conv.zero = zero;
    conv.packed = packed.data();
    conv.starts = starts.data();
    conv.result = result;
    conv.output = output.data();
    return conv;
  }
  std::vector<int8_t> room() const {
    return std::vector<int8_t>(
        static_cast<size_t>(sizes.batch * sizes.out_h * sizes.out_w * sizes.out_channels), 99);
  }
};

TEST(Int8Test, ConvolutionsAreSumsOfProductsToNearest) {
  runtime::runtime_init();
  constexpr Case kCases[] = {
      {1, 64, 64, 9, 1, 1, 0, 1}, {1, 13, 5, 6, 1, 1, 0, 1},   {1, 32, 70, 7, 1, 2, 0, 1},
      {1, 3, 24, 11, 3, 2, 1, 1}, {1, 17, 33, 8, 3, 1, 1, 1},  {1, 40, 130, 9, 3, 1, 2, 2},
      {4, 32, 48, 7, 3, 1, 1, 1}, {12, 24, 36, 6, 3, 1, 1, 1}, {1, 128, 16, 4, 5, 1, 2, 1},
      {8, 8, 16, 6, 3, 2, 1, 1},  {1, 2, 3, 20, 7, 3, 3, 1},   {1, 300, 40, 5, 3, 1, 1, 1},
      {2, 34, 36, 5, 2, 1, 0, 1},
  };
  for (const Case& each : kCases) {
    SCOPED_TRACE(::testing::Message() << each.in_channels << " to " << each.out_channels << ", "
                                      << each.kernel << ", " << each.groups << " groups");
    const Layer layer(sizes_of(each));
    const auto check = [&](const Int8Weights& weights) {
      std::vector<uint8_t> packed(int8_conv_bytes(layer.sizes, weights) + 64);
      std::vector<uint8_t> memory(kScratchBytes);
      MemoryAllocator scratch(kScratchBytes, memory.data());
      KernelRuntimeContext ctx(nullptr, &scratch);
      ASSERT_EQ(pack_int8_conv(ctx, layer.sizes, weights, layer.filter.data(), packed.data()),
                Error::Ok);
      std::vector<int32_t> starts(static_cast<size_t>(int8_conv_channels(layer.sizes, weights)));
      int8_conv_starts(layer.sizes, weights, packed.data(), layer.bias.data(), layer.zero,
                       starts.data());
      std::vector<int8_t> output = layer.room();
      ASSERT_EQ(int8_conv(ctx, layer.bind(packed, starts, output), weights), Error::Ok);
      layer.compare(output, /*is_depthwise=*/false);
    };
    Int8Weights weights = int8_conv_weights(layer.sizes);
    check(weights);
    weights.for_tiles = false;
    on_every_dots([&] { check(weights); });
  }
}

TEST(Int8Test, DepthwiseConvolutionsAreSumsOfProductsToNearest) {
  runtime::runtime_init();
  constexpr Case kCases[] = {
      {64, 64, 64, 9, 3, 1, 1, 1},    {24, 24, 24, 8, 3, 2, 1, 1},    {5, 5, 5, 7, 5, 1, 2, 1},
      {100, 100, 100, 9, 7, 1, 3, 1}, {144, 144, 144, 6, 3, 1, 2, 2}, {48, 48, 48, 5, 1, 1, 0, 1},
      {33, 33, 33, 40, 2, 1, 1, 1},
  };
  for (const Case& each : kCases) {
    SCOPED_TRACE(::testing::Message() << each.in_channels << " channels, " << each.kernel);
    const Layer layer(sizes_of(each));
    on_every_dots([&] {
      std::vector<uint8_t> packed(int8_depthwise_bytes(layer.sizes));
      pack_int8_depthwise(layer.sizes, layer.filter.data(), packed.data());
      const int64_t channels = layer.sizes.in_channels;
      const auto filled = static_cast<size_t>(int8_depthwise_channels(channels));
      std::vector<int32_t> starts(filled);
      int8_depthwise_starts(layer.sizes, packed.data(), layer.bias.data(), layer.zero,
                            starts.data());
      std::vector<float> scales(filled);
      for (int64_t i = 0; i < channels; ++i) {
        scales[static_cast<size_t>(int8_depthwise_place(channels, i))] =
            layer.scales[static_cast<size_t>(i)];
      }
      std::vector<uint8_t> memory(kScratchBytes);
      MemoryAllocator scratch(kScratchBytes, memory.data());
      KernelRuntimeContext ctx(nullptr, &scratch);
      std::vector<int8_t> output = layer.room();
      Int8Conv conv = layer.bind(packed, starts, output);
      conv.result.scales = scales.data();
      ASSERT_EQ(int8_depthwise(ctx, conv), Error::Ok);
      layer.compare(output, /*is_depthwise=*/true);
    });
  }
}

// -3 and 5 in 255 steps: 8 / 255 each, and 0 stands at -128 + 3 / (8 / 255) = -32.375.
TEST(Int8Test, ARowOfFloatsIsSpreadFromItsSmallestToItsLargestNumber) {
  on_every_target([] {
    const std::vector<float> row = {0.0f, 5.0f, -3.0f, 1.0f, 2.5f, -1.5f, 0.1f, 4.9f, 0.02f};
    std::vector<int8_t> bytes(row.size());
    Int8Scale found;
    quantize_rows(row.data(), 1, static_cast<int64_t>(row.size()), bytes.data(), &found);
    EXPECT_FLOAT_EQ(found.scale, 8.0f / 255);
    EXPECT_EQ(found.zero, -32);
    for (size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(bytes[i], std::clamp(std::lrint(row[i] * 255 / 8) - 32, -128L, 127L)) << row[i];
    }
    const std::vector<float> nothing(19, 0.0f);
    std::vector<int8_t> zeros(nothing.size(), 7);
    quantize_rows(nothing.data(), 1, 19, zeros.data(), &found);
    EXPECT_EQ(found.scale, 1.0f);
    EXPECT_EQ(zeros, std::vector<int8_t>(19, 127));  // which is where 0 stands
  });
}

}  // namespace
TEST(Int8Test, BytesAreLookedUpInTheirTable) {
  std::vector<uint8_t> table(256), from(700);
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<uint8_t>(i * i * 7 + 3 * i + 11);
  }
  for (size_t i = 0; i < from.size(); ++i) {
    from[i] = static_cast<uint8_t>(i * 37 + i / 256);
  }
  on_every_target([&] {
    for (const size_t count : {1, 15, 16, 31, 64, 65, 130, 700}) {
      std::vector<uint8_t> to(count + 1, 99);
      look_up_bytes(table.data(), from.data(), static_cast<int64_t>(count), to.data());
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(to[i], table[from[i]]) << i << " of " << count;
      }
      EXPECT_EQ(to[count], 99);
    }
  });
}

}  // namespace executorch::kernels::optimized
