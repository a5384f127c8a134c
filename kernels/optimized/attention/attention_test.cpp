// SPDX-License-Identifier: BSD-3-Clause
// On every instruction set: a running softmax in blocks of any size gives what one pass gives, and
// rows of a cache are read as loops would read them.
#include <executorch/kernels/optimized/attention/attention_simd.h>
#include <executorch/kernels/optimized/gemm/every_target.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using executorch::kernels::optimized::add_rows;
using executorch::kernels::optimized::CacheRows;
using executorch::kernels::optimized::on_every_target;
using executorch::kernels::optimized::RunningSoftmax;
using executorch::kernels::optimized::score_rows;
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

// exp(-88) is denormal: such weights are slow to multiply.
TEST(SoftmaxStep, HasNoDenormalWeights) {
  on_every_target([] {
    std::vector<float> scores(37, -88.0f);
    scores[0] = 0.0f;
    scores[1] = -86.0f;
    scores[36] = -1e30f;
    RunningSoftmax row{kLowest, 0.0f};
    softmax_step(scores.data(), 37, row);
    EXPECT_EQ(scores[0], 1.0f);
    EXPECT_NEAR(scores[1] / std::exp(-86.0), 1.0, 1e-5);
    EXPECT_EQ(std::count(scores.begin() + 2, scores.end(), 0.0f), 35);
  });
}

std::vector<float> drawn(size_t size, float step) {
  std::vector<float> values(size);
  for (size_t i = 0; i < size; ++i) {
    values[i] = std::sin(step * static_cast<float>(i + 1));
  }
  return values;
}

struct Sizes {
  int64_t count, depth, heads, queries;
};

// Of any depth and number of rows, between rows of other heads.
TEST(CacheRows, AreReadByEachQueryOfTheirHead) {
  for (const Sizes& size : {Sizes{1, 1, 1, 1},
                            {3, 5, 2, 2},
                            {4, 16, 3, 3},
                            {21, 64, 8, 4},
                            {9, 80, 1, 5},
                            {37, 33, 2, 8},
                            {8, 128, 2, 7}}) {
    const int64_t gap = 2, row_stride = size.heads * size.depth + gap, stride = size.count + 3;
    const int64_t queries = size.heads * size.queries;
    const auto data = drawn(static_cast<size_t>(size.count * row_stride), 0.37f);
    const auto query = drawn(static_cast<size_t>(queries * size.depth), 0.91f);
    CacheRows rows;
    rows.data = data.data();
    rows.row_stride = row_stride;
    rows.head_stride = size.depth;
    rows.count = size.count;
    rows.depth = size.depth;
    rows.heads = size.heads;
    rows.queries = size.queries;
    const auto row_of = [&](int64_t q, int64_t r) {
      return &data[static_cast<size_t>(r * row_stride + q / size.queries * size.depth)];
    };
    on_every_target([&] {
      std::vector<float> scores(static_cast<size_t>(queries * stride), 7.0f);
      score_rows(rows, query.data(), scores.data(), stride);
      std::vector<float> sums(query.size(), 1.0f), added = sums;
      add_rows(rows, scores.data(), stride, sums.data(), /*accumulate=*/false);
      add_rows(rows, scores.data(), stride, added.data(), /*accumulate=*/true);
      for (int64_t q = 0; q < queries; ++q) {
        const float* const score = &scores[static_cast<size_t>(q * stride)];
        for (int64_t r = 0; r < size.count; ++r) {
          double dot = 0;
          for (int64_t j = 0; j < size.depth; ++j) {
            dot += static_cast<double>(row_of(q, r)[j]) *
                   query[static_cast<size_t>(q * size.depth + j)];
          }
          ASSERT_NEAR(score[r], dot, 1e-4) << "query " << q << ", row " << r;
        }
        ASSERT_EQ(score[size.count], 7.0f) << "written behind the last row";
        for (int64_t j = 0; j < size.depth; ++j) {
          double sum = 0;
          for (int64_t r = 0; r < size.count; ++r) {
            sum += static_cast<double>(score[r]) * row_of(q, r)[j];
          }
          const auto at = static_cast<size_t>(q * size.depth + j);
          ASSERT_NEAR(sums[at], sum, 1e-3) << "query " << q << ", column " << j;
          ASSERT_NEAR(added[at], sum + 1.0, 1e-3) << "query " << q << ", column " << j;
        }
      }
    });
  }
}

}  // namespace
