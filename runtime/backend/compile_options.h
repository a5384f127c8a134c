// SPDX-License-Identifier: BSD-3-Clause
// Options of a backend as a struct: compile specs of a file, as exir/backend/lowering/payload/
// options.py writes them, and options that the program sets that runs it.
//
//   struct MyOptions {
//     bool check_finite = false;
//     int64_t limit = 0;
//     std::string target = "cpu";
//     Inner inner;
//   };
//   constexpr Option<MyOptions> kMyOptions[] = {
//       {"check_finite", read_option<&MyOptions::check_finite>},
//       {"limit", read_option<&MyOptions::limit>, OptionSource::kAny},
//       {"target", read_option<&MyOptions::target>, OptionSource::kRuntime},
//       {"inner.level", read_option<&MyOptions::inner, &Inner::level>},
//       {"tuning", kForTheCompiler},
//   };
//   constexpr OptionTable<MyOptions> kMyTable{"MyBackend", kMyOptions};
//   MyOptions options;
//   ET_CHECK_OK_OR_RETURN_ERROR(read_compile_specs(kMyTable, specs, options));
//   ET_CHECK_OK_OR_RETURN_ERROR(read_runtime_options(kMyTable, context.runtime_specs(), options));
//
// default_options.h does so with what set_option() gave. Functions here are inline, so that a
// program without backends has nothing of them; they keep no state and use no heap but for a
// std::string, and any thread may call them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/backend/option_values.h>

namespace executorch {
namespace ET_RUNTIME_NAMESPACE {

/// Reads a value into the backend's struct: read_option<&S::member>, or a function of its own.
template <typename Options>
using OptionReader = Error (*)(const GivenOption& given, Options& out);

/// Of an option that the ahead-of-time half alone reads.
inline constexpr std::nullptr_t kForTheCompiler = nullptr;

/// Who gives an option: the file; the file always, a program without it is refused; the program
/// that runs it; or both.
enum class OptionSource : uint8_t { kFile, kRequired, kRuntime, kAny };

/// A key of a backend.
template <typename Options>
struct Option {
  const char* key;
  OptionReader<Options> read;
  OptionSource source = OptionSource::kFile;
  /// For get_option(): write_option<&S::member>; null: says nothing.
  runtime::OptionValue (*write)(const Options& options) = nullptr;

  bool is_of(bool is_file) const {
    return source == OptionSource::kAny || (source == OptionSource::kRuntime) != is_file;
  }
};
template <typename Options>
using CompileOption = Option<Options>;  // of a table for files alone

/// The options of a backend.
template <typename Options>
struct OptionTable {
  const char* backend;  // its name, for messages
  Span<const Option<Options>> rows;
  /// What reads keys that are in no row, of a file and of a program; null: they are refused. A file
  /// that may have others may also have a key twice, and the last one counts.
  OptionReader<Options> other_specs = nullptr;
  OptionReader<Options> other_options = nullptr;
  /// Of a mistake in a file; in a program it is InvalidArgument.
  Error file_error = Error::InvalidProgram;

  /// The row of a key; null when there is none.
  const Option<Options>* find(const char* key, bool is_file) const {
    for (const Option<Options>& row : rows) {
      if (row.is_of(is_file) && std::strcmp(row.key, key) == 0) {
        return &row;
      }
    }
    return nullptr;
  }
};

namespace internal {

/// "a, b, c" for a message, cut where it does not fit.
class KeyList {
 public:
  void add(const char* key) {
    append(size_ == 0 ? "" : ", ");
    append(key);
  }
  const char* text() const { return size_ == 0 ? "none" : text_; }

