// SPDX-License-Identifier: BSD-3-Clause
// The padding of packed matrices is zero, whatever the memory held.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

extern "C" void xnn_pack_f32_gemm_gio_w(size_t, size_t, size_t, size_t, size_t, size_t, size_t,
                                        const float*, const float*, const void*, float*, size_t,
                                        const void*);

namespace {

TEST(MatrixPadding, IsZero) {
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
