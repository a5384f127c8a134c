// SPDX-License-Identifier: BSD-3-Clause
#include <executorch/extension/runner_util/flags.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string_view>

namespace executorch::extension {

using runtime::Error;

namespace {

template <typename T>
bool parse_number(const std::string& text, T* out) {
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno != 0 || number < std::numeric_limits<T>::min() ||
      number > static_cast<long long>(std::numeric_limits<T>::max())) {
    return false;
  }
  *out = static_cast<T>(number);
  return true;
}

bool parse_number(const std::string& text, double* out) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(number)) {
    return false;
  }
  *out = number;
  return true;
}

bool parse_bool(const std::string& text, bool* out) {
  *out = text == "true" || text == "1";
  return *out || text == "false" || text == "0";
}

bool set(const Flag& flag, const std::string& text) {
  if (auto* const* out = std::get_if<std::string*>(&flag.value)) {
    **out = text;
    return true;
  }
  if (auto* const* out = std::get_if<int32_t*>(&flag.value)) {
    return parse_number(text, *out);
  }
  if (auto* const* out = std::get_if<uint32_t*>(&flag.value)) {
    return parse_number(text, *out);
  }
  if (auto* const* out = std::get_if<double*>(&flag.value)) {
    return parse_number(text, *out);
  }
  if (auto* const* out = std::get_if<std::optional<double>*>(&flag.value)) {
    double number = 0;
    const bool is_number = parse_number(text, &number);
    **out = number;
    return is_number;
  }
  return parse_bool(text, std::get<bool*>(flag.value));
}

std::string describe(const Flag& flag) {
  if (auto* const* value = std::get_if<std::string*>(&flag.value)) {
    return "text, default \"" + **value + "\"";
  }
  if (auto* const* value = std::get_if<int32_t*>(&flag.value)) {
    return "number, default " + std::to_string(**value);
  }
  if (auto* const* value = std::get_if<uint32_t*>(&flag.value)) {
    return "number, default " + std::to_string(**value);
  }
  if (auto* const* value = std::get_if<double*>(&flag.value)) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", **value);
    return std::string("number, default ") + text;
  }
  if (std::holds_alternative<std::optional<double>*>(flag.value)) {
    return "number";
  }
  return *std::get<bool*>(flag.value) ? "true or false, default true"
                                      : "true or false, default false";
}

const Flag* find(const FlagTable& table, std::string_view name) {
  for (const Flag& flag : table.flags) {
    if (name == flag.name) {
      return &flag;
    }
  }
  return nullptr;
}

bool is_bool(const Flag& flag) {
  return std::holds_alternative<bool*>(flag.value);
}

Error refuse(std::ostream& errors, const std::string& message) {
  errors << message << ". See --help\n";
  return Error::InvalidArgument;
}

}  // namespace

Error parse_flags(const FlagTable& table, int argc, const char* const* argv, bool* wants_help,
                  std::ostream& errors) {
  *wants_help = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t dashes = argument.rfind("--", 0) == 0 ? 2 : argument.rfind("-", 0) == 0 ? 1 : 0;
    if (dashes == 0) {
      return refuse(errors, "Expected a flag, got " + argument);
    }
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(dashes, equals - dashes);
    if (name == "help") {
      *wants_help = true;
      continue;
    }
    const Flag* flag = find(table, name);
    if (flag == nullptr && equals == std::string::npos && name.rfind("no", 0) == 0) {
      const Flag* negated = find(table, name.substr(2));
      if (negated != nullptr && is_bool(*negated)) {
        *std::get<bool*>(negated->value) = false;
        continue;
      }
    }
    if (flag == nullptr) {
      return refuse(errors, "There is no flag " + argument.substr(0, equals));
    }
    std::string value = "true";
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (!is_bool(*flag)) {
      if (++i == argc) {
        return refuse(errors, "Flag " + argument + " needs a value");
      }
      value = argv[i];
    }
    if (!set(*flag, value)) {
      return refuse(
          errors, "Flag --" + name + ": expected a " + describe(*flag) + ", got \"" + value + "\"");
    }
  }
  return Error::Ok;
}

void print_help(const FlagTable& table, std::ostream& out) {
  out << table.program << "\n\n";
  for (const Flag& flag : table.flags) {
    out << "  --" << flag.name << " (" << describe(flag) << ")\n      " << flag.help << "\n";
  }
  out << "\nExample:\n  " << table.example << "\n";
}

std::optional<int> read_flags(const FlagTable& table, int argc, const char* const* argv) {
  bool wants_help = false;
  if (parse_flags(table, argc, argv, &wants_help, std::cerr) != Error::Ok) {
    return 1;
  }
  if (wants_help) {
    print_help(table, std::cout);
    return 0;
  }
  return std::nullopt;
}

}  // namespace executorch::extension
