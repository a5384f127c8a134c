// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/text/sampler/sampler.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include <executorch/runtime/core/exec_aten/exec_aten.h>

namespace executorch::extension::llm {

namespace {

// Better first; of equal tokens the earlier one.
bool is_better(const ProbIndex<float>& a, const ProbIndex<float>& b) {
  return a.prob != b.prob ? a.prob > b.prob : a.index < b.index;
}

// Where the largest is, the first of equal ones. A NaN is passed over, but for the first logit. A
// vocabulary is long: the maxima of lanes do not wait for each other.
template <typename T>
int32_t index_of_largest(const T* logits, size_t count) {
  constexpr size_t kLanes = 16;
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, static_cast<float>(logits[0]));
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const auto logit = static_cast<float>(logits[i + lane]);
      lanes[lane] = logit > lanes[lane] ? logit : lanes[lane];
    }
  }
  for (; i < count; ++i) {
    lanes[0] = std::max(lanes[0], static_cast<float>(logits[i]));
  }
  const float largest = *std::max_element(lanes, lanes + kLanes);
  const T* const found = std::find_if(
      logits, logits + count, [&](T logit) { return static_cast<float>(logit) == largest; });
  return found == logits + count ? 0 : static_cast<int32_t>(found - logits);
}

// The token at which the running sum passes `random`; rounding may leave it just above the sum.
int32_t pick(const ProbIndex<float>* tokens, size_t count, float random) {
  float sum = 0;
  for (size_t i = 0; i < count; ++i) {
    sum += tokens[i].prob;
    if (random < sum) {
      return tokens[i].index;
    }
  }
  while (count > 1 && tokens[count - 1].prob == 0) {
    --count;  // forbidden
  }
  return tokens[count - 1].index;
}

}  // namespace

Sampler::Sampler(int32_t vocab_size, float temperature, float topp, unsigned long long rng_seed)
    : vocab_size_(vocab_size), temperature_(temperature < 0 ? 0 : temperature), topp_(topp) {
  set_seed(rng_seed);
}

Sampler::Sampler(int32_t vocab_size, float temperature)
    : Sampler(vocab_size, temperature, kTopp, static_cast<unsigned long long>(std::time(nullptr))) {
}

// xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators" (2016).
float Sampler::next_random() {
  rng_state_ ^= rng_state_ >> 12;
  rng_state_ ^= rng_state_ << 25;
  rng_state_ ^= rng_state_ >> 27;
  const auto bits = static_cast<uint32_t>((rng_state_ * 0x2545F4914F6CDD1Dull) >> 32);
  return static_cast<float>(bits >> 8) / 16777216.0f;
}

// Keskar et al., "CTRL" (2019), section 4.1.
void Sampler::penalize() {
  for (const int64_t token : accepted_) {
    if (token >= 0 && token < static_cast<int64_t>(probs_.size())) {
      float& logit = probs_[static_cast<size_t>(token)];
      logit = logit > 0 ? logit / penalty_ : logit * penalty_;
    }
  }
}

void Sampler::penalize_answer() {
  for (const auto& [token, count] : taken_) {
    if (token < static_cast<int32_t>(probs_.size())) {
      probs_[static_cast<size_t>(token)] -=
          static_cast<float>(count) * frequency_penalty_ + presence_penalty_;
    }
  }
}

void Sampler::begin_logprobs() {
  const float largest = probs_[index_of_largest(probs_.data(), probs_.size())];
  double sum = 0;
  for (const float logit : probs_) {
    sum += std::exp(static_cast<double>(logit - largest));
  }
  const float log_sum = largest + static_cast<float>(std::log(sum));
  const auto count = std::min(static_cast<size_t>(num_best_), probs_.size());
  possible_.resize(probs_.size());
  for (size_t i = 0; i < probs_.size(); ++i) {
    possible_[i] = {probs_[i], static_cast<int32_t>(i)};
  }
  std::partial_sort(possible_.begin(), possible_.begin() + static_cast<ptrdiff_t>(count),
                    possible_.end(), is_better);
  TokenLogprobs& row = logprobs_.emplace_back();
  row.taken = {0, log_sum};  // until the token is known
  for (size_t i = 0; i < count; ++i) {
    row.best.push_back({possible_[i].index, possible_[i].prob - log_sum});
  }
}

void Sampler::softmax(int32_t best) {
  const float largest = probs_[best];
  float sum = 0;
  for (float& prob : probs_) {
    prob = std::exp(prob - largest);
    sum += prob;
  }
  for (float& prob : probs_) {
    prob /= sum;
  }
}

