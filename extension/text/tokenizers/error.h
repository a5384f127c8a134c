// SPDX-License-Identifier: BSD-3-Clause
// What can go wrong in the tokenizer library. Its own codes: the library is used without the
// runtime, too.
#pragma once

#include <cstdint>

namespace tokenizers {

typedef uint32_t error_code_t;

enum class Error : error_code_t {
  Ok = 0x00,
  /// A failure of the library itself, or Ok given where a value was due.
  Internal = 0x01,
  /// The tokenizer has not loaded a file.
  Uninitialized = 0x02,
  /// An id that the vocabulary does not have, where the format counts ids from 0.
  OutOfRange = 0x03,
  /// The file could not be read, or lacks a part that it must have.
  LoadFailure = 0x04,
  /// The text cannot be turned into ids.
  EncodeFailure = 0x05,
  Base64DecodeFailure = 0x06,
  /// The bytes do not have the form of the file's format.
  ParseFailure = 0x07,
  /// The id has no text.
  DecodeFailure = 0x08,
  /// The regular expression does not compile, or gave up on a text.
  RegexFailure = 0x09,
};

/// The code's name, as in the enum; "unknown" for any other number.
inline const char* to_string(Error error) {
  static constexpr const char* kNames[] = {"Ok",
                                           "Internal",
                                           "Uninitialized",
                                           "OutOfRange",
                                           "LoadFailure",
                                           "EncodeFailure",
                                           "Base64DecodeFailure",
                                           "ParseFailure",
                                           "DecodeFailure",
                                           "RegexFailure"};
  const auto code = static_cast<error_code_t>(error);
  return code < sizeof(kNames) / sizeof(kNames[0]) ? kNames[code] : "unknown";
}

}  // namespace tokenizers
