// SPDX-License-Identifier: BSD-3-Clause
// Sampler: distributions by a chi-square test with fixed seeds, the rules of each filter, the
// random numbers, and tensors of logits.
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include <executorch/extension/tensor/tensor.h>
#include <executorch/extension/text/sampler/sample_from_logits.h>
#include <executorch/extension/text/sampler/sampler.h>
#include <executorch/runtime/platform/runtime.h>

using executorch::aten::BFloat16;
using executorch::aten::Half;
using executorch::aten::ScalarType;
using executorch::extension::from_blob;
using executorch::extension::llm::logits_to_token;
using executorch::extension::llm::sample_from_logits;
using executorch::extension::llm::Sampler;

namespace {

constexpr int kDraws = 20000;

// Logits of eight tokens whose probabilities at temperature 1 are known: logs of them.
const std::vector<double> kProbabilities = {0.05, 0.30, 0.10, 0.20, 0.02, 0.25, 0.07, 0.01};

std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (const double p : probabilities) {
    logits.push_back(static_cast<float>(std::log(p)));
  }
  return logits;
}

std::vector<double> normalized(std::vector<double> values) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values) {
    value /= sum;
  }
  return values;
}

// Pearson's statistic of kDraws tokens against the expected distribution; impossible tokens fail
// the test. The degrees of freedom come with it.
struct ChiSquare {
  double statistic = 0;
  int freedom = -1;
};
ChiSquare chi_square(Sampler& sampler, const std::vector<double>& expected) {
  const std::vector<float> logits = logits_of(kProbabilities);
  std::vector<int> counts(expected.size());
  for (int i = 0; i < kDraws; ++i) {
    std::vector<float> copy = logits;
    ++counts[static_cast<size_t>(sampler.sample(copy.data()))];
  }
  ChiSquare result;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == 0) {
      EXPECT_EQ(counts[i], 0) << "token " << i;
      continue;
    }
    const double mean = expected[i] * kDraws;
    result.statistic += (counts[i] - mean) * (counts[i] - mean) / mean;
    ++result.freedom;
  }
  return result;
}

// The upper 0.1 % points of the chi-square distribution, by degrees of freedom.
const std::map<int, double> kCritical = {{1, 10.83}, {2, 13.82}, {3, 16.27}, {4, 18.47},
                                         {5, 20.52}, {6, 22.46}, {7, 24.32}};

void expect_distribution(Sampler& sampler, const std::vector<double>& weights) {
  const ChiSquare found = chi_square(sampler, normalized(weights));
  EXPECT_LT(found.statistic, kCritical.at(found.freedom)) << found.freedom << " degrees";
}

class SamplerTest : public testing::Test {
 protected:
  void SetUp() override {
    executorch::runtime::runtime_init();
    RecordProperty("req", "LLM-038");
  }
};

}  // namespace

TEST_F(SamplerTest, DrawsTokensByTheirProbabilities) {
  Sampler sampler(8, 1.0f, 1.0f, 42);
  expect_distribution(sampler, kProbabilities);
}

TEST_F(SamplerTest, TemperatureSharpensTheDistribution) {
  Sampler sampler(8, 0.5f, 1.0f, 43);
  std::vector<double> weights;
  for (const double p : kProbabilities) {
    weights.push_back(p * p);  // softmax(logits / 0.5)
  }
  expect_distribution(sampler, weights);
}

TEST_F(SamplerTest, TopkKeepsTheBest) {
  Sampler sampler(8, 1.0f, 0.1f, 44);
  sampler.set_topk(3);  // top-p of 0.1 alone would leave one token
  expect_distribution(sampler, {0, 0.30, 0, 0.20, 0, 0.25, 0, 0});
}

TEST_F(SamplerTest, ToppMayCountAmongTheBest) {
  Sampler sampler(8, 1.0f, 0.6f, 47);
  sampler.set_topk(3, true);
  // Of 0.30 + 0.25 + 0.20 = 0.75 six tenths are 0.45, which the second exceeds.
  expect_distribution(sampler, {0, 0.30, 0, 0, 0, 0.25, 0, 0});
}

TEST_F(SamplerTest, ToppKeepsTheBestUpToItsSum) {
  Sampler sampler(8, 1.0f, 0.6f, 45);
  // 0.30 + 0.25 = 0.55 does not exceed 0.6, the next one does.
  expect_distribution(sampler, {0, 0.30, 0, 0.20, 0, 0.25, 0, 0});
}

