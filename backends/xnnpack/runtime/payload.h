// SPDX-License-Identifier: BSD-3-Clause
// The bytes of a delegate: a 30-byte header, a flatbuffer, and possibly a region of constants.
#pragma once

#include <executorch/backends/xnnpack/serialization/schema_generated.h>
#include <executorch/runtime/core/result.h>
#include <executorch/runtime/core/span.h>

#include <cstddef>
#include <cstdint>

namespace executorch::backends::xnnpack {

/// Of the bytes given to open_payload().
constexpr size_t kPayloadAlignment = 8;

/// Views into the bytes that were opened.
struct Payload {
  const fb_xnnpack::XNNGraph* graph;
  runtime::Span<const uint8_t> constants;
};

/// Checks untrusted, but aligned, bytes: regions, identifier, and the flatbuffer's structure, so
/// that all of its accessors are safe; `xnodes` and `xvalues` are there, and no entry of them is
/// null. What indices and shapes mean is not checked. Errors: InvalidArgument for a bad header,
/// DelegateInvalidCompatibility for another format, InvalidProgram for missing parts.
runtime::Result<Payload> open_payload(const void* data, size_t size);

}  // namespace executorch::backends::xnnpack
