// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/backends/aoti/runtime/mutable_state.h>

namespace executorch::backends::aoti {

using runtime::Error;
using runtime::Result;

Error MutableStateContextOwner::register_fqns(std::vector<std::string> names) {
  ET_CHECK_OR_RETURN_ERROR(!available(), InvalidState,
                           "sessions: name buffers before methods are loaded with them");
  state_ = std::make_shared<SessionState>(std::move(names));
  return Error::Ok;
}

Error MutableStateContextOwner::validate_coverage() const {
  std::string missing;
  for (const std::string& name : state_->missing()) {
    missing += (missing.empty() ? "" : ", ") + name;
  }
  ET_CHECK_OR_RETURN_ERROR(missing.empty(), NotFound,
                           "sessions: no method that was loaded in a load scope has %s",
                           missing.c_str());
  return Error::Ok;
}

Result<int> MutableStateContextOwner::create_session() {
  ET_CHECK_OK_OR_RETURN_ERROR(validate_coverage());
  return state_->create();
}

Error MutableStateContextOwner::destroy_session(int token) {
  return state_->destroy(token);
}

}  // namespace executorch::backends::aoti
