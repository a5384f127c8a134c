// SPDX-License-Identifier: BSD-3-Clause
// What a stand-in of a vendor's library was told, and which of its functions fails.
#pragma once

#include <sstream>
#include <string>

namespace executorch::backends::test {

class StandInCalls {
 public:
  /// Notes a call, its arguments as text. The status: 0 but for the function that fails.
  template <typename... Arguments>
  int done(const char* function, const Arguments&... arguments) {
    std::ostringstream line;
    line << function;
    ((line << ' ' << arguments), ...);
    calls_ += line.str() + '\n';
    return failing_ == function ? status_ : 0;
  }

  /// Calls since the last one of this, a line each, valid until the next; from now on `fails` gives
  /// `status`.
  const char* take(const char* fails, int status) {
    failing_ = fails;
    status_ = status;
    returned_ = calls_;
    calls_.clear();
    return returned_.c_str();
  }

 private:
  std::string calls_, returned_, failing_;
  int status_ = 0;
};

}  // namespace executorch::backends::test
