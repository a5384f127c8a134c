// SPDX-License-Identifier: BSD-3-Clause
// Sampler: from the logits of a token to a token.
//
// In this order: penalties, filter, temperature, softmax, min-p, then top-k or top-p. A
// temperature of 0 takes the best token instead and draws no random number.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <executorch/extension/text/sampler/token_filter.h>

namespace executorch::extension::llm {

inline constexpr auto kTopp = 0.9f;

// What runners and servers take; more makes any text noise.
inline constexpr float kMaxTemperature = 2;

template <typename T>
struct ProbIndex {
  T prob;
  int32_t index;
};

// Natural logarithms of probabilities, of the logits as the model gave them.
struct TokenLogprob {
  int32_t token;
  float logprob;
};
struct TokenLogprobs {
  TokenLogprob taken;
  std::vector<TokenLogprob> best;  // the most probable first
};

// Threads: one at a time. The same seed, options and logits give the same tokens on every machine
// whose exp() agrees.
class Sampler {
 public:
  // vocab_size: how many logits sample(T*) reads. topp: see set_topp(). rng_seed: see
  // set_seed().
  Sampler(int32_t vocab_size, float temperature, float topp, unsigned long long rng_seed);

  // topp is kTopp, the seed comes from the clock.
  Sampler(int32_t vocab_size, float temperature);

  // The index of a token. T is float, Half, BFloat16 or uint16_t, whose values count as numbers.
  // Leaves `logits`, of vocab_size() elements, as they are. Equal logits: the first one counts as
  // the best.
  template <typename T>
  int32_t sample(T* logits);

  // As above, of the first `count` logits.
  template <typename T>
  int32_t sample(const T* logits, int32_t count);

  // Divides logits; 0 and less: the best token.
  void set_temperature(float temperature) { temperature_ = temperature < 0 ? 0 : temperature; }

  // Only the k best tokens are possible; 0 or vocab_size and more: off. Top-p is not used then,
  // unless `then_topp`: of the k best.
  void set_topk(int32_t topk, bool then_topp = false) {
    topk_ = topk;
    then_topp_ = then_topp;
  }

  // Only the best tokens whose probabilities first exceed this sum are possible; 0 and less, or 1
  // and more: off.
  void set_topp(float topp) { topp_ = topp; }

  // Only tokens at least `min_p` times as probable as the best are possible; 0: off.
  void set_min_p(float min_p) { min_p_ = min_p; }

  // Logits of tokens that accept() was told of are divided by it if positive, else multiplied; 1:
  // off. Holds at temperature 0, too.
  void set_repetition_penalty(float penalty) { penalty_ = penalty; }

  // Notes tokens of the prompt or the answer for the repetition penalty.
  void accept(uint64_t token) { accepted_.insert(static_cast<int64_t>(token)); }
  void forget_accepted() { accepted_.clear(); }

  // From here on a token that sample() has taken n times loses n * frequency + presence of its
  // logit; 0 and 0: off. Earlier tokens are forgotten. OpenAI's formula, of the answer alone.
  void begin_answer_penalties(float frequency, float presence) {
    frequency_penalty_ = frequency;
    presence_penalty_ = presence;
    taken_.clear();
  }

  // The state of the generator as it is; 0, which it would never leave, stands for another.
  void set_seed(unsigned long long rng_seed) {
    rng_state_ = rng_seed != 0 ? rng_seed : kStateOfSeedZero;
  }

  // Borrowed; null: no token is forbidden. It is told of each token that sample() takes.
  void set_filter(TokenFilter* filter) { filter_ = filter; }
  TokenFilter* filter() const { return filter_; }

  // While it is on, sample() takes tokens that belong to no answer: without filter, logprobs and
  // penalties of the answer.
  void set_preview(bool is_preview) { is_preview_ = is_preview; }

  // From now on logprobs() has a row for each token that sample() takes, with the `best` most
  // probable ones; -1: none. Earlier rows are forgotten.
  void note_logprobs(int32_t best) {
    num_best_ = best;
    logprobs_.clear();
  }
  const std::vector<TokenLogprobs>& logprobs() const { return logprobs_; }

  int32_t vocab_size() const { return vocab_size_; }

 private:
  int32_t sample_probabilities();
  int32_t sample_multinomial(float random) const;
  int32_t sample_topp(float random);
  int32_t sample_topk(float random);
  int32_t sample_best(float bound, float random) const;
  bool penalizes_answer() const {
    return !is_preview_ && (frequency_penalty_ != 0 || presence_penalty_ != 0);
  }
  void penalize();
  void penalize_answer();
  // Of the logits, the largest of which is at `best`.
  void softmax(int32_t best);
  void drop_improbable(int32_t best);
  void begin_logprobs();
  float next_random();

  static constexpr unsigned long long kStateOfSeedZero = 0x9E3779B97F4A7C15ull;

  int32_t vocab_size_;
  float temperature_;
  float topp_;
  int32_t topk_ = 0;
  bool then_topp_ = false;
  float min_p_ = 0;
  float penalty_ = 1;
  float frequency_penalty_ = 0;
  float presence_penalty_ = 0;
  unsigned long long rng_state_ = kStateOfSeedZero;
  std::unordered_set<int64_t> accepted_;
  std::unordered_map<int32_t, int32_t> taken_;  // how often; empty unless it counts
  TokenFilter* filter_ = nullptr;
  bool is_preview_ = false;
  int32_t num_best_ = -1;
  std::vector<TokenLogprobs> logprobs_;
  std::vector<float> probs_;                // logits, then probabilities, of one call
  std::vector<ProbIndex<float>> possible_;  // of one call
};

}  // namespace executorch::extension::llm

// The historic spellings.
namespace executorch::llm {
using ::executorch::extension::llm::kTopp;
using ::executorch::extension::llm::ProbIndex;
using ::executorch::extension::llm::Sampler;
}  // namespace executorch::llm
namespace torch::executor {
using ::executorch::extension::llm::ProbIndex;
using ::executorch::extension::llm::Sampler;
}  // namespace torch::executor
