// SPDX-License-Identifier: BSD-3-Clause
// Our order of filters beside the one that XNNPACK makes.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

extern "C" {
using Pack = void(size_t, size_t, size_t, size_t, size_t, size_t, size_t, const float*,
                  const float*, const void*, float*, size_t, const void*);
Pack xnn_pack_f32_conv_goki_w;
Pack xnn_pack_f32_conv_goki_w_any;
}

namespace {

struct Filters {
  size_t groups, filters, taps, channels, panel, kr, sr;
  bool has_bias;
};

/// Where XNNPACK packs to: aligned for the widest vectors.
struct alignas(64) Line {
  float values[16];
};

std::vector<float> packed_by(Pack& pack, const Filters& f) {
  std::vector<float> weights(f.groups * f.filters * f.taps * f.channels);
  std::iota(weights.begin(), weights.end(), 1.0f);
  std::vector<float> bias(f.groups * f.filters);
  std::iota(bias.begin(), bias.end(), 0.5f);
  const size_t panels = (f.filters + f.panel - 1) / f.panel;
  const size_t group_of_channels = f.kr * f.sr;
  const size_t channels =
      (f.channels + group_of_channels - 1) / group_of_channels * group_of_channels;
  const size_t size = f.groups * panels * f.panel * (1 + f.taps * channels);
  std::vector<Line> lines(size / 16 + 1, Line{});
  float* const packed = lines[0].values;
  pack(f.groups, f.filters, f.taps, f.channels, f.panel, f.kr, f.sr, weights.data(),
       f.has_bias ? bias.data() : nullptr, nullptr, packed, 0, nullptr);
  // Nothing reads what lies in columns without a filter.
  const size_t rows = 1 + f.taps * channels;
  for (size_t i = 0; i < size; ++i) {
    const size_t panel = i / (rows * f.panel) % panels;
    packed[i] = panel * f.panel + i % f.panel < f.filters ? packed[i] : 0;
  }
  return {packed, packed + size};
}

TEST(FilterPacking, IsThatOfXnnpack) {
  for (size_t groups : {1, 3}) {
    for (size_t filters : {1, 31, 32, 33, 70}) {
      for (size_t taps : {1, 9}) {
        for (size_t channels : {1, 3, 16, 17}) {
          for (size_t panel : {8, 16, 32}) {  // one is that of this processor's kernels
            for (const bool has_bias : {false, true}) {
              const Filters plain{groups, filters, taps, channels, panel, 1, 1, has_bias};
              EXPECT_EQ(packed_by(xnn_pack_f32_conv_goki_w, plain),
                        packed_by(xnn_pack_f32_conv_goki_w_any, plain))
                  << groups << " groups of " << filters << " filters, " << taps << " of "
                  << channels;
            }
          }
        }
      }
    }
  }
}

TEST(FilterPacking, LeavesWhatReadsChannelsTogether) {
  const Filters four{2, 9, 4, 6, 8, 1, 4, true};
  EXPECT_EQ(packed_by(xnn_pack_f32_conv_goki_w, four),
            packed_by(xnn_pack_f32_conv_goki_w_any, four));
}

}  // namespace
