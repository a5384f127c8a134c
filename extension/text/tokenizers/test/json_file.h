// SPDX-License-Identifier: BSD-3-Clause
// Files that tests corrupt in one place.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace tokenizers::test {

/// The text of `file` with `what` at the JSON pointer `where`.
inline std::string changed(nlohmann::json file, const char* where, nlohmann::json what) {
  file[nlohmann::json::json_pointer(where)] = std::move(what);
  return file.dump();
}

}  // namespace tokenizers::test