TEST_F(SamplerTest, MinpKeepsWhatIsNotMuchLessProbableThanTheBest) {
  Sampler sampler(8, 1.0f, 1.0f, 46);
  sampler.set_min_p(0.3f);  // of 0.30: 0.09 and more
  expect_distribution(sampler, {0, 0.30, 0.10, 0.20, 0, 0.25, 0, 0});
}

TEST_F(SamplerTest, PenaltiesOfTheAnswerCountWhatWasTaken) {
  Sampler sampler(3, 0.0f, 1.0f, 48);
  const std::vector<float> logits = {3.0f, 2.0f, 0.0f};
  const auto next = [&] {
    std::vector<float> copy = logits;
    return sampler.sample(copy.data());
  };
  // Frequency 0.7, presence 0.5: after n times a logit has lost 0.7 n + 0.5.
  sampler.begin_answer_penalties(0.7f, 0.5f);
  EXPECT_EQ(next(), 0);  // 3 2 0
  EXPECT_EQ(next(), 1);  // 1.8 2 0
  EXPECT_EQ(next(), 0);  // 1.8 0.8 0
  EXPECT_EQ(next(), 0);  // 1.1 0.8 0
  EXPECT_EQ(next(), 1);  // 0.4 0.8 0
  EXPECT_EQ(next(), 0);  // 0.4 0.1 0
  EXPECT_EQ(next(), 1);  // -0.3 0.1 0
  EXPECT_EQ(next(), 2);  // -0.3 -0.6 0
  sampler.accept(0);     // of a prompt
  sampler.begin_answer_penalties(0.7f, 0.5f);
  EXPECT_EQ(next(), 0);
  sampler.set_preview(true);
  EXPECT_EQ(next(), 0);  // neither penalized nor counted
  sampler.set_preview(false);
  EXPECT_EQ(next(), 1);
  sampler.begin_answer_penalties(0, 0);
  EXPECT_EQ(next(), 0);
  EXPECT_EQ(next(), 0);
}

TEST_F(SamplerTest, RepetitionPenaltyDividesPositiveAndMultipliesNegativeLogits) {
  Sampler sampler(3, 1.0f, 1.0f, 47);
  sampler.set_repetition_penalty(2.0f);
  sampler.accept(0);
  sampler.accept(1);
  sampler.accept(99);  // not in the vocabulary
  // Logits become 1, -2, 0.
  const std::vector<double> weights = {std::exp(1.0), std::exp(-2.0), 1.0};
  const std::vector<double> expected = normalized(weights);
  std::vector<int> counts(3);
  for (int i = 0; i < kDraws; ++i) {
    std::vector<float> logits = {2.0f, -1.0f, 0.0f};
    ++counts[static_cast<size_t>(sampler.sample(logits.data()))];
  }
  double statistic = 0;
  for (size_t i = 0; i < 3; ++i) {
    const double mean = expected[i] * kDraws;
    statistic += (counts[i] - mean) * (counts[i] - mean) / mean;
  }
  EXPECT_LT(statistic, kCritical.at(2));

  sampler.set_temperature(0);
  std::vector<float> near = {1.5f, 0.0f, 1.0f};  // 0.75 after the penalty
  EXPECT_EQ(sampler.sample(near.data()), 2);
  sampler.forget_accepted();
  EXPECT_EQ(sampler.sample(near.data()), 0);
}

TEST_F(SamplerTest, ASeedGivesTheSameTokens) {
  Sampler one(8, 1.0f, 1.0f, 7);
  Sampler two(8, 1.0f, 1.0f, 7);
  Sampler other(8, 1.0f, 1.0f, 8);
  std::vector<float> logits = logits_of(kProbabilities);
  std::vector<int32_t> ones;
  std::vector<int32_t> twos;
  std::vector<int32_t> others;
  for (int i = 0; i < 50; ++i) {
    ones.push_back(one.sample(logits.data()));
    twos.push_back(two.sample(logits.data()));
    others.push_back(other.sample(logits.data()));
  }
  EXPECT_EQ(ones, twos);
  EXPECT_NE(ones, others);
  one.set_seed(8);
  EXPECT_EQ(one.sample(logits.data()), others[0]);
}

