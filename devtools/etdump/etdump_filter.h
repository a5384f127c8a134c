// SPDX-License-Identifier: BSD-3-Clause
// ETDumpFilter: which intermediate outputs of delegates are left out of an ETDump, by name or by
// number.
#pragma once

#include <cstddef>
#include <memory>
#include <regex>
#include <string_view>
#include <vector>

#include <executorch/runtime/core/event_tracer.h>

namespace executorch::etdump {

/// Rules are combined: an event that a rule of its kind (name, number) matches, or for which there
/// is no rule, is dropped. Patterns are ECMAScript regular expressions and match whole names.
class ETDumpFilter : public runtime::EventTracerFilterBase {
 public:
  ETDumpFilter() = default;
  ~ETDumpFilter() override = default;

  /// InvalidArgument for what is no regular expression.
  runtime::Result<bool> add_regex(std::string_view pattern);

  /// The numbers from `start` up to and without `end`. InvalidArgument unless start < end.
  runtime::Result<bool> set_debug_handle_range(size_t start, size_t end);

  /// InvalidArgument unless exactly one of a name (not null) and a number (not unset) is given.
  runtime::Result<bool> filter(const char* name,
                               runtime::DelegateDebugIntId delegate_debug_index) override;

  size_t get_n_regex() const { return patterns_.size(); }

 private:
  std::vector<std::regex> patterns_;
  size_t range_start_ = 0;
  size_t range_end_ = 0;
};

}  // namespace executorch::etdump
