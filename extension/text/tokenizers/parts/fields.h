// SPDX-License-Identifier: BSD-3-Clause
// Fields of a part's JSON, with what was expected where one is missing.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

namespace tokenizers::detail {

/// What a part of the file says that this library cannot follow. Caught where the file is loaded.
struct BadPart : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads `part[name]` as T; `otherwise` when it is absent or null.
template <typename T>
T field_or(const nlohmann::json& part, const char* name, T otherwise) {
  const auto found = part.is_object() ? part.find(name) : part.end();
  if (found == part.end() || found->is_null()) {
    return otherwise;
  }
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception& why) {
    throw BadPart(std::string(name) + ": " + why.what());
  }
}

template <typename T>
T field(const nlohmann::json& part, const char* name) {
  const auto found = part.is_object() ? part.find(name) : part.end();
  if (found == part.end()) {
    throw BadPart(std::string("expected a field \"") + name + "\" in " + part.dump().substr(0, 80));
  }
  try {
    return found->get<T>();
  } catch (const nlohmann::json::exception& why) {
    throw BadPart(std::string(name) + ": " + why.what());
  }
}

inline const nlohmann::json& part_of(const nlohmann::json& whole, const char* name) {
  static const nlohmann::json kAbsent;
  const auto found = whole.is_object() ? whole.find(name) : whole.end();
  return found == whole.end() ? kAbsent : *found;
}

/// {"String": text} or {"Regex": pattern}, or a text alone.
struct Pattern {
  std::string text;
  bool is_regex;
};

inline Pattern pattern_of(const nlohmann::json& part) {
  const nlohmann::json& pattern = part_of(part, "pattern");
  if (pattern.is_string()) {
    return {pattern.get<std::string>(), false};
  }
  if (pattern.is_object() && pattern.contains("Regex")) {
    return {field<std::string>(pattern, "Regex"), true};
  }
  return {field<std::string>(pattern, "String"), false};
}

/// One row of a table of kinds: the name in "type", and what makes the part.
template <typename Made>
struct Kind {
  const char* type;
  Made (*make)(const nlohmann::json& part);
};

/// Looks `part["type"]` up in a table of kinds.
template <typename Made, size_t count>
Made make_part(const Kind<Made> (&kinds)[count], const nlohmann::json& part, const char* role) {
  const auto type = field<std::string>(part, "type");
  for (const Kind<Made>& kind : kinds) {
    if (type == kind.type) {
      return kind.make(part);
    }
  }
  throw BadPart(std::string(role) + " of an unknown type \"" + type + "\"");
}

}  // namespace tokenizers::detail
