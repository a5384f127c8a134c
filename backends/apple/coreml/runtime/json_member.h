// SPDX-License-Identifier: BSD-3-Clause
// Untrusted JSON: access that does not throw.
#pragma once

#include <nlohmann/json.hpp>

namespace executorch::backends::coreml {

using Json = nlohmann::json;

/// Null where it is no object, or has no such member.
inline const Json* member(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? &*found : nullptr;
}

/// Text for a message or an event; what is no UTF-8 is replaced.
inline std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace executorch::backends::coreml
