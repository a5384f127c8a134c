// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/devtools/etdump/etdump_filter.h>

#include <algorithm>

#include <executorch/runtime/platform/log.h>

namespace executorch::etdump {

using runtime::Error;
using runtime::kUnsetDelegateDebugIntId;
using runtime::Result;

Result<bool> ETDumpFilter::add_regex(std::string_view pattern) {
  try {
    patterns_.emplace_back(pattern.begin(), pattern.end());
  } catch (const std::regex_error& error) {
    ET_LOG(Error, "\"%.*s\" is no regular expression: %s", static_cast<int>(pattern.size()),
           pattern.data(), error.what());
    return Error::InvalidArgument;
  }
  return true;
}

Result<bool> ETDumpFilter::set_debug_handle_range(size_t start, size_t end) {
  ET_CHECK_OR_RETURN_ERROR(start < end, InvalidArgument,
                           "expected a range of numbers that begins before it ends, got %zu..%zu",
                           start, end);
  range_start_ = start;
  range_end_ = end;
  return true;
}

Result<bool> ETDumpFilter::filter(const char* name,
                                  runtime::DelegateDebugIntId delegate_debug_index) {
  ET_CHECK_OR_RETURN_ERROR((name == nullptr) != (delegate_debug_index == kUnsetDelegateDebugIntId),
                           InvalidArgument,
                           "expected either a name or a number of an event, got both or none");
  if (name != nullptr) {
    return patterns_.empty() || std::any_of(patterns_.begin(), patterns_.end(), [&](auto& pattern) {
             return std::regex_match(name, pattern);
           });
  }
  const auto index = static_cast<size_t>(delegate_debug_index);
  return range_end_ == 0 || (index >= range_start_ && index < range_end_);
}

}  // namespace executorch::etdump
