// SPDX-License-Identifier: BSD-3-Clause
// Command line flags from one table, which also makes --help.
#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include <executorch/runtime/core/error.h>

namespace executorch::extension {

// A flag and the variable it sets, whose value beforehand is the default; an optional one stays
// empty where the flag is not given, and its help says what holds then.
struct Flag {
  const char* name;
  std::variant<std::string*, int32_t*, uint32_t*, double*, std::optional<double>*, bool*> value;
  const char* help;
};

struct FlagTable {
  const char* program;  // name and one sentence
  const char* example;  // a command line
  std::vector<Flag> flags;
};

// Sets the variables from --name=value, --name value, or -name likewise; a bool also from --name
// and --noname. Flags that stand twice: the last one counts. InvalidArgument, with a message on
// `errors`, for a flag or value that is not possible. *wants_help is set by --help.
ET_NODISCARD runtime::Error parse_flags(const FlagTable& table, int argc, const char* const* argv,
                                        bool* wants_help, std::ostream& errors);

void print_help(const FlagTable& table, std::ostream& out);

// For main(): sets the variables, and returns the code to end with when nothing is left to do: 0
// after --help, 1 after a message on standard error.
ET_NODISCARD std::optional<int> read_flags(const FlagTable& table, int argc,
                                           const char* const* argv);

}  // namespace executorch::extension
