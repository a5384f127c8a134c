// SPDX-License-Identifier: BSD-3-Clause
// The running softmax on every instruction set: blocks of any size give what one pass gives.
#include <executorch/kernels/optimized/attention/attention_simd.h>
#include <executorch/kernels/optimized/gemm/every_target.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using executorch::kernels::optimized::on_every_target;
using executorch::kernels::optimized::RunningSoftmax;
using executorch::kernels::optimized::softmax_step;

constexpr float kLowest = -std::numeric_limits<float>::infinity();

TEST(SoftmaxStep, GivesTheSameInBlocksAsAtOnce) {
  std::vector<float> scores(101);
  double total = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    scores[i] = i % 7 == 3 ? kLowest : 9.0f * std::sin(static_cast<float>(i));
    total += std::exp(static_cast<double>(scores[i]));
  }
  on_every_target([&] {
    for (size_t step : {1, 3, 16, 17, 101}) {
      std::vector<float> weights = scores;
      std::vector<float> scale(scores.size(), 1.0f);
      RunningSoftmax row{kLowest, 0.0f};
      for (size_t at = 0; at < scores.size(); at += step) {
        const size_t count = std::min(step, scores.size() - at);
        const float factor = softmax_step(&weights[at], static_cast<int64_t>(count), row);
        for (size_t i = 0; i < at; ++i) {
          scale[i] *= factor;
        }
      }
      for (size_t i = 0; i < scores.size(); ++i) {
        const double expected = std::exp(static_cast<double>(scores[i])) / total;
        ASSERT_NEAR(weights[i] * scale[i] / row.total, expected, 1e-6) << i << " of step " << step;
      }
    }
  });
}

TEST(SoftmaxStep, WeighsNothingWithoutAnAllowedKeyAndKeepsNan) {
  on_every_target([] {
    std::vector<float> forbidden(20, kLowest);
    RunningSoftmax row{kLowest, 0.0f};
    EXPECT_EQ(softmax_step(forbidden.data(), 20, row), 1.0f);
    EXPECT_EQ(row.total, 0.0f);
    EXPECT_EQ(forbidden, std::vector<float>(20, 0.0f));
    std::vector<float> one_nan(20, 1.0f);
    one_nan[5] = std::nanf("");
    softmax_step(one_nan.data(), 20, row);
    EXPECT_TRUE(std::isnan(row.total));
  });
}

}  // namespace
