// SPDX-License-Identifier: BSD-3-Clause
// TokenFilter: what forbids tokens, by what the answer has been so far.
#pragma once

#include <cstdint>

namespace executorch::extension::llm {

// Called by the Sampler for each token: filter(), then accept() with the token that was taken.
class TokenFilter {
 public:
  virtual ~TokenFilter() = default;

  // Sets the logits of forbidden tokens to -infinity; one at least stays.
  virtual void filter(float* logits, int32_t count) = 0;

  virtual void accept(int32_t token) = 0;
};

}  // namespace executorch::extension::llm