 private:
  void append(const char* word) {
    for (; *word != '\0' && size_ + 1 < sizeof(text_); ++word) {
      text_[size_++] = *word;
    }
  }
  char text_[256] = {};
  size_t size_ = 0;
};

template <typename Options>
Error read_given(const OptionTable<Options>& table, const GivenOption& given, Options& out) {
  const bool is_file = given.bytes != nullptr;
  const Option<Options>* row = table.find(given.key, is_file);
  if (row != nullptr) {
    return row->read == nullptr ? Error::Ok : row->read(given, out);
  }
  const auto other = is_file ? table.other_specs : table.other_options;
  if (other != nullptr) {
    return other(given, out);
  }
  KeyList keys;
  for (const Option<Options>& each : table.rows) {
    if (each.is_of(is_file)) {
      keys.add(each.key);
    }
  }
  ET_LOG(Error, "%s: %ss: expected one of %s, found \"%s\"", table.backend, given.kind(),
         keys.text(), given.key);
  return is_file ? Error::DelegateInvalidCompatibility : Error::InvalidArgument;
}

}  // namespace internal

/// Changes `out` by the options of a file. Errors, with the key in the log:
/// DelegateInvalidCompatibility for a key that the table does not have, such as one of a newer
/// exporter; the table's error for a value of another length, a bool that is neither 0 nor 1, a key
/// that stands twice, and a required one that is missing. Views that are read are of the specs,
/// which are valid during init().
template <typename Options>
Error read_compile_specs(const OptionTable<Options>& table, ArrayRef<CompileSpec> specs,
                         Options& out) {
  for (size_t i = 0; i < specs.size(); ++i) {
    const CompileSpec& spec = specs[i];
    const char* key = spec.key == nullptr ? "" : spec.key;
    const auto is_same = [&](const CompileSpec& other) {
      return other.key != nullptr && std::strcmp(other.key, key) == 0;
    };
    ET_CHECK_OK_OR_RETURN_ERROR(internal::read_given(
        table, GivenOption{table.backend, key, table.file_error, &spec.value}, out));
    if (table.other_specs == nullptr && std::any_of(specs.begin(), specs.begin() + i, is_same)) {
      ET_LOG(Error, "%s: compile spec %s: expected once, found again", table.backend, key);
      return table.file_error;
    }
  }
  for (const Option<Options>& row : table.rows) {
    const auto is_given = [&](const CompileSpec& spec) {
      return spec.key != nullptr && std::strcmp(spec.key, row.key) == 0;
    };
    if (row.source == OptionSource::kRequired &&
        std::none_of(specs.begin(), specs.end(), is_given)) {
      ET_LOG(Error, "%s: compile specs: expected %s, which has no default", table.backend, row.key);
      return table.file_error;
    }
  }
  return Error::Ok;
}

/// The same with the struct's own values where `specs` say nothing.
template <typename Options, size_t N>
Result<Options> read_compile_options(const char* backend, ArrayRef<CompileSpec> specs,
                                     const Option<Options> (&rows)[N]) {
  Options out;
  ET_CHECK_OK_OR_RETURN_ERROR(
      read_compile_specs(OptionTable<Options>{backend, {rows, N}}, specs, out));
  return out;
}

/// Changes `out` by options of the program. InvalidArgument, with the key in the log, for a key
/// that the table does not have, and a value of another type.
template <typename Options>
Error read_runtime_options(const OptionTable<Options>& table,
                           Span<const runtime::BackendOption> options, Options& out) {
  for (const runtime::BackendOption& option : options) {
    ET_CHECK_OK_OR_RETURN_ERROR(internal::read_given(
        table,
        GivenOption{table.backend, option.key, Error::InvalidArgument, nullptr, &option.value},
        out));
  }
  return Error::Ok;
}

/// For get_option(): fills in those that the table writes; others stay as they are.
template <typename Options>
void write_options(const OptionTable<Options>& table, const Options& from,
                   Span<runtime::BackendOption> options) {
  for (runtime::BackendOption& option : options) {
    const Option<Options>* row = table.find(option.key, /*is_file=*/false);
    if (row != nullptr && row->write != nullptr) {
      option.value = row->write(from);
    }
  }
}

}  // namespace ET_RUNTIME_NAMESPACE
}  // namespace executorch
