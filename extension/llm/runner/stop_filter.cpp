// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/llm/runner/stop_filter.h>

#include <algorithm>
#include <utility>

#include <executorch/extension/llm/runner/util.h>

namespace executorch::extension::llm {

namespace {

// How many bytes at the end of the text `stop` may begin with.
size_t begun(const std::string& text, const std::string& stop) {
  for (size_t count = std::min(text.size(), stop.size() - 1); count > 0; --count) {
    if (text.compare(text.size() - count, count, stop, 0, count) == 0) {
      return count;
    }
  }
  return 0;
}

}  // namespace

StopFilter::StopFilter(std::vector<std::string> stops) : stops_(std::move(stops)) {
  stops_.erase(std::remove(stops_.begin(), stops_.end(), std::string()), stops_.end());
}

std::string StopFilter::add(const std::string& piece) {
  if (is_hit_) {
    return {};
  }
  held_ += piece;
  size_t end = std::string::npos;
  size_t waiting = 0;
  for (const std::string& stop : stops_) {
    end = std::min(end, held_.find(stop));
    waiting = std::max(waiting, begun(held_, stop));
  }
  is_hit_ = end != std::string::npos;
  if (!is_hit_) {
    end = utf8_complete_prefix_len(held_.substr(0, held_.size() - waiting));
  }
  std::string shown = held_.substr(0, end);
  held_.erase(0, is_hit_ ? std::string::npos : end);
  return shown;
}

std::string StopFilter::finish() {
  return std::exchange(held_, {});
}

}  // namespace executorch::extension::llm