// xorshift64* from state 1: 1 >> 12 is 0, then 1 ^ 1 << 25 = 0x2000001, which >> 27 is 0. Times
// 0x2545F4914F6CDD1D, bits 32 to 63 are 0x47E4CE4B; 0x47E4CE / 2^24 = 0.28083: the 281st of a
// thousand equal tokens.
TEST_F(SamplerTest, RandomNumbersAreThoseOfXorshift) {
  Sampler sampler(1000, 1.0f, 1.0f, 1);
  std::vector<float> logits(1000, 0.0f);
  EXPECT_EQ(sampler.sample(logits.data()), 280);
}

TEST_F(SamplerTest, ZeroIsASeedLikeAnother) {
  const auto drawn = [](unsigned long long seed) {
    Sampler sampler(1000, 1.0f, 1.0f, seed);
    std::vector<float> logits(1000, 0.0f);
    std::vector<int32_t> tokens(8);
    for (int32_t& token : tokens) {
      token = sampler.sample(logits.data());
    }
    return tokens;
  };
  EXPECT_EQ(drawn(0), drawn(0));
  EXPECT_NE(drawn(0), drawn(1));
  const std::vector<int32_t> tokens = drawn(0);
  EXPECT_EQ(std::set<int32_t>(tokens.begin(), tokens.end()).size(), 8);
}

TEST_F(SamplerTest, WithoutTemperatureTheFirstOfTheBestTokensIsTaken) {
  Sampler sampler(4, 0.0f, 0.9f, 1);
  std::vector<float> logits = {1.0f, 3.0f, 3.0f, 2.0f};
  EXPECT_EQ(sampler.sample(logits.data()), 1);
  sampler.set_temperature(-1.0f);
  EXPECT_EQ(sampler.sample(logits.data()), 1);
  EXPECT_EQ(logits, (std::vector<float>{1.0f, 3.0f, 3.0f, 2.0f}));
}

TEST_F(SamplerTest, LogitsWithoutANumberDoNotBreakIt) {
  const float infinity = std::numeric_limits<float>::infinity();
  Sampler sampler(3, 1.0f, 0.9f, 1);
  std::vector<float> none = {-infinity, -infinity, -infinity};
  EXPECT_EQ(sampler.sample(none.data()), 0);
  std::vector<float> one = {-infinity, 0.0f, -infinity};
  EXPECT_EQ(sampler.sample(one.data()), 1);
}

TEST_F(SamplerTest, EveryTypeOfLogitsGivesTheSameTokens) {
  const std::vector<float> values = {1.0f, 2.0f, 8.0f, 4.0f};  // exact in each type
  std::vector<Half> halves(values.begin(), values.end());
  std::vector<BFloat16> bfloats(values.begin(), values.end());
  std::vector<uint16_t> integers = {1, 2, 8, 4};
  for (unsigned long long seed = 1; seed < 20; ++seed) {
    std::vector<float> floats = values;
    Sampler sampler(4, 1.0f, 1.0f, seed);
    const int32_t expected = sampler.sample(floats.data());
    sampler.set_seed(seed);
    EXPECT_EQ(sampler.sample(halves.data()), expected);
    sampler.set_seed(seed);
    EXPECT_EQ(sampler.sample(bfloats.data()), expected);
    sampler.set_seed(seed);
    EXPECT_EQ(sampler.sample(integers.data()), expected);
  }
}

TEST_F(SamplerTest, ATensorOfThreeDimensionsCountsByItsLastPosition) {
  std::vector<float> data = {9, 0, 0, 0, 5, 0};
  EXPECT_EQ(logits_to_token(*from_blob(data.data(), {1, 2, 3})), 1);
  EXPECT_EQ(logits_to_token(*from_blob(data.data(), {2, 3})), 0);
  EXPECT_EQ(logits_to_token(*from_blob(data.data(), {6})), 0);
}

TEST_F(SamplerTest, AVocabularySmallerOrLargerThanTheLogitsStaysInside) {
  std::vector<float> data = {0, 1, 9};
  Sampler small(2, 0.0f);
  EXPECT_EQ(sample_from_logits(*from_blob(data.data(), {1, 3}), small), 1);
  Sampler large(1000, 0.0f);
  EXPECT_EQ(sample_from_logits(*from_blob(data.data(), {1, 3}), large), 2);
}

TEST_F(SamplerTest, LogitsOfAnotherTypeAbort) {
  std::vector<int64_t> data = {0, 1, 9};
  EXPECT_DEATH(logits_to_token(*from_blob(data.data(), {1, 3}, ScalarType::Long)),
               "Expected logits of Float, Half, BFloat16 or UInt16");
}