// Nguyen et al., "Turning Up the Heat: Min-p Sampling" (2024).
void Sampler::drop_improbable(int32_t best) {
  const float bound = min_p_ * probs_[best];
  float sum = 0;
  for (float& prob : probs_) {
    prob = prob < bound ? 0 : prob;
    sum += prob;
  }
  for (float& prob : probs_) {
    prob /= sum;
  }
}

int32_t Sampler::sample_multinomial(float random) const {
  float sum = 0;
  int32_t last_possible = 0;
  for (size_t i = 0; i < probs_.size(); ++i) {
    sum += probs_[i];
    if (probs_[i] > 0) {
      last_possible = static_cast<int32_t>(i);
    }
    if (random < sum) {
      return static_cast<int32_t>(i);
    }
  }
  return last_possible;
}

int32_t Sampler::sample_topp(float random) {
  // No token below this bound can be among those that make up topp: sorting skips them.
  const float bound = (1.0f - topp_) / static_cast<float>(probs_.size() - 1);
  possible_.clear();
  for (size_t i = 0; i < probs_.size(); ++i) {
    if (probs_[i] >= bound) {
      possible_.push_back({probs_[i], static_cast<int32_t>(i)});
    }
  }
  std::sort(possible_.begin(), possible_.end(), is_better);
  return sample_best(topp_, random);
}

// Of possible_, best first: those whose sum first exceeds `bound`.
int32_t Sampler::sample_best(float bound, float random) const {
  float sum = 0;
  size_t count = 0;
  while (count < possible_.size() && sum <= bound) {
    sum += possible_[count++].prob;
  }
  return pick(possible_.data(), count, random * sum);
}

int32_t Sampler::sample_topk(float random) {
  possible_.resize(probs_.size());
  for (size_t i = 0; i < probs_.size(); ++i) {
    possible_[i] = {probs_[i], static_cast<int32_t>(i)};
  }
  const auto end = possible_.begin() + topk_;
  std::partial_sort(possible_.begin(), end, possible_.end(), is_better);
  possible_.erase(end, possible_.end());
  float sum = 0;
  for (const ProbIndex<float>& token : possible_) {
    sum += token.prob;
  }
  const bool has_topp = then_topp_ && topp_ > 0 && topp_ < 1;
  return has_topp ? sample_best(topp_ * sum, random)
                  : pick(possible_.data(), possible_.size(), random * sum);
}

int32_t Sampler::sample_probabilities() {
  const int32_t best = index_of_largest(probs_.data(), probs_.size());
  if (temperature_ == 0 || probs_.size() == 1 || !std::isfinite(probs_[best])) {
    return best;
  }
  for (float& logit : probs_) {
    logit *= 1.0f / temperature_;
  }
  softmax(best);
  if (min_p_ > 0) {
    drop_improbable(best);
  }
  const float random = next_random();
  if (topk_ > 0 && topk_ < static_cast<int32_t>(probs_.size())) {
    return sample_topk(random);
  }
  return topp_ <= 0 || topp_ >= 1 ? sample_multinomial(random) : sample_topp(random);
}

template <typename T>
int32_t Sampler::sample(const T* logits, int32_t count) {
  TokenFilter* filter = is_preview_ ? nullptr : filter_;
  const bool notes = num_best_ >= 0 && !is_preview_;
  const bool counts = penalizes_answer();
  if (temperature_ == 0 && penalty_ == 1 && !counts && filter == nullptr && !notes) {
    return index_of_largest(logits, static_cast<size_t>(count));
  }
  probs_.resize(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    probs_[static_cast<size_t>(i)] = static_cast<float>(logits[i]);
  }
  if (notes) {
    begin_logprobs();
  }
  if (penalty_ != 1) {
    penalize();
  }
  if (counts) {
    penalize_answer();
  }
  if (filter != nullptr) {
    filter->filter(probs_.data(), count);
  }
  const int32_t token = sample_probabilities();
  if (filter != nullptr) {
    filter->accept(token);
  }
  if (counts) {
    ++taken_[token];
  }
  if (notes) {
    const float log_sum = logprobs_.back().taken.logprob;
    logprobs_.back().taken = {token, static_cast<float>(logits[token]) - log_sum};
  }
  return token;
}

template <typename T>
int32_t Sampler::sample(T* logits) {
  return sample(static_cast<const T*>(logits), vocab_size_);
}

#define ET_SAMPLER_OF(T)                   \
  template int32_t Sampler::sample<T>(T*); \
  template int32_t Sampler::sample<T>(const T*, int32_t)
ET_SAMPLER_OF(float);
ET_SAMPLER_OF(uint16_t);
ET_SAMPLER_OF(::executorch::aten::Half);
ET_SAMPLER_OF(::executorch::aten::BFloat16);
#undef ET_SAMPLER_OF

}  // namespace executorch::extension::llm
