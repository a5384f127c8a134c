// SPDX-License-Identifier: BSD-3-Clause
// StopFilter: an answer in pieces, up to the first of some texts that end it.
#pragma once

#include <string>
#include <vector>

namespace executorch::extension::llm {

// What may yet be the beginning of such a text, and bytes of a character that is not whole, wait.
class StopFilter {
 public:
  explicit StopFilter(std::vector<std::string> stops);

  // What can be shown now. Nothing once is_hit().
  std::string add(const std::string& piece);
  // What waited when the answer has ended.
  std::string finish();
  bool is_hit() const { return is_hit_; }

 private:
  std::vector<std::string> stops_;  // none is empty
  std::string held_;
  bool is_hit_ = false;
};

}  // namespace executorch::extension::llm
