// SPDX-License-Identifier: BSD-3-Clause
// Builds a JSON tree from a parser's events, of those parts of a file that are small.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tokenizers::detail {

class JsonTree {
 public:
  using Json = nlohmann::json;

  explicit JsonTree(Json& root) : root_(root) {}

  void key(const std::string& name) { key_ = name; }
  const std::string& last_key() const { return key_; }
  /// Containers that are open.
  size_t depth() const { return open_.size(); }

  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& into = *open_.back();
    if (into.is_array()) {
      into.push_back(std::move(value));
      return &into.back();
    }
    return &(into[key_] = std::move(value));
  }

  /// False when that would be too deep: what reads the tree recurs.
  bool open(Json container) {
    constexpr size_t kDepth = 64;
    if (open_.size() == kDepth) {
      return false;
    }
    open_.push_back(place(std::move(container)));
    return true;
  }
  void close() { open_.pop_back(); }

 private:
  Json& root_;
  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace tokenizers::detail
