// SPDX-License-Identifier: BSD-3-Clause
// Our order of filters beside the one that XNNPACK makes, and the padding of matrices.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

extern "C" {
using Pack = void(size_t, size_t, size_t, size_t, size_t, size_t, size_t, const float*,
                  const float*, const void*, float*, size_t, const void*);
Pack xnn_pack_f32_conv_goki_w;
Pack xnn_pack_f32_conv_goki_w_any;
void xnn_pack_f32_gemm_gio_w(size_t, size_t, size_t, size_t, size_t, size_t, size_t, const float*,
                             const float*, const void*, float*, size_t, const void*);
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

TEST(F32Packing, IsThatOfXnnpack) {
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

TEST(F32Packing, LeavesWhatReadsChannelsTogether) {
  const Filters four{2, 9, 4, 6, 8, 1, 4, true};
  EXPECT_EQ(packed_by(xnn_pack_f32_conv_goki_w, four),
            packed_by(xnn_pack_f32_conv_goki_w_any, four));
}

TEST(F32Packing, PadsTheDepthOfMatricesWithZeros) {
  constexpr size_t kGroups = 2, kColumns = 11, kPanel = 8, kExtra = 2;
  struct Order {
    size_t kr, sr;
  };
  for (const Order order : {Order{1, 1}, Order{1, 4}, Order{4, 1}}) {
    for (size_t depth = 1; depth <= 9; ++depth) {
      const size_t step = order.kr * order.sr;
      const size_t padded = (depth + step - 1) / step * step;
      const size_t values = kPanel * (1 + padded) + kExtra;  // of a panel
      std::vector<float> weights(kGroups * depth * kColumns);
      std::iota(weights.begin(), weights.end(), 1.0f);
      const float before = -1.0f;  // what the memory held
      std::vector<float> packed(kGroups * 2 * values, before);
      xnn_pack_f32_gemm_gio_w(kGroups, kColumns, depth, kPanel, order.kr, order.sr, kColumns,
                              weights.data(), nullptr, nullptr, packed.data(),
                              kExtra * sizeof(float), nullptr);
      for (size_t panel = 0; panel < kGroups * 2; ++panel) {
        const float* const first = packed.data() + panel * values;
        const float* const extra = first + kPanel * (1 + padded);
        EXPECT_EQ(std::count(extra, extra + kExtra, before), kExtra)
            << "extra bytes are the caller's";
        // The first panel of a group is full; the second has three columns, and nothing reads its
        // others.
        const size_t columns = panel % 2 == 0 ? kPanel : kColumns - kPanel;
        size_t zeros = 0, weights_found = 0;
        for (size_t at = kPanel; at < kPanel * (1 + padded); ++at) {
          const size_t column = (at - kPanel) / order.kr % kPanel;
          if (column >= columns) {
            continue;
          }
          EXPECT_NE(first[at], before) << "depth " << depth << ", panel " << panel << ", at " << at;
          zeros += first[at] == 0.0f;
          weights_found += first[at] > 0.0f;
        }
        EXPECT_EQ(weights_found, columns * depth);
        EXPECT_EQ(zeros, columns * (padded - depth));
      }
    }
  }
}

}  // namespace
