// SPDX-License-Identifier: BSD-3-Clause
// Rows of bilinear resizing on every instruction set, against one output at a time.
#include <executorch/kernels/optimized/gemm/every_target.h>
#include <executorch/kernels/optimized/resize/resize_simd.h>
#include <executorch/kernels/portable/resize/neighbours.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace {

using executorch::kernels::neighbours;
using executorch::kernels::Neighbours;
using executorch::kernels::optimized::bilinear_row;
using executorch::kernels::optimized::BilinearRow;
using executorch::kernels::optimized::on_every_target;
using executorch::kernels::optimized::resize_lanes;

// Exactly as long as the row: what reads behind it is found by the sanitizers.
std::vector<float> drawn(int64_t count, int seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(static_cast<float>((i * 37 + seed) % 101) / 8);
  }
  return values;
}

void expect_mixed(int64_t from, int64_t to) {
  SCOPED_TRACE(testing::Message() << from << " to " << to);
  const std::vector<float> upper = drawn(from, 5), lower = drawn(from, 60);
  const int64_t lanes = resize_lanes();
  const auto room = static_cast<size_t>((to + lanes - 1) / lanes * lanes);
  std::vector<int32_t> bases, firsts(room), seconds(room);
  std::vector<float> weights(room), out(static_cast<size_t>(to), -1.0f);
  int64_t furthest = 0;
  for (size_t x = 0; x < room; ++x) {
    const auto column = std::min(static_cast<int64_t>(x), to - 1);
    const double scale = static_cast<double>(from) / static_cast<double>(to);
    const Neighbours w = neighbours(column, scale, from, to, false);
    if (static_cast<int64_t>(x) % lanes == 0) {
      bases.push_back(static_cast<int32_t>(w.first));
    }
    firsts[x] = static_cast<int32_t>(w.first) - bases.back();
    seconds[x] = static_cast<int32_t>(w.second) - bases.back();
    weights[x] = static_cast<float>(w.weight);
    furthest = std::max<int64_t>(furthest, seconds[x]);
  }
  if (furthest >= 2 * lanes) {
    return;  // of no use to the kernel
  }
  BilinearRow row;
  row.upper = upper.data();
  row.lower = lower.data();
  row.down = 0.25f;
  row.in_count = from;
  row.count = to;
  row.bases = bases.data();
  row.firsts = firsts.data();
  row.seconds = seconds.data();
  row.weights = weights.data();
  row.far = furthest >= lanes;
  row.out = out.data();
  bilinear_row(row);
  for (size_t x = 0; x < out.size(); ++x) {
    const int32_t base = bases[x / static_cast<size_t>(lanes)];
    const auto mixed = [&](int32_t step) {
      const auto at = static_cast<size_t>(base + step);
      return 0.75f * upper[at] + 0.25f * lower[at];
    };
    const float expected = (1 - weights[x]) * mixed(firsts[x]) + weights[x] * mixed(seconds[x]);
    ASSERT_NEAR(out[x], expected, 1e-5f) << "column " << x;
  }
}

TEST(Resize, RowsOfAllWidths) {
  on_every_target([] {
    for (const int64_t from : {1, 2, 7, 16, 17, 33, 64}) {
      for (const int64_t to : {1, 5, 15, 16, 17, 34, 40, 63, 64, 130}) {
        expect_mixed(from, to);
      }
    }
  });
}

}  // namespace
