// SPDX-License-Identifier: BSD-3-Clause
// What a delegate's bytes say: a flattened directory with a model and its metadata, or the name of
// one that several methods share.
#pragma once

#include <executorch/backends/apple/coreml/runtime/directory_blob.h>
#include <executorch/runtime/core/freeable_buffer.h>
#include <executorch/runtime/core/named_data_map.h>
#include <executorch/runtime/core/result.h>

#include <string>
#include <vector>

namespace executorch::backends::coreml {

/// Refers to the bytes that it was read from, until it is destroyed.
struct Payload {
  std::vector<BlobNode> nodes;
  size_t model = 0;  // the place of its directory
  bool is_compiled = false;

  std::string identifier;  // of the model: equal for equal ones
  std::string function;    // of a model with one for each method; else empty
  // Names, in the order in which a delegate is given them.
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;

  runtime::FreeableBuffer shared;  // named data, where the model is there
};

/// `method`: what is loaded; for a model of several functions that does not say which.
/// InvalidProgram, with what was expected and found in the log, for bytes that are no payload.
runtime::Result<Payload> open_payload(const void* data, size_t size,
                                      const runtime::NamedDataMap* named_data, const char* method);

}  // namespace executorch::backends::coreml
