// SPDX-License-Identifier: BSD-3-Clause
// Base64 with padding, as tiktoken and Tekken files write it.
#pragma once

#include <pytorch/tokenizers/result.h>

#include <string>
#include <string_view>

namespace tokenizers::base64 {

/// The bytes. Base64DecodeFailure: empty, a length that is no multiple of 4, or another character.
Result<std::string> decode(const std::string_view& input);

}  // namespace tokenizers::base64
